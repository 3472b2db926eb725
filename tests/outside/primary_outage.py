"""A feed that a user scrolls in a browser while its primary store dies."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from gateway.app import create_site
from gateway.http.auth import Tokens
from gateway.settings import Settings
from tests.gateways import Gateway
from tests.outside.node_tools import ensure_chromium, run_client
from tests.unit.gateway.server.apps import served, usual


async def scroll(
    found: Gateway, settings: Settings, pins: int, kill: Callable[[], Awaitable[None]]
) -> dict[str, Any]:
    """The results of tests/outside/node/standby.mjs, for a user who follows a user with `pins`
    pins. `kill` stops the primary feed stores after the first page."""
    reader = await fill(found, pins)
    async with dying(found, settings, reader, kill) as (url, token):
        return await asyncio.to_thread(
            run_client,
            "standby",
            url,
            token,
            USERNAME=reader,
            PINS=str(pins),
            CHROMIUM=str(ensure_chromium()),
        )


@asynccontextmanager
async def dying(
    found: Gateway, settings: Settings, reader: str, kill: Callable[[], Awaitable[None]]
) -> AsyncIterator[tuple[str, str]]:
    """The gateway's address and the reader's token. POST /test/kill calls `kill`."""

    async def killed(_: Request) -> Response:
        await kill()
        return Response(status_code=204)

    app = create_site(settings, found.runtime).public
    site = Starlette(routes=[Route("/test/kill", killed, methods=["POST"]), Mount("/", app)])
    async with served(site, usual) as port:
        token = Tokens(settings.secret, 1).issue(found.people[reader])
        yield f"http://127.0.0.1:{port}", token


async def fill(found: Gateway, pins: int) -> str:
    """Create a user with pins, and a follower. Returns the follower's name."""
    run = secrets.token_hex(4)  # the servers still have the names of earlier runs
    reader, writer = f"reader_{run}", f"writer_{run}"
    await found.sign_up(reader, writer)
    board = await found.board(writer, "Plants")
    for n in range(pins):
        await found.pin(writer, board, f"plant {n}")
    await found.mutate(reader, "followUser", "user { id }", userId=str(found.people[writer]))
    await found.settle()
    return reader


def check(seen: dict[str, Any], pins: int) -> None:
    """Check that the standby served all pages after the first, no pin came twice, the page said
    which side served it, and the client hardly requested pages of pins that it had shown."""
    first, *later = seen["pages"]
    assert [page.get("errors") for page in seen["pages"]] == [None] * len(seen["pages"])
    assert first["health"]["pools"] == "PRIMARY"
    assert [page["health"]["pools"] for page in later] == ["STANDBY"] * len(later)
    assert len(set(seen["pins"])) == len(seen["pins"]) == pins
    assert seen["before"] == []
    assert seen["banner"].startswith("A backup store answered, because the main one did not.")
    assert seen["pageErrors"] == []
    known = set(first["pins"])
    repeats = 0
    for page in later:
        repeats += known.issuperset(page["pins"])
        known.update(page["pins"])
    assert repeats <= len({page["visit"] for page in later})
