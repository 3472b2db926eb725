"""How crowded rows of an ordered list are given room again: which of them, and where they go.

It is the problem of maintaining order in a list by labels (Itai, Konheim and Rodeh; Dietz and
Sleator; Bender, Cole, Demaine, Farach-Colton and Zito: Two simplified algorithms for maintaining
order in a list). There a label has O(log n) bits, and O(log n) rows are relabelled for each
insertion, amortized. Here it has 126 bits for at most 24 bits' worth of rows, and what is left over
buys more: a row that was just put into a gap is pressed to the gap's edge once, together with all
that came with it, and takes hardly any of it. So the middle stays as wide as it was, for as long
again. docs/order.md states the bound and what adversaries reach.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP
from feed_engine import order

HEADROOM = 10
"""Bisections that the middle of a spread window has before its edges, where rows are pressed to."""
LEAN = 6
"""How much of the middle lies on the lesser side of the crowded row: this power of a half."""
FEW = 8
"""Rows that are spread evenly instead, where so few have a wide gap beside them."""
AMPLE = 16
"""Bisections beyond the room asked for that their gaps take then."""
_READ = 64  # rows on each side at first
_GROWTH = 10  # a window that will not do grows by a tenth
_LARGE, _BITS = 7, 3  # from 2⁷ rows a window gives three bisections more for each doubling
_CROWD = 256  # rows on each side that are spread for being crowded too


@dataclass(frozen=True, slots=True)
class Spacing:
    """When rows are spread, and how far."""

    threshold: int = 8
    """Bisections that a gap has left when a job is asked to spread its neighbors."""
    room: int = 40
    """Bisections that every gap between spread rows takes then."""
    rows: int = 256
    """Rows rewritten in a transaction at most."""

    @property
    def narrow(self) -> int:
        """Bisections under which a gap beside a crowded one is spread along with it."""
        return (self.threshold + self.room) // 2

    def asks(self, lower: int, place: int, upper: int) -> bool:
        """Whether a row put between two asks for a job. Once a region: only the one that makes a
        gap a narrow one asks, those that go into narrow gaps don't."""
        left = min(order.bisections(lower, place), order.bisections(place, upper))
        return left < self.threshold <= order.bisections(lower, upper)


SPACING = Spacing()


class Window(NamedTuple):
    """Sequences, both ends not included."""

    lower: int
    upper: int

    def step(self, rows: int) -> int:
        """How far apart so many rows are spread at least."""
        return self._share(rows) // (rows + 2)

    def spread(self, rows: int, center: int) -> list[int]:
        """Ascending places for so many rows. Where they are more than a few, those below row number
        `center` go to the lower edge, those above it to the upper, and itself between them.

        Most of the middle is left on the side of the more rows, and their gaps shrink towards it:
        the narrowest of all is beside it, so whoever goes for that one finds room next to it.
        """
        width = self.upper - self.lower
        if self._share(rows) == width:
            return [self.lower + width * place // (rows + 1) for place in range(1, rows + 1)]
        near, lean = self.step(rows), width >> LEAN
        far = near + near // 4
        is_low = 2 * center >= rows - 1
        below, above = (near, far) if is_low else (far, near)

        def off(step: int, row: int) -> int:
            return step * row + step * row * (2 * rows - row) // (8 * rows * rows)

        return [
            *(self.lower + off(below, row) for row in range(1, center + 1)),
            self.upper - lean if is_low else self.lower + lean,
            *(self.upper - off(above, rows - row) for row in range(center + 1, rows)),
        ]

    def _share(self, rows: int) -> int:
        width = self.upper - self.lower
        pressed = width >> HEADROOM
        return pressed if rows > FEW and pressed > 2 * rows else width


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The sequences around a place as far as they are known, nearest first: those at it or below
    it, and those above it. The crowded row is the one at the place, or the nearest."""

    below: Sequence[int]
    above: Sequence[int]
    is_bottom: bool
    """Whether these are all that are below."""
    is_top: bool

    def places(self) -> tuple[list[int], int]:
        """All in ascending order, with bounds where the list ends (below the lowest row, a 64th of
        what is there is given away at a time); the crowded row's number."""
        places = [*reversed(self.below), *self.above]
        center = max(len(self.below) - 1, 0)
        if self.is_top:
            step = (places[-1] // SEQUENCE_STEP + 1) * SEQUENCE_STEP
            places.append(min(step, order.HIGHEST))
        if self.is_bottom:
            lowest = places[0]
            places.insert(0, lowest - lowest // 64 if lowest > SEQUENCE_STEP else 0)
            center += 1
        return places, center

    def is_roomy(self, spacing: Spacing) -> bool:
        """Whether the gaps beside the place need nothing done."""
        if not self.below and not self.above:
            return True
        places, center = self.places()
        gaps = pairwise(places[max(center - 1, 0) : center + 2])
        return all(order.bisections(lower, upper) >= spacing.room for lower, upper in gaps)


Search = Generator[int, Surroundings, Window | None]
"""Asks for so many rows on each side, is sent them, and returns what it found."""


def crowded(spacing: Spacing) -> Search:
    """The window to spread around a place; None if the gaps beside it have room."""
    if (yield _READ).is_roomy(spacing):
        return None
    return (yield from window(spacing))


def window(spacing: Spacing) -> Search:
    """The window to spread around a place."""
    reach = _READ
    while True:
        around = yield reach
        places, center = around.places()
        found = choose(places, center, spacing)
        if found is not None:
            return found
        if around.is_bottom and around.is_top:
            return Window(places[0], places[-1])
        reach *= 2


def choose(places: Sequence[int], center: int, spacing: Spacing) -> Window | None:
    """The fewest rows around a crowded one that can be given room, as the window they lie in.

    `places` are sequences in ascending order, the outermost two of them bounds that stay, and
    `center` is the number of the crowded row's. None: that takes more rows than these.
    """
    for rows in range(1, FEW + 1):
        window = _widest(places, center - 1, center + 1, rows)
        if window is not None and window.step(rows) >> spacing.room + AMPLE:
            return window
    low, high = _crowd(places, center, spacing)
    rows = max(high - low - 1, FEW + 1)
    while (window := _widest(places, low, high, rows)) is not None:
        if window.step(rows) >> spacing.room + lasting(rows):
            return window
        rows += max(1, rows // _GROWTH)
    return None


def lasting(rows: int) -> int:
    """Bisections beyond the room asked for that a large window has to give, as it is to last."""
    return min(_BITS * max(rows.bit_length() - _LARGE, 0), AMPLE)


def _crowd(places: Sequence[int], center: int, spacing: Spacing) -> tuple[int, int]:
    """The bounds of the run of narrow gaps that a row stands in."""
    narrow, low, high = 1 << spacing.narrow, center - 1, center + 1
    while low > 0 and center - low < _CROWD and places[low + 1] - places[low] < narrow:
        low -= 1
    last = len(places) - 1
    while high < last and high - center < _CROWD and places[high] - places[high - 1] < narrow:
        high += 1
    return low, high


def _widest(places: Sequence[int], low: int, high: int, rows: int) -> Window | None:
    """The widest window of so many rows whose bounds are at `low` or below, and `high` or above."""
    span = rows + 1
    found = max(
        range(max(0, high - span), min(low, len(places) - 1 - span) + 1),
        key=lambda at: places[at + span] - places[at],
        default=None,
    )
    return None if found is None else Window(places[found], places[found + span])
