"""The logs of changes: what was saved, deleted or made secret since the snapshots were built, and
what else a search index must know.

The jobs of the outbox write the logs, to both sides of the pools. Each process that walks reads the
log RELATED. The process of each host that writes a search index reads both. An entry has no more
than a time and the id of an object. Its reader looks at the object's present state, so entries may
come twice, late and in any order.

A log has a row for each hour. No user or interest has such a row's key: ids begin with two zero
bits.
"""

import struct
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Any, NamedTuple

from datasources.clocks import now_ms
from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import Cell, Stores, WideColumnStore
from datasources.together import together
from feed_engine.feeds.rows import POOLS
from feed_engine.feeds.wide import delete_both, read_row
from feed_engine.outbox.change import Advance, Handler
from feed_engine.times import DAY, HOUR, MINUTE

OVERLAP = MINUTE
"""The log is read again from this time before the newest entry: a job's clock may be behind, or its
write may take long."""
KEPT = 3 * DAY
"""The age at which the log is removed. A snapshot must be newer."""
_PAGE = 1000
_COLUMN = struct.Struct(">QQ")


class Log(NamedTuple):
    """A log, by the prefix of its rows' keys."""

    prefix: bytes


RELATED, SEARCH = Log(b"related\0"), Log(b"search\0")


class Entry(NamedTuple):
    at: int  # epoch ms, of the clock of the job
    id: int  # a pin or a board


def log_row(at: int, log: Log = RELATED) -> bytes:
    """The row of the hour of an epoch ms."""
    return log.prefix + (at // HOUR).to_bytes(8, "big")


def noting(handler: Handler, ids_of: Callable[[Any], Sequence[int]], log: Log = RELATED) -> Handler:
    """A task's handler that first notes which objects may have changed. The handler runs even if
    neither side could be written; then the job fails in the end, and runs again."""

    async def noted(
        stores: Stores, task: Any, cursor: bytes | None, advance: Advance, **rest: Any
    ) -> None:
        failed: StoreError | None = None
        try:
            await note(stores, ids_of(task), now_ms(), log)
        except StoreError as error:
            failed = error
        await handler(stores, task, cursor, advance, **rest)
        if failed is not None:
            raise failed

    return noted


async def note(stores: Stores, ids: Sequence[int], at: int, log: Log = RELATED) -> None:
    """Add entries to the log. One side is enough, because both are read: raises StoreUnavailable if
    neither could be written."""
    cells = {_COLUMN.pack(at, id): b"1" for id in ids}
    errors: list[StoreError] = []

    async def put(store: WideColumnStore) -> None:
        try:
            await store.put(POOLS, {log_row(at, log): cells}, max(1, at))
        except StoreError as error:
            errors.append(error)

    await together([put(store) for store in stores.pools])
    if len(errors) == len(stores.pools):
        raise StoreUnavailable("not noted on either side") from errors[0]


async def entries(
    stores: Stores, since: int, until: int, log: Log = RELATED
) -> AsyncIterator[Collection[Entry]]:
    """The entries of both sides from one epoch ms to another, in pieces. Raises StoreUnavailable if
    neither side can be read."""
    for hour in range(since // HOUR, until // HOUR + 1):
        after = _COLUMN.pack(since, 0) if hour == since // HOUR else None
        while True:
            page, after = await _page(stores, log_row(hour * HOUR, log), after)
            if page:
                yield page
            if after is None:
                break


async def _page(
    stores: Stores, row: bytes, after: bytes | None
) -> tuple[Collection[Entry], bytes | None]:
    """The next entries of both sides, and the last column; None at the end."""
    pages: list[list[Cell]] = []
    errors: list[StoreError] = []

    async def read(store: WideColumnStore) -> None:
        try:
            pages.append(await store.read(POOLS, row, after=after, limit=_PAGE))
        except StoreError as error:
            errors.append(error)

    await together([read(store) for store in stores.pools])
    if not pages:
        raise StoreUnavailable("the log of changes can't be read on either side") from errors[0]
    # Of two full pages, one may end earlier: the next read begins at that end.
    ends = [page[-1].column for page in pages if len(page) == _PAGE]
    end = min(ends, default=None)
    found = {
        Entry(*_COLUMN.unpack(cell.column))
        for page in pages
        for cell in page
        if end is None or cell.column <= end
    }
    return found, end


async def forget(stores: Stores, now: int, log: Log = RELATED) -> None:
    """Remove what is older than KEPT, of the two weeks before."""
    last = (now - KEPT) // HOUR - 1
    for hour in range(last - 14 * 24, last + 1):
        row = log_row(hour * HOUR, log)
        cells = [cell for store in stores.pools for cell in await read_row(store, POOLS, row)]
        if cells:
            columns = list({cell.column for cell in cells})
            stamp = max(cell.stamp for cell in cells)
            await delete_both(stores.pools, POOLS, {row: columns}, stamp)
