"""Making room on a board where a gap is used up: a few neighbours are spread evenly.

The window around the gap grows until every gap in it takes `ROOM` bisections, as in the
order-maintenance literature (Bender and others), so that the next moves there rewrite one row each.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP, Edge, ListKey
from datasources.protocols import ShardTx
from feed_engine import order

ROOM = 2**42  # the gap to reach: half of the bisections that a millisecond has
ROWS = 64  # rewritten in one transaction while that makes any room at all

Step = Callable[[ListKey, int], Awaitable[Edge | None]]
"""`ShardTx.above` or `ShardTx.below`."""
Move = tuple[Edge, int]
"""A row and its new sequence."""


class _Window(NamedTuple):
    rows: list[Edge]  # ascending
    slot: int  # where among them the moved row goes
    lower: int
    upper: int

    def room(self) -> int:
        return (self.upper - self.lower) // (len(self.rows) + 3)


async def make_room(
    tx: ShardTx, key: ListKey, moved: Edge, below: Edge | None, above: Edge | None, now_ms: int
) -> int:
    """Spread rows around the gap between `below` and `above` (None: the list's end), keeping their
    order, and answer a free sequence in the gap for `moved`. The list is locked."""
    window = await _window(tx, key, moved, below, above, now_ms)
    # One place more than is needed, so that none has to be the moved row's own, still taken one.
    places = order.spread(window.lower, window.upper, len(window.rows) + 2)
    assert places is not None
    places.remove(moved.sequence if moved.sequence in places else places[-1])
    place = places.pop(window.slot)
    moves = list(zip(window.rows, places, strict=True))
    await relabel(tx, key, in_order(moves))
    return place


def in_order(moves: Sequence[Move]) -> list[Move]:
    """The moves that change something, so that after each of them the rows' order is the same and
    no two have one sequence: those that rise from the top, then those that sink from the bottom."""
    rising = [(row, to) for row, to in reversed(moves) if to > row.sequence]
    sinking = [(row, to) for row, to in moves if to < row.sequence]
    return rising + sinking


async def relabel(tx: ShardTx, key: ListKey, moves: Sequence[Move]) -> None:
    """Give rows new sequences, and remember it for places that were named before."""
    for row, to in moves:
        await tx.put_edge(key.mapping, row._replace(sequence=to, version=row.version + 1))
    if moves:
        await tx.respaced(key, sorted((row.sequence, to) for row, to in moves))


async def _window(
    tx: ShardTx, key: ListKey, moved: Edge, below: Edge | None, above: Edge | None, now_ms: int
) -> _Window:
    under = _Side(tx, key, moved.to_id, below, up=False)
    over = _Side(tx, key, moved.to_id, above, up=True)
    reach = 1
    while True:
        await under.grow(reach)
        await over.grow(reach)
        rows = [*reversed(under.rows), *over.rows]
        window = _Window(rows, len(under.rows), under.floor(), over.ceiling(now_ms))
        if window.room() >= (ROOM if 4 * reach <= ROWS else 1):
            return window
        reach *= 2


class _Side:
    """The rows on one side of the gap, nearest first, and the next one, which stays."""

    def __init__(
        self, tx: ShardTx, key: ListKey, moved_id: int, nearest: Edge | None, *, up: bool
    ) -> None:
        self._step = tx.above if up else tx.below
        self._key, self._moved_id, self._next = key, moved_id, nearest
        self.rows: list[Edge] = []

    async def grow(self, count: int) -> None:
        while self._next is not None and len(self.rows) < count:
            self.rows.append(self._next)
            self._next = await next_row(self._step, self._key, self._next, self._moved_id)

    def floor(self) -> int:
        if self._next is not None:
            return self._next.sequence
        room = (len(self.rows) + 1) * SEQUENCE_STEP
        return max(0, self.rows[-1].sequence - room) if self.rows else 0

    def ceiling(self, now_ms: int) -> int:
        if self._next is not None:
            return self._next.sequence
        return order.top(now_ms, self.rows[-1].sequence if self.rows else None)


async def next_row(step: Step, key: ListKey, row: Edge, without: int) -> Edge | None:
    """The row next to another in one direction, as if the row to `without` were not there."""
    found = await step(key, row.sequence)
    return await step(key, found.sequence) if found and found.to_id == without else found
