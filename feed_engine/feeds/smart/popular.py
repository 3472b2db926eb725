"""The popular pool: all public pins by hotness, for visitors and for feeds that would be empty.

When a pin's hotness changes, its cell moves. Updates may run twice, late, or at the same time. So
each update first notes in the pin's own row which cell it will write, under the version of the
pin's list of likes. Then it writes the cell. Then it reads the pin's row, and removes all cells but
the newest version's. Of two updates at the same time, the one that reads later sees both notes. The
delete markers carry the versions.

The pool is spread over several rows by pin id, because every public pin and every like writes to
it; a read merges the rows. Earlier versions had all pins in one row. Each update moves some cells
of that row to the pins' rows, until it is empty. Readers read that row, too.
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
from feed_engine.feeds.smart import pools, scores
from feed_engine.feeds.wide import due, read_row

MOVED = 20  # cells of the former row that each update moves
LOOK_AGAIN = 60.0  # seconds until an empty former row is read again: earlier versions may run

_empty_until: WeakKeyDictionary[WideColumnStore, float] = WeakKeyDictionary()


async def update_popularity(
    stores: Stores, pins: Sequence[Pin], settings: FeedSettings = DEFAULTS
) -> None:
    """Write the public pins' cells in the popular pool for their present numbers of likes, on both
    sides."""
    await write_both(stores.pools, lambda store: update_side(stores, store, pins, settings))


async def update_side(
    stores: Stores, store: WideColumnStore, pins: Sequence[Pin], settings: FeedSettings = DEFAULTS
) -> None:
    """Update the popular pool on one side: see `update_popularity`."""
    keys = [ListKey(Mapping.PIN_LIKED_BY_USERS, pin.id) for pin in pins]
    heads = await stores.shards.mappings.heads(keys)
    for pin, key in zip(pins, keys, strict=True):
        likes, version, _ = heads[key]
        column = pool_column(PoolColumn(scores.hot(likes, pin.created), pin.id))
        await move_cell(store, pin.id, column, version, pools.why_of(pin, 0))
        row, cap = popular_row(pin.id), row_cap(settings)
        if due(row, pin.id, cap):
            await trim_row(store, row, cap)
    await spread(store)


async def trim_row(store: WideColumnStore, row: bytes, cap: int) -> None:
    """Keep the hottest `cap` pins of a row on one side, and remove the notes of pins that fall out,
    so that POPULARITY does not grow with all public pins. A later update of such a pin notes its
    cell again."""
    fallen = (await read_row(store, POOLS, row))[cap:]
    await store.trim(POOLS, row, cap)
    for cell in fallen:
        pin_row = id_row(parse_pool(cell.column).pin_id)
        notes = await read_row(store, POPULARITY, pin_row)
        if all(note.stamp <= cell.stamp for note in notes):  # no newer version has another cell
            await store.trim(POPULARITY, pin_row, 0)


async def move_cell(
    store: WideColumnStore, pin_id: int, column: bytes, version: int, value: bytes
) -> None:
    """Make this the pin's only cell on one side, unless a newer version has written another
    cell."""
    row, stamp = id_row(pin_id), version + 1  # stamps are greater than 0
    place = popular_row(pin_id)
    await store.put(POPULARITY, {row: {inverted_version(version): column}}, stamp)
    await store.put(POOLS, {place: {column: value}}, stamp)
    COUNTS.popular_writes[POPULAR_ROWS.index(place)] += 1
    notes = await read_row(store, POPULARITY, row)
    for cell in notes[1:]:  # a cell in the newest column has a higher stamp, and stays
        gone = [cell.value]
        await store.delete(POOLS, {place: gone, FORMER_POPULAR_ROW: gone}, cell.stamp)
        await store.delete(POPULARITY, {row: [cell.column]}, cell.stamp)


async def spread(store: WideColumnStore) -> None:
    """Move some cells of the former row to the rows of their pins, with their stamps. A concurrent
    update of the same pin removes the moved cell by its stamp, and keeps its own cell."""
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
    """The number of pins that each row keeps."""
    return max(1, settings.popular_cap // POPULAR_SPREAD)
