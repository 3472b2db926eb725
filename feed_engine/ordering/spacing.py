"""Makes room between crowded rows of an ordered list: chooses the rows, and their new sequences.

It is the problem of maintaining order in a list by labels (Itai, Konheim and Rodeh; Dietz and
Sleator; Bender, Cole, Demaine, Farach-Colton and Zito: Two simplified algorithms for maintaining
order in a list). As in the last of these papers, the smallest sparse enough window is relabelled,
and a larger window has to be sparser. There a label has O(log n) bits and rows are spread evenly;
here it has 126 bits for at most 24 bits' worth of rows, and what is left over buys more: the rows
of a window are pressed towards its ends, each into a sliver of what those before it left, so that
its middle stays wide for further drags into it (as in adaptive packed-memory arrays: Bender and
Hu). docs/order.md states the bound and what adversaries reach.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP
from feed_engine.ordering import order

SLIVER = 4
"""Each row pressed to the ends of a window of w bisections takes a 2^(w/4)th of what is left."""
LEAN = 6
"""How much of the middle lies on the lesser side of the crowded row: this power of a half."""
ASIDE = 1.5
"""The cost of a row in a window whose middle goes aside, because a user who continues to drag
inside it loses room."""
_READ = 128  # rows on each side at first
_GROWTH = 10  # a window that will not do grows by a tenth
_LARGE, _LASTING = 7, 2  # beyond 2⁷ rows a window takes two bisections more for each doubling
_CROWD = 256  # rows on each side that are spread for being crowded too


@dataclass(frozen=True, slots=True)
class Spacing:
    """The conditions and the extent of respacing."""

    threshold: int = 8
    """Bisections that a gap has left when a job is asked to spread its neighbors."""
    room: int = 40
    """Bisections that every gap between spread rows takes then, at least."""
    rows: int = 256
    """Rows rewritten in a transaction at most."""

    def asks(self, lower: int, place: int, upper: int) -> bool:
        """Whether a row put between two asks for a job. Asked once for a region: only the move that
        makes a gap narrow asks, and later moves into narrow gaps don't."""
        left = min(order.bisections(lower, place), order.bisections(place, upper))
        return left < self.threshold <= order.bisections(lower, upper)


SPACING = Spacing()


class Window(NamedTuple):
    """Sequences, both ends not included, and how the rows in between are spread."""

    lower: int
    upper: int
    shift: int = 0
    """Each row takes this power of a half of what those before it left, or less."""
    side: int = 0
    """The side of the free middle: below all of the rows (-1), above all (1), or beside the crowded
    row."""

    def room(self, rows: int) -> int:
        """Bisections that each gap takes, at least, when so many rows are spread."""
        return order.bisections(self.lower, self.upper) - max(self.shift, finest(rows)) - 1

    def spread(self, rows: int, center: int) -> list[int]:
        """Ascending places for so many rows, pressed to both ends: those above row number `center`
        to the upper, those below it to the lower, and itself near the upper ones.

        The gaps shrink towards the middle, and from one spreading to the next, as what is left
        does: so the narrowest is beside the middle, where there is room for the next drags into it.
        """
        (low, high), shift = self[:2], max(self.shift, finest(rows))
        if self.room(rows) < 1:
            return [low + (high - low) * place // (rows + 1) for place in range(1, rows + 1)]
        lows = (center, rows, 0)[self.side]
        above, below = list[int](), list[int]()
        for _ in range(lows if self.side else center + 1, rows):
            high -= (high - low) >> shift
            above.append(high)
        for _ in range(lows):
            low += (high - low) >> shift
            below.append(low)
        if not self.side:
            above.append(high - ((high - low) >> min(shift, LEAN)))
        return [*below, *reversed(above)]


def finest(rows: int) -> int:
    """The least shift with which so many rows leave more than half of a window."""
    return rows.bit_length() + 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The known sequences around a place, nearest first: the sequences at or below the place, and
    the sequences above it. The crowded row is the one at the place, or the nearest."""

    below: Sequence[int]
    above: Sequence[int]
    is_bottom: bool
    """Whether these are all that are below."""
    is_top: bool

    def places(self) -> tuple[list[int], int]:
        """All sequences in ascending order, with bounds where the list ends (below the lowest row,
        a 64th of the free numbers is given away at a time), and the crowded row's number."""
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
"""A generator: it yields the number of rows that it needs on each side, is sent these rows, and
returns its plan."""


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
    """The rows around a crowded one to give room, as the window they lie in. Several windows give
    each gap the requested room. The chosen window has the fewest rows for the square of the room
    beyond that: a wide window lasts.

    `places` are sequences in ascending order, the outermost two of them bounds that stay, and
    `center` is the number of the crowded row's. None: that takes more rows than these.
    """
    low, high = _crowd(places, center, spacing)
    most = order.bisections(places[0], places[-1]) - spacing.room
    rows, best, least = high - low - 1, None, 0.0
    while (at := _widest(places, low, high, rows)) is not None:
        window = _window(places, at, rows, spacing)
        beyond = window.room(rows) - spacing.room
        if beyond >= lasting(rows):
            cost = rows * (ASIDE if window.side else 1) / (beyond + 1) ** 2
            if best is None or cost < least:
                best, least = window, cost
        rows += max(1, rows // _GROWTH)
        if best is not None and rows > least * (most + 1) ** 2:
            break
    return best


def lasting(rows: int) -> int:
    """Bisections beyond the room asked for that a large window has to give, as it is to last."""
    return _LASTING * max(rows.bit_length() - _LARGE, 0)


def _window(places: Sequence[int], at: int, rows: int, spacing: Spacing) -> Window:
    """A window of so many rows above place number `at`. Its middle goes to a side where a narrower
    gap remains outside, because the next drag into that gap needs the room."""
    end = at + rows + 1
    lower, upper = places[at], places[end]
    bits = order.bisections(lower, upper)
    spare = bits - 1 - spacing.room - lasting(rows)
    window = Window(lower, upper, max(finest(rows), min(bits // SLIVER, spare)))
    below = lower - places[at - 1] if at else upper
    above = places[end + 1] - upper if end + 1 < len(places) else upper
    if min(below, above) >> max(window.room(rows), 0):
        return window
    return window._replace(side=-1 if below < above else 1)


def _crowd(places: Sequence[int], center: int, spacing: Spacing) -> tuple[int, int]:
    """The bounds of the run of gaps without the room asked for that a row stands in."""
    narrow, low, high = 1 << spacing.room, center - 1, center + 1
    while low > 0 and center - low < _CROWD and places[low + 1] - places[low] < narrow:
        low -= 1
    last = len(places) - 1
    while high < last and high - center < _CROWD and places[high] - places[high - 1] < narrow:
        high += 1
    return low, high


def _widest(places: Sequence[int], low: int, high: int, rows: int) -> int | None:
    """The number of the lower bound of the widest window of so many rows whose bounds are at `low`
    or below, and `high` or above."""
    span = rows + 1
    return max(
        range(max(0, high - span), min(low, len(places) - 1 - span) + 1),
        key=lambda at: places[at + span] - places[at],
        default=None,
    )
