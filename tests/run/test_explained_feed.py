"""`pinway feed explain` beside a gateway that runs on the embedded stores."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import PinwayError
from gateway.cli.feed import explained
from gateway.operate import control
from gateway.operate.requests import answer, perform
from gateway.settings import read_settings
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio


async def test_an_operator_sees_why_a_pin_comes_and_why_not(tmp_path: Path) -> None:
    settings = read_settings(options={"data_dir": tmp_path / "data"})

    async def ask(username: str, pin: str | None = None) -> dict[str, Any]:
        request = {"command": "feed explain", "username": username, "pin": pin}
        return dict(await answer(settings, request, lambda progress: None))

    async with embedded_gateway(settings.data_dir) as gateway:
        await gateway.sign_up("ann", "bob")
        await gateway.mutate("ann", "followUser", "feedToken", userId=str(gateway.people["bob"]))
        pin = await gateway.pin("bob", await gateway.board("bob", "Bread"), "Rye")
        await gateway.settle()
        serving = control.answering(
            settings.data_dir,
            lambda request, told: perform(settings, gateway.runtime, request, told),
        )
        async with serving:
            found = await ask("Ann", pin)
            assert json.loads(json.dumps(found)) == found
            [entry] = found["pins"]
            assert (entry["id"], entry["title"], entry["cause"]) == (pin, "Rye", "bob")
            assert found["verdict"] == "CHOSEN"
            assert found["shares"]["FOLLOWED"] == {
                "settings": 0.5,
                "share": 0.5,
                "shown": 0,
                "liked": 0,
            }
            lines = explained(found)
            assert lines[0] == f"  1  {pin} 'Rye': FOLLOWED_USER bob; in its pool +0.00"
            assert lines[2].startswith("shares by the settings: FOLLOWED 50% (liked 0 of 0 shown)")
            assert lines[4] == "chosen: the next visit shows it"
            assert (await ask("bob", pin))["verdict"] == "OWN"
            await gateway.data("{ homeFeed { edges { node { id } } } }", "ann")
            await gateway.mutate("ann", "likePin", "pin { id }", pinId=pin)
            found = await ask("ann")
            assert found["shares_learned"]
            assert found["shares"]["FOLLOWED"] == {
                "settings": 0.5,
                "share": 0.5,
                "shown": 1,
                "liked": 1,
            }
            with pytest.raises(PinwayError, match="there is no user 'cid'"):
                await ask("cid")
            await gateway.mutate("bob", "deleteAccount", "deletedUserId", username="bob")
            with pytest.raises(PinwayError, match="there is no user 'bob'"):
                await ask("bob")
            with pytest.raises(PinwayError, match="'x' is not an id"):
                await ask("ann", "x")
