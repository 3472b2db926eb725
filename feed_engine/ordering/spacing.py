"""Makes room between crowded rows of an ordered list: chooses the rows and their new sequences.

This is the problem of maintaining order in a list by labels (Itai, Konheim and Rodeh; Dietz and
Sleator; Bender, Cole, Demaine, Farach-Colton and Zito: Two simplified algorithms for maintaining
order in a list). As in the last of these papers, the smallest window that is sparse enough is
relabelled, and a larger window has to be sparser. In the paper a label has O(log n) bits and rows
are spread evenly. Here a label has 126 bits for at most 24 bits' worth of rows. The additional bits
are used for this: the rows of a window are pressed towards its ends, each into a small part of the
room that the rows before it left, so that the window's middle stays wide for further drags into it
(as in adaptive packed-memory arrays: Bender and Hu). docs/order.md states the bound and what
adversaries reach.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from datasources.mappings import SEQUENCE_STEP
from feed_engine.ordering import order

SLIVER = 4
"""Each row that is pressed to the ends of a window of w bisections takes 1/2^(w/4) of the room that
is left."""
LEAN = 6
"""The part of the middle that lies on the smaller side of the crowded row: 1/2^LEAN."""
ASIDE = 1.5
"""The factor on the cost of a window whose middle does not lie beside the crowded row. It stands
for the room that a user loses who continues to drag there."""
_READ = 128  # rows on each side in the first read
_GROWTH = 10  # a window that is not sparse enough grows by a tenth
_LARGE, _LASTING = 7, 2  # beyond 2⁷ rows, a window needs two more bisections for each doubling
_CROWD = 256  # rows on each side that are included because they are crowded, too


@dataclass(frozen=True, slots=True)
class Spacing:
    """The conditions and the extent of respacing."""

    threshold: int = 8
    """Bisections left in a gap when a job is requested to respace its neighbors."""
    room: int = 40
    """Bisections that every gap between respaced rows has afterwards, at least."""
    rows: int = 256
    """Rows rewritten in a transaction, at most."""

    def asks(self, lower: int, place: int, upper: int) -> bool:
        """Whether a row that is placed between two rows requests a job. Only the move that makes a
        gap narrow does; later moves into narrow gaps don't."""
        left = min(order.bisections(lower, place), order.bisections(place, upper))
        return left < self.threshold <= order.bisections(lower, upper)


SPACING = Spacing()


class Window(NamedTuple):
    """Sequences, both ends exclusive, and how the rows in between are spread."""

    lower: int
    upper: int
    shift: int = 0
    """Each row takes at most this power of a half of the room that the rows before it left."""
    side: int = 0
    """The place of the free middle: below all rows (-1), above all rows (1), or beside the crowded
    row (0)."""

    def room(self, rows: int) -> int:
        """Bisections in each gap, at least, after `rows` rows are spread."""
        return order.bisections(self.lower, self.upper) - max(self.shift, finest(rows)) - 1

    def spread(self, rows: int, center: int) -> list[int]:
        """Ascending places for `rows` rows, pressed to both ends: the rows above row number
        `center` to the upper end, the rows below it to the lower end. Row `center` itself is near
        the upper rows.

        The gaps shrink towards the middle, and from one respacing to the next, in proportion to the
        room that is left. So the narrowest gap is beside the middle, where there is room for the
        next drags.
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
    """The least shift with which `rows` rows leave more than half of a window free."""
    return rows.bit_length() + 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The known sequences around a place, nearest first: the sequences at or below the place, and
    the sequences above it. The crowded row is the row at the place, or the nearest row."""

    below: Sequence[int]
    above: Sequence[int]
    is_bottom: bool
    """Whether `below` has all rows below the place."""
    is_top: bool

    def places(self) -> tuple[list[int], int]:
        """All sequences in ascending order, with bounds where the list ends, and the crowded row's
        index. The lower bound leaves 63/64 of the free numbers below the lowest row for later
        respacings."""
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
        """Whether the gaps beside the place are wide enough."""
        if not self.below and not self.above:
            return True
        places, center = self.places()
        gaps = pairwise(places[max(center - 1, 0) : center + 2])
        return all(order.bisections(lower, upper) >= spacing.room for lower, upper in gaps)


Search = Generator[int, Surroundings, Window | None]
"""A generator. It yields the number of rows that it needs on each side, is sent these rows, and
returns its plan."""


def crowded(spacing: Spacing) -> Search:
    """The window to respace around a place; None if the gaps beside the place have room."""
    if (yield _READ).is_roomy(spacing):
        return None
    return (yield from window(spacing))


def window(spacing: Spacing) -> Search:
    """The window to respace around a place."""
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
    """The window of rows around a crowded row that is to be respaced. Of the windows that give each
    gap the requested room, the chosen window has the lowest cost: its number of rows, divided by
    the square of the room beyond the requested room. A wide window lasts longer.

    `places` are sequences in ascending order; the outermost two are bounds that stay. `center` is
    the index of the crowded row. None if more rows are needed than `places` has.
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
    """Additional bisections that a large window must provide, so that it lasts."""
    return _LASTING * max(rows.bit_length() - _LARGE, 0)


def _window(places: Sequence[int], at: int, rows: int, spacing: Spacing) -> Window:
    """A window of `rows` rows above place number `at`. Its middle lies on the side where a narrower
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
    """The bounds of the run of gaps, around row `center`, that have less than the requested
    room."""
    narrow, low, high = 1 << spacing.room, center - 1, center + 1
    while low > 0 and center - low < _CROWD and places[low + 1] - places[low] < narrow:
        low -= 1
    last = len(places) - 1
    while high < last and high - center < _CROWD and places[high] - places[high - 1] < narrow:
        high += 1
    return low, high


def _widest(places: Sequence[int], low: int, high: int, rows: int) -> int | None:
    """The index of the lower bound of the widest window of `rows` rows whose bounds are at `low` or
    below, and at `high` or above."""
    span = rows + 1
    return max(
        range(max(0, high - span), min(low, len(places) - 1 - span) + 1),
        key=lambda at: places[at + span] - places[at],
        default=None,
    )
