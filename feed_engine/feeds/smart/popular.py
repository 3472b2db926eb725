"""The popular pool: all public pins by hotness, for visitors and for feeds that would be empty.

A pin's hotness moves its cell. So that updates may run twice, late and at once, each one first
writes down, in the pin's own row, which cell it is about to put, under the version of the pin's
list of likes; then puts it; then reads the row and removes what is not the newest version's. The
later reader of any two updates sees both, and the delete markers carry the versions.

The pool is spread over several rows, by pin, and merged at reading: every public pin and every like
writes here. All pins were in one row before; each update moves some of that row's cells to their
own rows, until it is empty. Readers read that row too.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Cell, Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.counts import COUNTS
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    FORMER_POPULAR_ROW,
    POOLS,
    POPULAR_ROWS,
    POPULAR_SPREAD,
    POPULARITY,
    PoolColumn,
    id_row,
    inverted_version,
    parse_pool,
    pool_column,
    popular_row,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import pools, scoring
from feed_engine.feeds.wide import due, read_row

MOVED = 20  # cells of the former row that an update moves
LOOK_AGAIN = (
    60.0  # seconds, where the former row was empty: a process of an earlier version may run
)

_empty_until: WeakKeyDictionary[WideColumnStore, float] = WeakKeyDictionary()


async def update_popularity(
    stores: Stores, pins: Sequence[Pin], settings: FeedSettings = DEFAULTS
) -> None:
    """Bring the public pins' cells in the popular pool up to their like counts, on both sides."""
    await write_both(stores.pools, lambda store: update_side(stores, store, pins, settings))


async def update_side(
    stores: Stores, store: WideColumnStore, pins: Sequence[Pin], settings: FeedSettings = DEFAULTS
) -> None:
    """The same on one side."""
    keys = [ListKey(Mapping.PIN_LIKED_BY_USERS, pin.id) for pin in pins]
    heads = await stores.shards.mappings.heads(keys)
    for pin, key in zip(pins, keys, strict=True):
        likes, version, _ = heads[key]
        column = pool_column(PoolColumn(scoring.hot(likes, pin.created), pin.id))
        await move_cell(store, pin.id, column, version, pools.why_of(pin, 0))
        row, cap = popular_row(pin.id), row_cap(settings)
        if due(row, pin.id, cap // 4 or 1):
            await store.trim(POOLS, row, cap)
    await spread(store)


async def move_cell(
    store: WideColumnStore, pin_id: int, column: bytes, version: int, value: bytes
) -> None:
    """Make this the pin's cell on one side, unless a newer version has put another."""
    row, stamp = id_row(pin_id), version + 1  # stamps are greater than 0
    place = popular_row(pin_id)
    await store.put(POPULARITY, {row: {inverted_version(version): column}}, stamp)
    await store.put(POOLS, {place: {column: value}}, stamp)
    COUNTS.popular_writes[POPULAR_ROWS.index(place)] += 1
    _, *older = await read_row(store, POPULARITY, row)
    for cell in older:  # if it is the same column as the newest's, that one's stamp is higher
        gone = [cell.value]
        await store.delete(POOLS, {place: gone, FORMER_POPULAR_ROW: gone}, cell.stamp)
        await store.delete(POPULARITY, {row: [cell.column]}, cell.stamp)


async def spread(store: WideColumnStore) -> None:
    """Move some cells of the former row to the rows of their pins, with their stamps: an update of
    the same pin at the same time leaves its own cell alone, as it does elsewhere."""
    now = time.monotonic()
    if now < _empty_until.get(store, 0.0):
        return
    cells = await store.read(POOLS, FORMER_POPULAR_ROW, limit=MOVED)
    if not cells:
        _empty_until[store] = now + LOOK_AGAIN
    by_stamp: dict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_stamp[cell.stamp].append(cell)
    for stamp, some in by_stamp.items():
        rows: dict[bytes, dict[bytes, bytes]] = defaultdict(dict)
        for cell in some:
            rows[popular_row(parse_pool(cell.column).pin_id)][cell.column] = cell.value
        await store.put(POOLS, rows, stamp)
        await store.delete(POOLS, {FORMER_POPULAR_ROW: [cell.column for cell in some]}, stamp)
        COUNTS.popular_moved += len(some)


def row_cap(settings: FeedSettings) -> int:
    """The pins that each row keeps."""
    return max(1, settings.popular_cap // POPULAR_SPREAD)
