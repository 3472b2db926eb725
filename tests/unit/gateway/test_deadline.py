"""A request's time: every call made for it knows when it ends, and none is left when it has."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from datasources.protocols import Sides, WideColumnStore
from feed_engine.speculation import ADAPTIVE, Race
from feed_engine.speculation.deadline import ends
from tests.gateways import embedded_gateway

pytestmark = pytest.mark.anyio

FEEDS = "{ followingFeed(first: 5) { edges { node { id } } } homeFeed(first: 5) { visitId } }"
SECONDS = 0.2
QUIET = replace(ADAPTIVE, warm=0.0)  # a shadow call ends by itself a moment later


class Hanging:
    """A store that never answers; `running` calls of it wait."""

    def __init__(self) -> None:
        self.told: list[float | None] = []  # when the request ends, by each call
        self.running = 0

    async def read(self, *_: Any, **__: Any) -> list[Any]:
        self.told.append(ends.get())
        self.running += 1
        try:
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]
        finally:
            self.running -= 1


async def test_a_request_that_is_over_has_left_no_call_behind(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path, request_timeout=SECONDS) as gateway:
        await gateway.sign_up("ann")
        hanging = Hanging()
        sides = Sides(*[cast(WideColumnStore, hanging)] * 2)
        races = [Race(sides, cutoff=0.01, deadline=60, policy=QUIET) for _ in range(2)]
        feeds = replace(gateway.runtime.feeds, pools_race=races[0], feeds_race=races[1])
        gateway.runtime = replace(gateway.runtime, feeds=feeds)
        began = asyncio.get_running_loop().time()
        response = await gateway.ask(FEEDS, "ann")
        [error] = response["errors"]
        assert error["extensions"]["code"] == "TIMEOUT"
        assert hanging.running == 0
        assert len(hanging.told) >= 4
        now = asyncio.get_running_loop().time()
        assert all(began < (told or 0) <= now for told in hanging.told)
