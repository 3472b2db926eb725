"""Keeps a search index as new as the shards: reads the logs of changes, and builds the index
when there is none that can be used."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from datasources.clocks import now_ms
from datasources.errors import StoreConflict, StoreError
from datasources.outages import Outages
from datasources.protocols import IndexState, IndexTimes, SearchStore, Stores
from feed_engine.related.changes import (
    KEPT,
    OVERLAP,
    RELATED,
    SEARCH,
    Entry,
    entries,
    forget,
    note,
)
from feed_engine.search.build import build
from feed_engine.search.reading import update_for
from feed_engine.times import HOUR, MINUTE

log = logging.getLogger("pinway.search")

EVERY = 0.5  # seconds between two looks at the logs
LOOK = 2.0  # seconds until a process tries again to write the index, or after an error
BRIEF = 10_000
"""The logs are read again from this many ms before the newest entry, and from OVERLAP before it
every minute."""
MOST = 500  # objects in a write
FEWER_THAN_A_BUILD = 100_000
"""Entries that are applied one by one. With more, the index is built, and memory stays bounded."""
_NAME = "the search index"  # in the log
ALL = 0
"""An entry's id in place of an object's: everything may have changed, so the index is built."""


async def note_all(stores: Stores) -> None:
    """Tell the indexes of all hosts that much has changed, for example by an import. Raises
    StoreUnavailable."""
    await note(stores, [ALL], now_ms(), SEARCH)


@dataclass
class Upkeep:
    """The writer of an index."""

    stores: Stores
    index: SearchStore
    clock: Callable[[], int] = now_ms
    _built: int = 0  # when the building of the index began to which `_seen` was applied
    _seen: set[Entry] = field(default_factory=set)
    _whole: int = 0  # when the logs were last read from OVERLAP before the newest entry
    _forgot: int = 0

    async def catch_up(self) -> bool:
        """Apply the logs' new entries, or build the index if it must be built. Returns whether
        anything changed. The process must be alone with the index. Raises StoreError."""
        now = self.clock()
        times = await self.index.times()
        if times is None or times.read_to < now - KEPT:
            return await self._build()
        if times.built != self._built:
            # Another process built it: entries that the old index had may be missing in this one.
            self._built, self._whole = times.built, 0
            self._seen.clear()
        back = BRIEF if now - self._whole < MINUTE else OVERLAP
        new = set[Entry]()
        for source in (RELATED, SEARCH):
            since = max(0, times.read_to - back)
            async for page in entries(self.stores, since, now + OVERLAP, source):
                new.update(entry for entry in page if entry not in self._seen)
                if len(new) > FEWER_THAN_A_BUILD:
                    return await self._build()
        if any(entry.id == ALL and entry.at > times.built for entry in new):
            built = await self._build()
            self._seen |= new
            return built
        await self._apply(new, times, now)
        # The logs are read from the newest entry, however long ago it was written.
        kept = min(now, times.read_to) - 2 * OVERLAP
        self._seen = {it for it in self._seen | new if it.at >= kept}
        if back == OVERLAP:
            self._whole = now
        if now - self._forgot > HOUR:
            await forget(self.stores, now, SEARCH)
            self._forgot = now
        return bool(new)

    async def check(self) -> None:
        """Build the index again if its files are damaged."""
        status = await self.index.status()
        if status.state is IndexState.DAMAGED:
            log.warning("the search index is built again: %s", status.fault)
            await self._build()

    async def _build(self) -> bool:
        began = self.clock()
        try:
            await build(self.stores, self.index, clock=self.clock)
        except StoreConflict:  # by `pinway search rebuild`
            return False
        times = await self.index.times()
        self._built, self._whole = times.built if times is not None else 0, 0
        log.info("built the search index in %.1f s", (self.clock() - began) / 1000)
        return True

    async def _apply(self, new: set[Entry], times: IndexTimes, now: int) -> None:
        """Write what changed. Entries are applied as the objects are now, so their order does not
        matter, and a write that fails is done again."""
        ids = sorted({entry.id for entry in new} - {ALL})
        since = times.read_to
        # An entry of a clock that is ahead must not hide entries of other clocks.
        newest = max((min(entry.at, now) for entry in new), default=0)
        for start in range(0, len(ids), MOST):
            some = await update_for(self.stores, self.index, ids[start : start + MOST])
            last = start + MOST >= len(ids)
            read_to = max(since, newest) if last else since
            await self.index.write(
                some.documents,
                delete=some.delete,
                delete_boards=some.delete_boards,
                since=since,
                read_to=read_to,
            )
            since = read_to
        if not ids and since < now - HOUR:  # so that a quiet index does not grow too old
            await self.index.write([], since=since, read_to=now - OVERLAP)


async def keep_indexed(
    stores: Stores,
    index: SearchStore,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], int] = now_ms,
) -> None:
    """Keep the index up to date until cancelled. Of the processes with this index that do this, one
    writes; another one goes on if it dies. Stores that fail are tried again."""
    outages = Outages(log, "{} can't be kept up to date")
    while True:
        try:
            async with index.alone():
                upkeep = Upkeep(stores, index, clock)
                await upkeep.check()
                while True:
                    await upkeep.catch_up()
                    outages.well(_NAME)
                    await sleep(EVERY)
        except StoreConflict:
            pass  # another process writes it, or an index was built in the meantime
        except StoreError as error:
            outages.failed(_NAME, error)
        await sleep(LOOK)
