"""Millions of adversarial moves on a board in memory, by the product's own arithmetic.

The rows are a linked list; where a moved row goes, when its neighbors are spread, which of them and
where to, is all decided by `feed_engine.order` and `feed_engine.spacing`, as in the real writes.
"""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from datasources.mappings import SEQUENCE_STEP
from feed_engine import order
from feed_engine.spacing import (
    Search,
    Spacing,
    Surroundings,
    Window,
    crowded,
    window,
)

Adversary = Literal["same side", "alternating", "smallest gap"]
ADVERSARIES: tuple[Adversary, ...] = ("same side", "alternating", "smallest gap")
_FIRST_MS = 1_700_000_000_000


@dataclass
class Tally:
    """What moves cost, in rows rewritten beside the moved row's own."""

    moves: int = 0
    failures: int = 0
    by_job: int = 0
    inline: int = 0
    jobs: int = 0
    spreads: int = 0
    """Regions spread by a move itself, for want of any room."""
    worst: int = 0
    """Rows rewritten of the largest region."""
    worst_transaction: int = 0

    @property
    def mean(self) -> float:
        return (self.by_job + self.inline) / max(self.moves, 1)


class Board:
    """Rows 1 to `pins` from the bottom up, each a whole step above the one before it."""

    def __init__(self, pins: int, spacing: Spacing, *, gaps: bool = False) -> None:
        self.pins, self.spacing, self.tally = pins, spacing, Tally()
        self.end = pins + 1  # stands above the topmost row, 0 below the lowest
        self.sequence = [0, *((_FIRST_MS + n) * SEQUENCE_STEP for n in range(pins)), 0]
        self.up = [*range(1, pins + 2), 0]
        self.down = [0, *range(pins + 1)]
        self._heap: list[tuple[int, int, int]] | None = None
        if gaps:
            self._heap = [(SEQUENCE_STEP, row, row + 1) for row in range(1, pins)]

    def ascending(self) -> list[int]:
        """All rows from the bottom up."""
        found, row = list[int](), self.up[0]
        while row != self.end:
            found.append(row)
            row = self.up[row]
        return found

    def move(self, row: int, below: int) -> int | None:
        """Put a row directly above another, between two: the row around which a job is to spread
        others, if it asks for one. A move that finds no room is counted, and the row stays."""
        stood = self.down[row]
        self._take_out(row)
        self.tally.moves += 1
        above = self.up[below]
        place = order.bisect(self.sequence[below], self.sequence[above])
        asks = place is None
        if place is None:
            self.tally.spreads += 1
            self.tally.inline += self._spread(below, window(self.spacing))
            place = order.bisect(self.sequence[below], self.sequence[above])
            if place is None:
                self.tally.failures += 1
                self._link(row, stood)
                return None
        else:
            asks = self.spacing.asks(self.sequence[below], place, self.sequence[above])
        self.sequence[row] = place
        self._link(row, below)
        return row if asks else None

    def job(self, row: int) -> None:
        """Spread what is crowded around a row."""
        self.tally.jobs += 1
        self.tally.by_job += self._spread(row, crowded(self.spacing))

    def narrowest(self) -> int:
        """The row below the smallest gap between two."""
        assert self._heap is not None
        while True:
            gap, row, above = self._heap[0]
            if (self.up[row], self.down[above], self._gap(row)) == (above, row, gap):
                return row
            heapq.heappop(self._heap)

    def _spread(self, row: int, search: Search) -> int:
        below, above = _Side(self, row, self.down, 0), _Side(self, row, self.up, self.end)
        below.rows.append(row)
        found = self._find(search, below, above)
        if found is None:
            return 0
        rows = [
            it
            for it in (*reversed(below.rows), *above.rows)
            if found.lower < self.sequence[it] < found.upper
        ]
        places = found.spread(len(rows), rows.index(row))
        changed = 0
        for it, to in zip(rows, places, strict=True):
            changed += to != self.sequence[it]
            self.sequence[it] = to
        self._note(self.down[rows[0]], *rows)
        # A larger region is spread in several transactions.
        self.tally.worst = max(self.tally.worst, changed)
        once = min(changed, self.spacing.rows)
        self.tally.worst_transaction = max(self.tally.worst_transaction, once)
        return changed

    def _find(self, search: Search, below: "_Side", above: "_Side") -> Window | None:
        reach = next(search)
        while True:
            known = Surroundings(
                *(below.read(reach), above.read(reach)), below.is_end, above.is_end
            )
            try:
                reach = search.send(known)
            except StopIteration as done:
                found: Window | None = done.value
                return found

    def _take_out(self, row: int) -> None:
        below, above = self.down[row], self.up[row]
        self.up[below], self.down[above] = above, below
        self._note(below)

    def _link(self, row: int, below: int) -> None:
        above = self.up[below]
        self.down[row], self.up[row] = below, above
        self.up[below] = self.down[above] = row
        self._note(below, row)

    def _gap(self, row: int) -> int:
        above: int = self.sequence[self.up[row]]
        return above - self.sequence[row]

    def _note(self, *rows: int) -> None:
        """The gaps above these rows have changed."""
        if self._heap is not None:
            for row in rows:
                if row and self.up[row] != self.end:
                    heapq.heappush(self._heap, (self._gap(row), row, self.up[row]))


class _Side:
    """The rows on one side of another, nearest first, as far as they were asked for."""

    def __init__(self, board: Board, row: int, step: list[int], end: int) -> None:
        self._board, self._step, self._end = board, step, end
        self._next = step[row]
        self.rows: list[int] = []

    @property
    def is_end(self) -> bool:
        return self._next == self._end

    def read(self, reach: int) -> list[int]:
        while len(self.rows) < reach and not self.is_end:
            self.rows.append(self._next)
            self._next = self._step[self._next]
        return [self._board.sequence[row] for row in self.rows]


def simulate(
    pins: int,
    moves: int,
    adversary: Adversary,
    spacing: Spacing,
    *,
    late: Callable[[], bool] = lambda: False,
) -> Board:
    """The board after so many moves of an adversary, who drags the board's lowest and topmost pins:
    always directly below one pin; each between the two dragged before it; or always into the
    smallest gap of the board. A job runs at once, or never if `late` says so."""
    board = Board(pins, spacing, gaps=adversary == "smallest gap")
    next_target = targets(board, adversary)
    for number in range(moves):
        row, below = next_target(number)
        asking = board.move(row, below)
        if asking is not None and not late():
            board.job(asking)
    return board


def targets(board: Board, adversary: Adversary) -> Callable[[int], tuple[int, int]]:
    """What an adversary moves next: the row, and the row directly above which it goes."""
    return _TARGETS[adversary](board)


def _same_side(board: Board) -> Callable[[int], tuple[int, int]]:
    anchor = board.pins // 2

    def target(_: int) -> tuple[int, int]:
        row = board.up[0]
        if row in (anchor, board.down[anchor]):
            row = board.down[board.end]
        below = board.down[anchor]
        return row, below

    return target


def _alternating(board: Board) -> Callable[[int], tuple[int, int]]:
    last = board.pins // 2

    def target(number: int) -> tuple[int, int]:
        nonlocal last
        goes_below = number % 2 == 0
        ends = [board.up[0], board.down[board.end]]
        if not goes_below:
            ends.reverse()
        near = (last, board.down[last] if goes_below else board.up[last])
        row = next(end for end in ends if end not in near)
        below = board.down[last] if goes_below else last
        last = row
        return row, below

    return target


def _smallest_gap(board: Board) -> Callable[[int], tuple[int, int]]:
    chooser = random.Random(board.pins)

    def target(_: int) -> tuple[int, int]:
        below = board.narrowest()
        ends = [board.up[0], board.down[board.end]]
        chooser.shuffle(ends)
        near = (below, board.up[below])
        row: int = next(end for end in ends if end not in near)
        return row, below

    return target


_TARGETS: dict[Adversary, Callable[[Board], Callable[[int], tuple[int, int]]]] = {
    "same side": _same_side,
    "alternating": _alternating,
    "smallest gap": _smallest_gap,
}
