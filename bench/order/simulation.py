"""Millions of adversarial moves on a board in memory, with the product's own arithmetic.

The rows are a linked list. `feed_engine.ordering` (`order`, `spacing`) decides where a moved row
goes, when its neighbors are respaced, and which of them go where, as in the real writes.
"""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from datasources.mappings import SEQUENCE_STEP
from feed_engine.ordering import order
from feed_engine.ordering.spacing import (
    Search,
    Spacing,
    Surroundings,
    Window,
    crowded,
    window,
)

Adversary = Literal[
    "same side",
    "alternating",
    "smallest gap",
    "one of the 16 smallest gaps",
    "two places in turn",
    "smallest gap at the ends",
    "amid the rows spread last",
]
ADVERSARIES: tuple[Adversary, ...] = ("same side", "alternating", "smallest gap")
OTHERS: tuple[Adversary, ...] = (
    "one of the 16 smallest gaps",
    "two places in turn",
    "smallest gap at the ends",
    "amid the rows spread last",
)
_FIRST_MS = 1_700_000_000_000


@dataclass
class Tally:
    """The cost of moves, in rows rewritten in addition to the moved row."""

    moves: int = 0
    failures: int = 0
    by_job: int = 0
    inline: int = 0
    jobs: int = 0
    spreads: int = 0
    """Regions that a move itself respaced, for lack of room."""
    worst: int = 0
    """Rows rewritten in the largest region."""
    worst_transaction: int = 0
    """Rows rewritten in one transaction; only for real boards."""

    @property
    def mean(self) -> float:
        return (self.by_job + self.inline) / max(self.moves, 1)


class Board:
    """A board with rows 1 to `pins` from the bottom up, each one step above the row before it."""

    def __init__(self, pins: int, spacing: Spacing) -> None:
        self.pins, self.spacing, self.tally = pins, spacing, Tally()
        self.end = pins + 1  # above the topmost row; 0 is below the lowest
        self.sequence = [0, *((_FIRST_MS + n) * SEQUENCE_STEP for n in range(pins)), 0]
        self.up = [*range(1, pins + 2), 0]
        self.down = [0, *range(pins + 1)]
        self.spread_last = [pins // 2]
        """The rows that were respaced together."""
        # created when gaps are first requested
        self._heap: list[tuple[int, int, int]] | None = None

    def ascending(self) -> list[int]:
        """All rows, from the bottom up."""
        found, row = list[int](), self.up[0]
        while row != self.end:
            found.append(row)
            row = self.up[row]
        return found

    def move(self, row: int, below: int) -> int | None:
        """Put a row directly above another row. Returns the row around which a job should respace
        others, if the move requests a job. A move that finds no room is counted, and the row stays.
        """
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
        """Respace the crowded rows around a row."""
        self.tally.jobs += 1
        self.tally.by_job += self._spread(row, crowded(self.spacing))

    def narrowest(self, count: int) -> list[int]:
        """The rows below the `count` smallest gaps, the smallest gap first."""
        if self._heap is None:
            self._heap = [
                (self._gap(row), row, self.up[row])
                for row in range(1, self.end)
                if self.up[row] != self.end
            ]
            heapq.heapify(self._heap)
        found = list[tuple[int, int, int]]()
        while len(found) < count and self._heap:
            gap, row, above = entry = heapq.heappop(self._heap)
            is_so = (self.up[row], self.down[above], self._gap(row)) == (above, row, gap)
            if is_so and entry not in found:
                found.append(entry)
        for entry in found:
            heapq.heappush(self._heap, entry)
        return [row for _, row, _ in found]

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
        self.spread_last = rows
        self.tally.worst = max(self.tally.worst, changed)
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
        """Record that the gaps above these rows have changed."""
        if self._heap is not None:
            for row in rows:
                if row and self.up[row] != self.end:
                    heapq.heappush(self._heap, (self._gap(row), row, self.up[row]))


class _Side:
    """The rows on one side of another row, nearest first, read as far as needed."""

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
    """The board after `moves` moves of an adversary, who drags the board's lowest and topmost pins.
    A job runs at once, or never if `late` says so."""
    board = Board(pins, spacing)
    next_target = targets(board, adversary)
    for number in range(moves):
        row, below = next_target(number)
        asking = board.move(row, below)
        if asking is not None and not late():
            board.job(asking)
    return board


Target = Callable[[int], tuple[int, int]]


def targets(board: Board, adversary: Adversary) -> Target:
    """The next moves of an adversary: the row, and the row directly above which it goes."""
    return _TARGETS[adversary](board)


def _same_side(board: Board) -> Target:
    """Moves that always go directly below one pin."""
    anchor = board.pins // 2

    def target(_: int) -> tuple[int, int]:
        row = board.up[0]
        if row in (anchor, board.down[anchor]):
            row = board.down[board.end]
        below = board.down[anchor]
        return row, below

    return target


def _alternating(board: Board) -> Target:
    """Moves that always go between the two pins that were dragged last."""
    return _between(board, board.pins // 2)


def _between(board: Board, last: int) -> Target:
    def target(number: int) -> tuple[int, int]:
        nonlocal last
        goes_below = number % 2 == 0
        ends = [board.up[0], board.down[board.end]]
        if last in ends:  # another place took it
            last = board.up[last] if last == ends[0] else board.down[last]
        if not goes_below:
            ends.reverse()
        near = (last, board.down[last] if goes_below else board.up[last])
        row = next(end for end in ends if end not in near)
        below = board.down[last] if goes_below else last
        last = row
        return row, below

    return target


def _smallest_gap(board: Board) -> Target:
    """Moves that always go into the smallest gap of the board."""
    return _one_of_the_smallest(board, 1)


def _one_of_the_smallest(board: Board, count: int) -> Target:
    chooser = random.Random(board.pins)

    def target(_: int) -> tuple[int, int]:
        below = chooser.choice(board.narrowest(count))
        return _end(board, chooser, below), below

    return target


def _two_places(board: Board) -> Target:
    """Moves between the two pins that were dragged last at one place, alternating with another
    place."""
    places = [_between(board, board.pins // 3), _between(board, 2 * board.pins // 3)]

    def target(number: int) -> tuple[int, int]:
        return places[number % 2](number // 2)

    return target


def _smallest_at_the_ends(board: Board) -> Target:
    """Moves into the smallest of the eight gaps at the bottom, a thousand times, and then at the
    top."""

    def target(number: int) -> tuple[int, int]:
        is_bottom = number // 1000 % 2 == 0
        steps, row = (board.up, board.up[0]) if is_bottom else (board.down, board.down[board.end])
        rows = [row]
        while len(rows) < 9:
            rows.append(steps[rows[-1]])
        if not is_bottom:
            rows.reverse()
        gaps = [(board.sequence[b] - board.sequence[a], a) for a, b in pairwise(rows)]
        moved: int = board.down[board.end] if is_bottom else board.up[0]
        return moved, min(gaps)[1]

    return target


def _amid_the_spread(board: Board) -> Target:
    """Moves into the middle of the rows that were respaced last, where rows were pressed
    together."""
    chooser = random.Random(board.pins)
    rows, below = board.spread_last, board.spread_last[0]

    def target(_: int) -> tuple[int, int]:
        nonlocal rows, below
        if rows is not board.spread_last:
            rows = board.spread_last
            below = rows[len(rows) // 4]
        while below in (board.up[0], board.down[board.end]):
            below = board.up[board.up[below]] if below == board.up[0] else board.down[below]
        return _end(board, chooser, below), below

    return target


def _end(board: Board, chooser: random.Random, below: int) -> int:
    """An end of the board that does not bound the gap above a row."""
    ends = [board.up[0], board.down[board.end]]
    chooser.shuffle(ends)
    near = (below, board.up[below])
    row: int = next(end for end in ends if end not in near)
    return row


_TARGETS: dict[Adversary, Callable[[Board], Target]] = {
    "same side": _same_side,
    "alternating": _alternating,
    "smallest gap": _smallest_gap,
    "one of the 16 smallest gaps": lambda board: _one_of_the_smallest(board, 16),
    "two places in turn": _two_places,
    "smallest gap at the ends": _smallest_at_the_ends,
    "amid the rows spread last": _amid_the_spread,
}
