"""The pools of interests: one row for each interest, which all its followers read.

A pin is written once to its interests' rows, however many users follow them. A pin that a viewer
was shown stays in the row, because other viewers were not shown it; the reader leaves it out (see
`feed_engine.feeds.smart.candidates`).

A row that is older than these rows, or that was cut and is short, is filled by a job. A follow, or
a reader who comes to the row's end, requests it (see `feed_engine.feeds.smart.cuts`).
"""

import asyncio
from collections.abc import Sequence

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.content import newest_pins
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.refill_requests import ask
from feed_engine.feeds.rows import POOLS, POOLS_APPLIED, interest_row
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import cuts, pools
from feed_engine.feeds.wide import due
from feed_engine.outbox.change import Advance, InterestShort


async def put_pin(
    store: WideColumnStore,
    stores: Stores,
    pin: Pin,
    interest_ids: Sequence[int],
    at: int,
    settings: FeedSettings,
) -> None:
    """Write a public pin to the rows of interests on one side. `at`: epoch ms of the action."""
    for id in interest_ids:
        cells = dict([pools.followed_cell(pin, id)])
        await pools.bring(store, interest_row(id), cells, max(pin.created, at))
        if due(interest_row(id), pin.id, settings.interest_cap):
            await tidy(store, stores, id, settings.interest_cap)


async def tidy(store: WideColumnStore, stores: Stores, interest_id: int, keep: int) -> None:
    """Remove pins that nobody can see there any more, and keep the best `keep` of the others."""
    row = interest_row(interest_id)
    await pools.remove_dead(stores, store, row)
    await cuts.cut(store, row, interest_id, keep)


async def interest_short(
    stores: Stores,
    task: InterestShort,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Fill the row of an interest."""
    await fill(stores, task.interest_id, _most(settings), task.at)


async def fill(stores: Stores, interest_id: int, limit: int, at: int) -> None:
    """Write the newest pins of an interest that its row lacks, on each side. A trim may have
    removed them before. A pin that is deleted meanwhile may stay in the row until the next trim:
    readers leave it out. `at`: epoch ms of the request, so that a repeated job gives the cells of
    both sides the same stamps."""

    async def side(store: WideColumnStore) -> None:
        seen = await cuts.cut_seen(store, interest_id)
        row = interest_row(interest_id)
        there = {cell.column for cell in await pools.remove_dead(stores, store, row)}
        key = ListKey(Mapping.INTEREST_HAS_PINS, interest_id)
        newest = (await newest_pins(stores, [key], limit))[key]
        complete = (await stores.shards.mappings.heads([key]))[key].size <= limit
        cells = dict(pools.followed_cell(pin, interest_id) for pin in newest)
        missing = {column: value for column, value in cells.items() if column not in there}
        await pools.bring(store, row, missing, at)
        await cuts.mark_filled(store, interest_id, seen, complete=complete)

    await write_both(stores.pools, side)


async def fill_short(stores: Stores, interest_id: int, at: int, settings: FeedSettings) -> None:
    """Fill the row of an interest that has a new follower, if it may lack pins on a side and has
    fewer than a follow brings."""

    async def lacks(store: WideColumnStore) -> bool:
        cells = await store.read(POOLS, interest_row(interest_id), limit=settings.backfill)
        short = len(cells) < settings.backfill
        return short and await cuts.may_lack(store, interest_id, filled=False)

    if any(await asyncio.gather(*(lacks(store) for store in stores.pools))):
        await fill(stores, interest_id, _most(settings), at)


def _most(settings: FeedSettings) -> int:
    return max(settings.interest_cap, settings.backfill)


async def ask_fill(stores: Stores, store: WideColumnStore, interest_id: int, now: int) -> bool:
    """Post the job that fills a row, if the row may lack pins on this side and no job is under way.
    Raises StoreError. Returns whether a job was posted."""
    if not await cuts.may_lack(store, interest_id, filled=False, now=now):
        return False
    task = InterestShort(interest_id=interest_id, at=now)
    await ask(stores, store, POOLS_APPLIED, interest_id, task, now)
    return True
