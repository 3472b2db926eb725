"""The pools: the pins not yet shown of each user and source, best first (a published design: "the
key is (user, score, pin)").

A cell's stamp is the time of the action that put it there. A removal has a later stamp, so that a
repeated old job does not bring the pin back. If a delete marker is lost in a compaction and a pin
does return, it is marked as shown: it is not chosen again, and leaves the pool with the next visit.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

import msgspec

from datasources.ids import Kind, kind_of
from datasources.protocols import Cell, Sides, Stores, WideColumnStore
from feed_engine.feeds.content import PinLike, public_pins
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
    why,
)
from feed_engine.feeds.smart import scoring
from feed_engine.feeds.smart.generator import Candidate
from feed_engine.feeds.wide import read_row, remove
from feed_engine.times import LEAPS

ShownAmong = Callable[[Sequence[int]], Awaitable[set[int]]]
"""Returns the given pins that the user was shown."""

OWN_SOURCES = (Source.FOLLOWED, Source.INTEREST, Source.RELATED)

_REASONS = {
    Kind.USER: Reason.FOLLOWED_USER,
    Kind.BOARD: Reason.FOLLOWED_BOARD,
    Kind.INTEREST: Reason.FOLLOWED_INTEREST,
    Kind.PIN: Reason.RELATED,
}


def followed_reason(cause_id: int) -> Reason:
    """The reason for which a pin of a followed user, board or interest, or a pin related to a liked
    pin, is shown."""
    return _REASONS[kind_of(cause_id)]


def followed_source(cause_id: int) -> Source:
    """The pool that pins of a followed user, board or interest go to."""
    return Source.INTEREST if kind_of(cause_id) is Kind.INTEREST else Source.FOLLOWED


def followed_cell(pin: PinLike, cause_id: int) -> tuple[bytes, bytes]:
    """The cell (column, value) of a pin that a followed user, board or interest brings."""
    score = scoring.fresh(followed_reason(cause_id), pin.created)
    return pool_column(PoolColumn(score, pin.id)), why_of(pin, cause_id)


def why_of(pin: PinLike, cause_id: int) -> bytes:
    """The value of a pin's cell."""
    return why(cause_id, pin.board_id, pin.root if pin.root != pin.id else 0)


def followed_cells(pins: Iterable[PinLike], viewer_id: int, cause_id: int) -> dict[bytes, bytes]:
    """The cells of a cause's pins for a viewer; their own pins are not among them."""
    return dict(followed_cell(pin, cause_id) for pin in pins if pin.owner_id != viewer_id)


def candidate(source: Source, cell: Cell) -> Candidate:
    score, pin_id = parse_pool(cell.column)
    cause_id, board_id, root_id = msgspec.structs.astuple(parse_why(cell.value))
    if source is Source.POPULAR:
        reason = Reason.POPULAR
    elif source is Source.RELATED:
        reason = Reason.RELATED
    else:
        reason = followed_reason(cause_id)
    return Candidate(pin_id, score, source, reason, cause_id, board_id, root_id or pin_id)


async def bring(store: WideColumnStore, row: bytes, cells: Mapping[bytes, bytes], at: int) -> None:
    """Write a follow's cells to a viewer's pool on one side. Cells that an earlier unfollow removed
    stay hidden under its stamp, which may be this millisecond's or a faster clock's: hidden cells
    are written again with later stamps. A pin that returns although it was shown is marked as
    shown."""
    hidden = dict(cells)
    for leap in (0, 1, *LEAPS):
        if not hidden:
            return
        await store.put(POOLS, {row: hidden}, max(1, at) + leap)
        there = await store.get(POOLS, row, list(hidden))
        hidden = {column: value for column, value in hidden.items() if column not in there}


async def forget_cause(store: WideColumnStore, viewer_id: int, cause_id: int) -> None:
    """Remove from one side what the viewer no longer follows, at the cells' own stamps: the clock
    of an unfollow may be ahead of the next follow's clock. Only earlier versions wrote pins of an
    interest there."""
    row = pool_row(viewer_id, followed_source(cause_id))
    cells = await read_row(store, POOLS, row)
    gone = (cell for cell in cells if parse_why(cell.value).cause_id == cause_id)
    await remove(store, POOLS, row, gone)


async def sweep(stores: Stores, user_id: int) -> None:
    """Remove the pins that nobody may see any more (deleted, or on a secret or deleted board) from
    the user's pools, on both sides, at the cells' own stamps: a pin that becomes public again is
    written with a later stamp."""

    async def clean(store: WideColumnStore) -> None:
        for source in OWN_SOURCES:
            row = pool_row(user_id, source)
            cells = await read_row(store, POOLS, row)
            # Looked up after each side's read: a pin that comes back has other cells there by then.
            public = await public_pins(stores, (parse_pool(cell.column).pin_id for cell in cells))
            dead = (cell for cell in cells if parse_pool(cell.column).pin_id not in public)
            await remove(store, POOLS, row, dead)

    await write_both(stores.pools, clean)


async def take(sides: Sides, user_id: int, shown: ShownAmong, at: int) -> None:
    """Remove shown pins and their repins from the user's pools, on both sides: the pins of the
    newest chunk, and pins of earlier chunks that a job has put back since. The stamp is `at`, or a
    cell's stamp if that is later."""

    async def empty(store: WideColumnStore) -> None:
        for source in OWN_SOURCES:
            row = pool_row(user_id, source)
            cells = await read_row(store, POOLS, row)
            pins = [(parse_pool(c.column).pin_id, parse_why(c.value).root_id) for c in cells]
            gone_pins = await shown(list({id for pair in pins for id in pair if id}))
            pairs = zip(cells, pins, strict=True)
            gone = [cell for cell, pair in pairs if not gone_pins.isdisjoint(pair)]
            if gone:
                stamp = max(at, *(cell.stamp for cell in gone))
                await store.delete(POOLS, {row: [cell.column for cell in gone]}, stamp)

    await write_both(sides, empty)
