"""The job that spreads the neighbours of a narrow gap on a board, before there is no room at all.

After the order-maintenance literature (Bender, Cole, Demaine, Farach-Colton, Zito: Two simplified
algorithms for maintaining order in a list): the window around the gap grows until its rows are few
enough for its width. A wider window has to be emptier, so that those within it may fill up many
times before it has to be spread again. Half of the room goes to the place that was crowded.

Each transaction goes by the rows as they are then, under the list's lock, and leaves their order as
it was: so it may be repeated, killed, and mixed with any other writes.
"""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, NamedTuple

from datasources.ids import shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from feed_engine import order
from feed_engine.change import Advance, Change, Respace, Task, change
from feed_engine.writes.commit import commit
from feed_engine.writes.respace import in_order, relabel

THRESHOLD = 8  # bisections that a gap has left when its neighbours are to be spread
ROOM = 42  # bisections that every gap takes then: half of what a millisecond does
ROWS = 256  # rewritten in a transaction at most
EMPTIER = 1.2  # how many times the rows a window of twice the width may hold
_FRESH = SEQUENCE_STEP // 16  # gaps as wide as that need nothing done, however many
_READ = 64  # rows at a time


class Window(NamedTuple):
    """Sequences, both ends not included."""

    lower: int
    upper: int


async def respace(stores: Stores, task: Respace, cursor: bytes | None, advance: Advance) -> None:
    """Spread the fewest rows around a place that make every gap there take ROOM bisections, ROWS
    of them a transaction. The cursor is the window that is being spread."""
    key = ListKey(Mapping.BOARD_HAS_PINS, task.board_id)
    window = _decoded(cursor)
    while True:
        log = await stores.shards.mappings.respacings(key, task.era)
        center = order.translate(int(task.around), log)
        window, more = await _spread_some(stores, key, center, window)
        if window is None or not more:
            return
        await advance(f"{window.lower} {window.upper}".encode())


Handler = Callable[[Stores, Any, bytes | None, Advance], Awaitable[None]]
HANDLERS: dict[type[Task], Handler] = {Respace: respace}


async def _spread_some(
    stores: Stores, key: ListKey, center: int, window: Window | None
) -> tuple[Window | None, bool]:
    """One transaction: the window (None: there is nothing to do), and whether more is left."""
    chosen: list[tuple[Window | None, bool]] = []

    async def work(tx: ShardTx) -> Change:
        chosen.clear()  # of a try that lost a deadlock
        around = _Around(tx, key, center)
        found = window or await _choose(around)
        moves = []
        if found is not None:
            below, above = await around.within(found)
            rows = [*reversed(below), *above]
            places = order.widened(*found, len(below), len(above))
            near = 0
            if len(rows) > ROWS:  # rows that came meanwhile shift all others' places a little
                near = (found.upper - found.lower) // (8 * len(rows))
            pairs = zip(rows, places, strict=True)
            moves = in_order([(row, to) for row, to in pairs if abs(to - row.sequence) > near])
        await relabel(tx, key, moves[:ROWS])
        chosen.append((found, len(moves) > ROWS))
        return change(lists=[key] if moves else [])

    await commit(stores, shard_of(key.from_id), work)
    return chosen[-1]


async def _choose(around: "_Around") -> Window | None:
    """The narrowest window about the center that is empty enough; None if no gap is narrow."""
    if await around.is_roomy():
        return None
    bits = ROOM + 2
    while True:
        half = 1 << (bits - 1)
        window = Window(max(0, around.center - half), min(order.HIGHEST, around.center + half))
        below, above = await around.within(window)
        if fits(window, len(below) + len(above)):
            return window
        bits += 1


def fits(window: Window, rows: int) -> bool:
    """Whether a window is empty enough to be spread."""
    width = window.upper - window.lower
    share = width // (2 * (rows + 1))
    levels = width.bit_length() - 1 - ROOM
    return share >= _FRESH or (share >= 1 << ROOM and rows < EMPTIER**levels)


class _Around:
    """The rows on both sides of a place, read as far as they are asked for."""

    def __init__(self, tx: ShardTx, key: ListKey, center: int) -> None:
        self._tx, self._key, self.center = tx, key, center
        self._below, self._above = list[Edge](), list[Edge]()  # nearest first
        self._bottom = self._top = False

    async def within(self, window: Window) -> tuple[list[Edge], list[Edge]]:
        """The rows at or below the place, and those above it, nearest first."""
        while not self._bottom and (not self._below or self._below[-1].sequence > window.lower):
            start = self._below[-1].sequence if self._below else self.center + 1
            count = max(_READ, len(self._below))
            rows = await self._tx.rows_below(self._key, start, count)
            self._below += rows
            self._bottom = len(rows) < count
        while not self._top and (not self._above or self._above[-1].sequence < window.upper):
            start = self._above[-1].sequence if self._above else self.center
            count = max(_READ, len(self._above))
            rows = await self._tx.rows_above(self._key, start, count)
            self._above += rows
            self._top = len(rows) < count
        return (
            [row for row in self._below if window.lower < row.sequence < window.upper],
            [row for row in self._above if window.lower < row.sequence < window.upper],
        )

    async def is_roomy(self) -> bool:
        """Whether the gaps next to the place take ROOM bisections."""
        await self.within(Window(self.center, self.center + 1))
        near = [row.sequence for row in (*self._above[:1], *self._below[:2])]
        if not self._below[1:]:
            near.append(0)
        return all(order.bisections(b, a) >= ROOM for a, b in pairwise(near))


def _decoded(cursor: bytes | None) -> Window | None:
    if cursor is None:
        return None
    lower, upper = cursor.split()
    return Window(int(lower), int(upper))
