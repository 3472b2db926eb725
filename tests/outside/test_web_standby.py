"""The primary feed store dies while somebody scrolls: the standby serves the rest of the feed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

import gateway.runtime
from datasources.errors import StoreUnavailable
from datasources.protocols import Sides, WideColumnStore
from gateway.app import create_app
from gateway.auth import Tokens
from gateway.installing import install
from gateway.settings import read_settings
from tests.gateways import Gateway, gateway_on
from tests.outside.node_tools import ensure_chromium, run_client
from tests.unit.gateway.serving.apps import served, usual

pytestmark = pytest.mark.anyio
PINS = 45  # two visits' new pins


class Mortal:
    """A real store that answers until it is killed."""

    def __init__(self, store: WideColumnStore) -> None:
        self._store, self.dead = store, False

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if name == "close":
            return call

        async def answered(*args: Any, **kwargs: Any) -> Any:
            if self.dead:
                raise StoreUnavailable(f"no answer to {name}")
            return await call(*args, **kwargs)

        return answered


@asynccontextmanager
async def mortal_gateway(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[str, str, str]]:
    """The address of a gateway whose primary feed stores end at POST /test/kill, and the name and
    token of a user who follows somebody with pins."""
    primaries: list[Mortal] = []
    opened = gateway.runtime.open_stores

    async def open_mortal(config: Any) -> Any:
        stores = await opened(config)
        for sides in (stores.pools, stores.feeds):
            primaries.append(Mortal(sides.primary))
        mortal = [cast(WideColumnStore, primary) for primary in primaries]
        return stores._replace(
            pools=Sides(mortal[0], stores.pools.standby),
            feeds=Sides(mortal[1], stores.feeds.standby),
        )

    async def kill(_: Request) -> Response:
        for primary in primaries:
            primary.dead = True
        return Response(status_code=204)

    settings = read_settings(data_dir=directory, run_jobs=False)
    await install(settings, lambda progress: None)
    monkeypatch.setattr(gateway.runtime, "open_stores", open_mortal)
    async with gateway_on(settings) as found:
        await fill(found)
        app = create_app(settings, found.runtime)
        site = Starlette(routes=[Route("/test/kill", kill, methods=["POST"]), Mount("/", app)])
        async with served(site, usual) as port:
            token = Tokens(settings.secret, 1).issue(found.people["ann"])
            yield f"http://127.0.0.1:{port}", "ann", token


async def fill(found: Gateway) -> None:
    await found.sign_up("ann", "bob")
    board = await found.board("bob", "Plants")
    for n in range(PINS):
        await found.pin("bob", board, f"plant {n}")
    await found.mutate("ann", "followUser", "user { id }", userId=str(found.people["bob"]))
    await found.settle()


async def test_scrolling_goes_on_over_the_standby_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mortal_gateway(tmp_path, monkeypatch) as (url, username, token):
        seen = await asyncio.to_thread(
            run_client,
            "standby",
            url,
            token,
            USERNAME=username,
            PINS=str(PINS),
            CHROMIUM=str(ensure_chromium()),
        )
    assert [page.get("errors") for page in seen["pages"][:2]] == [None, None]
    assert "STANDBY" in seen["pages"][1]["health"].values()
    assert len(set(seen["pins"])) == len(seen["pins"]) == PINS
    assert seen["before"] == []
    assert seen["banner"].startswith("A backup store answered, because the main one did not.")
    assert seen["pageErrors"] == []
