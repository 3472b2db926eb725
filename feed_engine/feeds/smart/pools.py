"""The pools: the pins not yet shown of each user and source, best first (a published design: "the
key is (user, score, pin)").

A cell's stamp is the time of the action that put it there. A removal has this stamp or a later
stamp, so that a repeated old job does not bring the pin back. If a delete marker is lost in a
compaction and a pin does return, it is marked as shown: it is not chosen again, and leaves the pool
with a later sweep.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from itertools import count, takewhile

import msgspec

from datasources.errors import StoreCorrupt
from datasources.ids import Kind, kind_of
from datasources.protocols import Cell, Sides, Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.content import PinLike, public_pins
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.rows import (
    POOLS,
    POOLS_APPLIED,
    PoolColumn,
    Reason,
    Source,
    parse_pool,
    parse_why,
    pool_column,
    pool_row,
    why,
)
from feed_engine.feeds.smart import scores
from feed_engine.feeds.smart.generator import Candidate
from feed_engine.feeds.wide import read_row, remove
from feed_engine.times import CENTURY

ShownAmong = Callable[[Sequence[int]], Awaitable[set[int]]]
"""Returns the given pins that the user was shown."""

_LEAPS = tuple(takewhile(lambda leap: leap < 4 * CENTURY, (4**n for n in count())))
"""Added to the time of an action, one after the other, while cells stay hidden."""
_AHEAD = b"\x04"
"""The column, in the row of a user or an interest in POOLS_APPLIED, of the mark whose stamp is the
latest by which cells were written ahead of an action's time."""

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
    score = scores.fresh(followed_reason(cause_id), pin.created)
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


def column(c: Candidate) -> bytes:
    """The column of a candidate's cell."""
    return pool_column(PoolColumn(c.score, c.pin_id))


async def bring(store: WideColumnStore, row: bytes, cells: Mapping[bytes, bytes], at: int) -> None:
    """Write cells to a pool on one side, where they may have been removed before. Removed cells
    stay hidden under the removal's stamp, which may be this millisecond's or a faster clock's:
    hidden cells are written again with later stamps. A mark beside the pool has the latest of these
    stamps, and the next one follows it by 1: pins that jobs remove and bring again and again don't
    run away from the clocks. A pin that returns although it was shown is marked as shown. Raises
    StoreCorrupt if a removal is stamped more than a century ahead of `at`."""
    at = max(1, at)
    hidden = await _write(store, row, cells, at)
    if not hidden:
        return
    mark = (await store.get(POOLS_APPLIED, row[:8], [_AHEAD])).get(_AHEAD)
    stamps = [] if mark is None or mark.stamp < at else [mark.stamp + 1]
    for stamp in (*stamps, *(at + leap for leap in _LEAPS)):
        await store.put(POOLS_APPLIED, {row[:8]: {_AHEAD: b""}}, stamp)
        hidden = await _write(store, row, hidden, stamp)
        if not hidden:
            return
    raise StoreCorrupt(f"{len(hidden)} cells of pool {row.hex()} are removed until long after {at}")


async def _write(
    store: WideColumnStore, row: bytes, cells: Mapping[bytes, bytes], stamp: int
) -> dict[bytes, bytes]:
    """Returns the cells that stay hidden."""
    await store.put(POOLS, {row: dict(cells)}, stamp)
    there = await store.get(POOLS, row, list(cells))
    return {column: value for column, value in cells.items() if column not in there}


async def forget_cause(store: WideColumnStore, viewer_id: int, cause_id: int) -> None:
    """Remove from one side what the viewer no longer follows, at the cells' own stamps: the clock
    of an unfollow may be ahead of the next follow's clock. Only earlier versions wrote pins of an
    interest there."""
    row = pool_row(viewer_id, followed_source(cause_id))
    cells = await read_row(store, POOLS, row)
    gone = (cell for cell in cells if parse_why(cell.value).cause_id == cause_id)
    await remove(store, POOLS, row, gone)


async def take(
    sides: Sides, user_id: int, columns: Mapping[Source, Sequence[bytes]], at: int
) -> None:
    """Remove pins that were shown at `at` from the user's pools, on both sides: exactly the cells
    at these columns."""

    async def some(store: WideColumnStore) -> None:
        for source, named in columns.items():
            row = pool_row(user_id, source)
            await _remove_shown(store, row, (await store.get(POOLS, row, named)).values(), at)

    await write_both(sides, some)


async def sweep(stores: Stores, user_id: int, shown: ShownAmong, at: int) -> None:
    """Remove from the user's pools, on both sides: shown pins and their repins, pins that no longer
    belong to what brought them, and pins that nobody may see any more (deleted, or on a secret or
    deleted board). The last two are removed at the cells' own stamps: a pin that comes back is
    written with a later stamp."""

    async def clean(store: WideColumnStore) -> None:
        for source in OWN_SOURCES:
            row = pool_row(user_id, source)
            cells = await remove_dead(stores, store, row)
            pins = [(parse_pool(c.column).pin_id, parse_why(c.value).root_id) for c in cells]
            gone_pins = await shown(list({id for pair in pins for id in pair if id}))
            pairs = zip(cells, pins, strict=True)
            gone = [cell for cell, pair in pairs if not gone_pins.isdisjoint(pair)]
            await _remove_shown(store, row, gone, at)

    await write_both(stores.pools, clean)


async def remove_dead(stores: Stores, store: WideColumnStore, row: bytes) -> list[Cell]:
    """Remove the pins that nobody may see any more, or that left what brought them, from the row of
    a user or an interest on one side. Returns the cells that stay."""
    cells = await read_row(store, POOLS, row)
    # Looked up after each side's read: a pin that comes back has other cells there by then.
    public = await public_pins(stores, (parse_pool(cell.column).pin_id for cell in cells))
    related = row.endswith(bytes((Source.RELATED,)))

    def is_dead(cell: Cell) -> bool:
        pin = public.get(parse_pool(cell.column).pin_id)
        return pin is None or not (related or brought_by(pin, parse_why(cell.value).cause_id))

    dead = {cell.column for cell in cells if is_dead(cell)}
    await remove(store, POOLS, row, (cell for cell in cells if cell.column in dead))
    return [cell for cell in cells if cell.column not in dead]


def brought_by(pin: Pin, cause_id: int) -> bool:
    """Whether the pin still belongs to the followed user, board or interest."""
    return cause_id in (pin.owner_id, pin.board_id, *pin.interest_ids)


async def _remove_shown(
    store: WideColumnStore, row: bytes, cells: Collection[Cell], at: int
) -> None:
    """Remove shown pins from a row on one side, most of them in one call. Cells with stamps after
    `at` are removed at their own: no later write to the other columns is hidden by a clock that was
    ahead."""
    usual = [cell for cell in cells if cell.stamp <= at]
    if usual:
        stamp = max(cell.stamp for cell in usual)
        await store.delete(POOLS, {row: [cell.column for cell in usual]}, stamp)
    await remove(store, POOLS, row, (cell for cell in cells if cell.stamp > at))
