"""The pools of interests: one row for each interest, which all its followers read.

A pin is written once to its interests' rows, however many users follow them. A pin that a viewer
was shown stays in the row, because other viewers were not shown it; the reader leaves it out (see
`feed_engine.feeds.smart.candidates`).

The row of an interest that is older than these rows is filled by a job. A follow, or the first
reader who comes to the row's end, requests it.
"""

from collections.abc import Sequence

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.content import newest_pins, public_pins
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.refill_requests import ASK_AGAIN, ASKED, ask
from feed_engine.feeds.rows import POOLS, POOLS_APPLIED, id_row, interest_row, parse_pool
from feed_engine.feeds.settings import DEFAULTS, FeedSettings, epoch_ms
from feed_engine.feeds.smart import pools
from feed_engine.feeds.wide import due, put_both, read_row, remove
from feed_engine.outbox.change import Advance, InterestShort

FILLED = b"\x02"
"""The column of the mark in an interest's row of POOLS_APPLIED. Its stamp is the epoch ms of the
last filling."""
LOWEST_STAMP = 1
"""The stamp of cells that are written by a filling: it does not bring back removed cells."""


async def put_pin(
    store: WideColumnStore,
    stores: Stores,
    pin: Pin,
    interest_ids: Sequence[int],
    at: int,
    settings: FeedSettings,
) -> None:
    """Write a public pin to the rows of interests on one side. `at`: epoch ms of the action."""
    cells = [(id, *pools.followed_cell(pin, id)) for id in interest_ids]
    rows = {interest_row(id): {column: value} for id, column, value in cells}
    if rows:
        await store.put(POOLS, rows, max(1, pin.created, at))
    for id in interest_ids:
        if due(interest_row(id), pin.id):
            await tidy(store, stores, id, settings.interest_cap)


async def tidy(store: WideColumnStore, stores: Stores, interest_id: int, keep: int) -> None:
    """Remove pins that nobody can see there any more, and keep the best `keep` of the others. Each
    cell is removed at its own stamp: a pin that returns has a higher stamp."""
    row = interest_row(interest_id)
    cells = await read_row(store, POOLS, row)
    ids = [parse_pool(cell.column).pin_id for cell in cells]
    pins = await public_pins(stores, ids)
    there = {id for id, pin in pins.items() if interest_id in pin.interest_ids}
    gone = (cell for cell, id in zip(cells, ids, strict=True) if id not in there)
    await remove(store, POOLS, row, gone)
    await store.trim(POOLS, row, keep)


async def interest_short(
    stores: Stores,
    task: InterestShort,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Fill the row of an interest."""
    await fill(stores, [task.interest_id], settings.interest_cap)


async def fill(stores: Stores, interest_ids: Sequence[int], limit: int) -> None:
    """Write the newest pins of interests to their rows, on both sides."""
    keys = [ListKey(Mapping.INTEREST_HAS_PINS, id) for id in interest_ids]
    found = await newest_pins(stores, keys, limit)
    rows = {
        interest_row(key.from_id): dict(pools.followed_cell(pin, key.from_id) for pin in pins)
        for key, pins in found.items()
    }
    await put_both(stores.pools, POOLS, rows, LOWEST_STAMP)
    marks = {id_row(id): {FILLED: b""} for id in interest_ids}
    now = epoch_ms()
    await write_both(stores.pools, lambda store: store.put(POOLS_APPLIED, marks, now))


async def ask_fill(stores: Stores, store: WideColumnStore, interest_id: int, now: int) -> bool:
    """Post the job that fills a row, if the row was never filled on this side and no job is under
    way. Raises StoreError. Returns whether a job was posted."""
    marks = await store.get(POOLS_APPLIED, id_row(interest_id), [FILLED, ASKED])
    if FILLED in marks or (ASKED in marks and now - marks[ASKED].stamp < ASK_AGAIN):
        return False
    task = InterestShort(interest_id=interest_id, at=now)
    await ask(stores, store, POOLS_APPLIED, interest_id, task, now)
    return True
