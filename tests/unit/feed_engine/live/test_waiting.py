"""One look a second for a viewer, however many streams wait for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import pytest

from datasources.errors import StoreUnavailable
from feed_engine.feeds.settings import Feeds
from feed_engine.live.waiting import LATEST, SOONEST, Pool, Waiting
from feed_engine.speculation import Side
from feed_engine.speculation.call import Raced

pytestmark = pytest.mark.anyio


class Pools:
    """The feeds of a viewer whose pool the test sets, and the times at which it is looked at."""

    def __init__(self) -> None:
        self.pool: Pool | None = {}
        self.looks = 0

    async def pools_race(self, ask: Any, *, kind: Any) -> Raced[Pool]:
        self.looks += 1
        if self.pool is None:
            raise StoreUnavailable("away")
        return Raced(dict(self.pool), Side.PRIMARY)


class Clock:
    """Sleeps that end when the test says so."""

    def __init__(self) -> None:
        self.sleeps: list[float] = []
        self._ticks: asyncio.Queue[None] = asyncio.Queue()

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await self._ticks.get()

    async def tick(self) -> None:
        """End one sleep, and wait for the next one."""
        before = len(self.sleeps)
        self._ticks.put_nowait(None)
        async with asyncio.timeout(60):
            while len(self.sleeps) == before:  # noqa: ASYNC110 nobody tells
                await asyncio.sleep(0)


@asynccontextmanager
async def looking() -> AsyncIterator[tuple[Waiting, Pools, Clock]]:
    pools, clock = Pools(), Clock()
    yield Waiting(cast(Feeds, pools), sleep=clock.sleep), pools, clock


async def test_all_streams_of_a_viewer_share_one_look() -> None:
    async with looking() as (waiting, pools, clock), AsyncExitStack() as opened:
        watches = [await opened.enter_async_context(waiting.watching(1)) for _ in range(50)]
        await asyncio.sleep(0)
        await clock.tick()
        assert pools.looks == 2
        pools.pool = {7: 1}
        changes = [asyncio.create_task(watch.change(watch.version)) for watch in watches]
        await asyncio.sleep(0)
        await clock.tick()
        assert pools.looks == 3
        await asyncio.gather(*changes)
        assert all(watch.pool == {7: 1} for watch in watches)


async def test_looks_become_less_frequent_until_something_changes() -> None:
    async with looking() as (waiting, pools, clock), waiting.watching(1):
        await asyncio.sleep(0)
        for _ in range(10):
            await clock.tick()
        assert clock.sleeps[0] == SOONEST
        assert clock.sleeps == sorted(clock.sleeps)
        assert clock.sleeps[-1] == LATEST
        pools.pool = {7: 1}
        await clock.tick()
        assert clock.sleeps[-1] == SOONEST


async def test_a_look_that_fails_is_followed_by_another() -> None:
    async with looking() as (waiting, pools, clock), waiting.watching(1) as watch:
        await asyncio.sleep(0)
        pools.pool = None
        await clock.tick()
        pools.pool = {7: 1}
        await clock.tick()
        assert watch.pool == {7: 1}


async def test_a_viewer_without_streams_is_not_looked_at() -> None:
    async with looking() as (waiting, pools, _):
        async with waiting.watching(1):
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not waiting._watches
        pools.pool = None
        with pytest.raises(StoreUnavailable):
            async with waiting.watching(1):
                pass
        assert not waiting._watches
