"""Pins that came late into a part of an interest's pool that a viewer has passed.

A pin has its place by its creation. If it becomes public again, or gets the interest, or a filling
brings it back, its place may be within the span that the viewer's visits skip. Now and then, a
visit's job looks through the spans, and puts such pins into the viewer's own pool of interests'
pins.
"""

from collections.abc import Iterable, Mapping

from datasources.ids import Kind
from datasources.mappings import EdgeKey
from datasources.protocols import Cell, Stores, WideColumnStore
from feed_engine.feeds.content import public_pins
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.rows import (
    POOLS,
    POPULAR_ROWS,
    Source,
    interest_row,
    parse_pool,
    parse_why,
    pool_row,
)
from feed_engine.feeds.smart import pools
from feed_engine.feeds.smart.pools import ShownAmong, brought_by
from feed_engine.feeds.visits import Span
from feed_engine.feeds.wide import PAGE

_POPULAR = {int.from_bytes(row[:8], "big") for row in POPULAR_ROWS}


async def bring_late(
    stores: Stores, user_id: int, spans: Mapping[int, Span], shown: ShownAmong, at: int
) -> None:
    """Put the pins of the spans that were not shown into the user's own pool, on both sides. `at`:
    epoch ms of the visit."""
    interests = await _followed(stores, user_id, (id for id in spans if id not in _POPULAR))
    row = pool_row(user_id, Source.INTEREST)

    async def side(store: WideColumnStore) -> None:
        for id in interests:
            cells = [(parse_pool(c.column).pin_id, c) for c in await _within(store, id, spans[id])]
            roots = {pin_id: parse_why(c.value).root_id or pin_id for pin_id, c in cells}
            gone = await shown([*roots.keys(), *roots.values()])
            new = {pin_id for pin_id, root in roots.items() if gone.isdisjoint((pin_id, root))}
            pins = await public_pins(stores, new)
            found = {
                c.column: c.value
                for pin_id, c in cells
                if pin_id in pins
                and pins[pin_id].owner_id != user_id
                and pins[pin_id].root not in gone
                and brought_by(pins[pin_id], id)
            }
            await pools.bring(store, row, found, at)

    await write_both(stores.pools, side)


async def _followed(stores: Stores, user_id: int, interest_ids: Iterable[int]) -> list[int]:
    keys = [EdgeKey(FOLLOWS[Kind.INTEREST], user_id, id) for id in interest_ids]
    edges = await stores.shards.mappings.edges(keys) if keys else {}
    return [key.to_id for key in keys if key in edges and edges[key].active]


async def _within(store: WideColumnStore, interest_id: int, span: Span) -> list[Cell]:
    """The cells of an interest's pool in a span."""
    row, after = interest_row(interest_id), span.first
    cells = [*(await store.get(POOLS, row, [span.first])).values()]
    while page := await store.read(POOLS, row, after=after, limit=PAGE):
        cells += [cell for cell in page if cell.column <= span.last]
        after = page[-1].column
        if len(page) < PAGE or after > span.last:
            break
    return cells
