"""The requests of README.md: a sign-up, a first board and a first pin."""

import re
from pathlib import Path

import orjson
import pytest

from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio
README = Path(__file__).parents[2] / "README.md"
CURL = re.compile(r"^curl -s \S+/graphql .*-d '(.*)'$", re.MULTILINE)


async def test_the_requests_lead_to_a_first_pin(tmp_path: Path) -> None:
    signing, making, pinning = (
        orjson.loads(body)["query"] for body in CURL.findall(README.read_text())
    )
    async with embedded_gateway(tmp_path) as gateway:
        assert (await gateway.data(signing))["signUp"]["token"]
        user = (await gateway.data('{ user(username: "tea_lover") { id } }'))["user"]
        gateway.people["tea_lover"] = int(user["id"])
        made = await gateway.data(making, "tea_lover")
        board = made["createBoard"]["board"]["id"]
        pinned = await gateway.data(pinning.replace("BOARD", board), "tea_lover")
        assert int(pinned["createPin"]["pin"]["id"])
