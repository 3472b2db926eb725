"""Builds the popular pool from all pins, after an import."""

from collections import defaultdict
from collections.abc import Callable
from heapq import heappush, heappushpop
from typing import NamedTuple, cast

from datasources import records
from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.content import public_boards
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    POOLS,
    POPULAR_ROWS,
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
from feed_engine.feeds.smart.popular import row_cap, trim_row
from feed_engine.feeds.wide import put_both, read_row

PAGE = 2000  # pins in a read


class _Hot(NamedTuple):
    score: float
    pin_id: int
    version: int
    value: bytes

    @property
    def column(self) -> bytes:
        return pool_column(PoolColumn(self.score, self.pin_id))


async def build_popular(
    stores: Stores,
    progress: Callable[[int], None] = lambda done: None,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Fill the popular pool with the hottest public pins. `progress` is called with the number of
    pins that were looked at since the last call. It may be repeated, and run while pins are liked.
    """
    hottest: list[_Hot] = []
    boards: dict[int, bool] = {}
    after = 0
    while page := await stores.shards.objects.list(Kind.PIN, after, PAGE):
        pins = [cast(Pin, records.decode(Kind.PIN, id, data)) for id, data in page]
        unknown = {pin.board_id for pin in pins} - boards.keys()
        public = await public_boards(stores, unknown)
        boards.update((id, id in public) for id in unknown)
        pins = [pin for pin in pins if pin.active and boards[pin.board_id]]
        likes = [ListKey(Mapping.PIN_LIKED_BY_USERS, pin.id) for pin in pins]
        heads = await stores.shards.mappings.heads(likes)
        for pin, key in zip(pins, likes, strict=True):
            size, version, _ = heads[key]
            found = _Hot(scores.hot(size, pin.created), pin.id, version, pools.why_of(pin, 0))
            if len(hottest) < settings.popular_cap:
                heappush(hottest, found)
            else:
                heappushpop(hottest, found)
        after = page[-1][0]
        progress(len(page))
    await _write(stores, {found.pin_id: found for found in hottest})

    async def trim(store: WideColumnStore) -> None:
        for row in POPULAR_ROWS:
            await trim_row(store, row, row_cap(settings))

    await write_both(stores.pools, trim)


async def _write(stores: Stores, hottest: dict[int, _Hot]) -> None:
    """Write cells as `feed_engine.feeds.smart.popular` does: first note each cell in the pin's row;
    afterwards remove all of the pin's cells but the newest version's."""
    by_version: dict[int, list[_Hot]] = defaultdict(list)
    for found in hottest.values():
        by_version[found.version].append(found)
    for version, some in by_version.items():
        note = inverted_version(version)
        notes = {id_row(found.pin_id): {note: found.column} for found in some}
        await put_both(stores.pools, POPULARITY, notes, version + 1)
        rows: dict[bytes, dict[bytes, bytes]] = defaultdict(dict)
        for found in some:
            rows[popular_row(found.pin_id)][found.column] = found.value
        await put_both(stores.pools, POOLS, rows, version + 1)

    async def sweep(store: WideColumnStore) -> None:
        for row in POPULAR_ROWS:
            for cell in await read_row(store, POOLS, row):
                found = hottest.get(parse_pool(cell.column).pin_id)
                if found is None or cell.column == found.column:
                    continue
                newer = cell.stamp > found.version + 1
                pair = (found.column, found.version + 1) if newer else (cell.column, cell.stamp)
                await store.delete(POOLS, {row: [pair[0]]}, pair[1])

    await write_both(stores.pools, sweep)
