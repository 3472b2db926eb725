"""The pool of related pins: what walks from a user's likes and saves put there."""

from collections.abc import Collection, Mapping, Sequence
from math import log2
from typing import NamedTuple

from datasources.protocols import Cell, Stores, WideColumnStore
from datasources.records import Pin
from datasources.together import together
from feed_engine.feeds.content import public_pin
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    POOLS,
    PoolColumn,
    Reason,
    Source,
    parse_pool,
    parse_why,
    pool_column,
    pool_row,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart.pools import why_of
from feed_engine.feeds.smart.popular import update_popularity
from feed_engine.feeds.smart.related_pins import cells_beside
from feed_engine.feeds.smart.scores import fresh
from feed_engine.feeds.wide import read_row, remove
from feed_engine.outbox.change import Advance, PinLiked
from feed_engine.related.found import Related, related_pins, seed_of
from feed_engine.related.taste import taste_of
from feed_engine.related.walks import Walks

PINS = 50  # pins of a user's walks that go to the pool, at most
FEW = 20  # with fewer pins, the newest pins beside the liked pin are added
LEAST = -8.0  # log2 of the lowest share of the best score
_STEP = 1e-6  # by which a pin that comes later scores less


async def pin_liked(
    stores: Stores,
    task: PinLiked,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
    walks: Walks | None = None,
) -> None:
    """Update the pin's popularity, and fill the viewer's pool of related pins. Without a graph, or
    if walks find few pins, the pool gets the newest pins beside the liked pin."""
    liked = await public_pin(stores, task.pin_id)
    if liked is None:
        return

    async def relate() -> None:
        seen = Seen()
        if walks is not None:
            seen = await seek(stores, walks, task.viewer_id, at=task.at, first=[liked])
        cells = dict(seen.cells)
        if len(cells) < FEW:
            cells |= await cells_beside(stores, task, liked, settings, but={*seen.found, *seen.had})
        await put(stores, task.viewer_id, cells, seen.had, task.at, settings)

    await together([update_popularity(stores, [liked], settings), relate()])


class Seen(NamedTuple):
    """The cells of the pins that walks found, the roots of these pins, and the roots of the user's
    likes and saves, from which the walks began."""

    cells: Mapping[bytes, bytes] = {}
    found: Collection[int] = frozenset()
    had: Collection[int] = frozenset()


async def fill(
    stores: Stores,
    walks: Walks,
    user_id: int,
    *,
    at: int,
    first: Sequence[Pin] = (),
    settings: FeedSettings = DEFAULTS,
) -> int:
    """Walk from the user's likes and saves up to an epoch ms, and put the pins that are found into
    the user's pool. Returns their number; 0 without a graph."""
    seen = await seek(stores, walks, user_id, at=at, first=first)
    await put(stores, user_id, seen.cells, seen.had, at, settings)
    return len(seen.cells)


async def seek(
    stores: Stores, walks: Walks, user_id: int, *, at: int, first: Sequence[Pin] = ()
) -> Seen:
    """Walk from the user's likes and saves up to an epoch ms. Finds nothing without a graph."""
    if not await walks.usable():
        return Seen()
    from feed_engine.related.walk import PLAN, Query

    taste = await taste_of(stores, user_id, until=at, first=first)
    found = await related_pins(
        stores,
        walks,
        [Query(liked.pin.root, liked.weight) for liked in taste.pins],
        PINS,
        seed=seed_of(user_id, at),
        plan=PLAN,
        but=taste.board_ids,
        viewer_id=user_id,
    )
    pins = [liked.pin for liked in taste.pins]
    cells = cells_of(found or (), [pin.id for pin in pins], at)
    return Seen(cells, {it.pin.root for it in found or ()}, {pin.root for pin in pins})


async def put(
    stores: Stores,
    user_id: int,
    cells: Mapping[bytes, bytes],
    had: Collection[int],
    at: int,
    settings: FeedSettings,
) -> None:
    """Put cells into the user's pool, on both sides. Of a pin's cells, the best stays. Pins of the
    roots in `had` leave the pool."""
    row = pool_row(user_id, Source.RELATED)
    pins = {parse_pool(column).pin_id for column in cells}

    async def write(store: WideColumnStore) -> None:
        if cells:
            await store.put(POOLS, {row: cells}, max(1, at))
        there, gone = set[int](), list[Cell]()
        for cell in await read_row(store, POOLS, row):  # best first
            pin_id = parse_pool(cell.column).pin_id
            if pin_id in there or (parse_why(cell.value).root_id or pin_id) in had:
                gone.append(cell)
            elif pin_id in pins:
                there.add(pin_id)
        await remove(store, POOLS, row, gone)
        await store.trim(POOLS, row, settings.pool_cap)

    await write_both(stores.pools, write)


def cells_of(found: Sequence[Related], cause_ids: Sequence[int], at: int) -> dict[bytes, bytes]:
    """The cells of pins that were found at an epoch ms, in their order: as fresh as the like, less
    the binary logarithm of what the best score is over their own."""
    cells: dict[bytes, bytes] = {}
    top = score = fresh(Reason.RELATED, at)
    for place, (pin, share, cause) in enumerate(found):
        if place:
            score = min(score - _STEP, top + max(LEAST, log2(share)))
        cells[pool_column(PoolColumn(score, pin.id))] = why_of(pin, cause_ids[cause])
    return cells
