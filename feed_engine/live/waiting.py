"""Looks for pins that wait in viewers' pools, without using them up.

All streams of a viewer in this process share one task and its looks. A look reads the top of the
viewer's pool of followed users' and boards' pins, at most once a second; while nothing changes, the
looks become less frequent.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from datasources.errors import StoreError
from datasources.protocols import WideColumnStore
from feed_engine.feeds.rows import POOLS, Source, parse_pool, parse_why, pool_row
from feed_engine.feeds.settings import Feeds

MOST = 100
"""Pins that a look reads, from the top."""
SOONEST, LATEST = 1.0, 15.0
"""Seconds between two looks: after a change, and at most."""
_KIND = ("waiting pins", MOST)

Pool = dict[int, int]
"""Pins, and the followed object that brought each of them."""


class Watch:
    """The pool of one viewer, as the last look found it."""

    def __init__(self) -> None:
        self.pool: Pool = {}
        self.version = 0
        """The number of different pools that were found."""
        self._changed: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._users = 0

    async def change(self, version: int) -> None:
        """Wait until a look finds another pool than the one of this version."""
        if self.version != version:
            return
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._changed)

    def found(self, pool: Pool) -> bool:
        """Take the pool of a look. Returns whether it is another one."""
        if pool == self.pool:
            return False
        self.pool = pool
        self.version += 1
        if self._changed is not None:
            self._changed.set_result(None)
            self._changed = None
        return True


class Waiting:
    """The watched pools of a process."""

    def __init__(
        self, feeds: Feeds, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._feeds, self._sleep = feeds, sleep
        self._watches: dict[int, Watch] = {}

    @asynccontextmanager
    async def watching(self, viewer_id: int) -> AsyncIterator[Watch]:
        """The viewer's pool, which has been looked at. Raises StoreError if it can't be read."""
        watch = self._watches.setdefault(viewer_id, Watch())
        watch._users += 1
        try:
            if watch._task is None:
                watch.found(await self._look(viewer_id))
                if watch._task is None:
                    watch._task = asyncio.create_task(self._keep_looking(viewer_id, watch))
            yield watch
        finally:
            watch._users -= 1
            if not watch._users:
                del self._watches[viewer_id]
                if watch._task is not None:
                    watch._task.cancel()

    async def _keep_looking(self, viewer_id: int, watch: Watch) -> None:
        wait = SOONEST
        while True:
            await self._sleep(wait)
            wait = min(wait * 1.5, LATEST)
            with suppress(StoreError):  # the next look may succeed
                if watch.found(await self._look(viewer_id)):
                    wait = SOONEST

    async def _look(self, viewer_id: int) -> Pool:
        row = pool_row(viewer_id, Source.FOLLOWED)

        async def ask(store: WideColumnStore) -> Pool:
            cells = await store.read(POOLS, row, limit=MOST)
            return {
                parse_pool(cell.column).pin_id: parse_why(cell.value).cause_id for cell in cells
            }

        return (await self._feeds.pools_race(ask, kind=_KIND)).value
