"""The popular pool: all public pins by hotness, for visitors and for feeds that would be empty.

A pin's hotness moves its cell. So that updates may run twice, late and at once, each one first
writes down, in the pin's own row, which cell it is about to put, under the version of the pin's
list of likes; then puts it; then reads the row and removes what is not the newest version's. The
later reader of any two updates sees both, and the delete markers carry the versions.
"""

from collections.abc import Sequence

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    POOLS,
    POPULAR_ROW,
    POPULARITY,
    PoolColumn,
    id_row,
    inverted_version,
    pool_column,
    why,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import scoring
from feed_engine.feeds.wide import due, read_row


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
        await move_cell(store, pin.id, column, version)
        if due(POPULAR_ROW, pin.id, settings.popular_cap // 4 or 1):
            await store.trim(POOLS, POPULAR_ROW, settings.popular_cap)


async def move_cell(store: WideColumnStore, pin_id: int, column: bytes, version: int) -> None:
    """Make this the pin's cell on one side, unless a newer version has put another."""
    row, stamp = id_row(pin_id), version + 1  # stamps are greater than 0
    await store.put(POPULARITY, {row: {inverted_version(version): column}}, stamp)
    await store.put(POOLS, {POPULAR_ROW: {column: why(0)}}, stamp)
    _, *older = await read_row(store, POPULARITY, row)
    for cell in older:  # if it is the same column as the newest's, that one's stamp is higher
        await store.delete(POOLS, {POPULAR_ROW: [cell.value]}, cell.stamp)
        await store.delete(POPULARITY, {row: [cell.column]}, cell.stamp)
