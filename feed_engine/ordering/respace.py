"""Makes room between crowded rows of a list, inside a transaction that holds the list's lock.

Each transaction uses the rows as they are at that moment, and keeps their order. So it may be
repeated, killed, and mixed with any other writes.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from datasources.errors import StoreConflict
from datasources.ids import shard_of
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from feed_engine.live.events import BoardChange, BoardEvent
from feed_engine.ordering import order
from feed_engine.ordering.spacing import (
    SPACING,
    Search,
    Spacing,
    Surroundings,
    Window,
    crowded,
    window,
)
from feed_engine.outbox.change import Change, change
from feed_engine.transactions.commit import commit

READ = 64  # rows in a read
_RELIEFS = 100  # attempts to make room for one reorder; no test needed more than one

Step = Callable[[ListKey, int], Awaitable[Edge | None]]
"""`ShardTx.above` or `ShardTx.below`."""
Move = tuple[Edge, int]
"""A row and its new sequence."""
T = TypeVar("T")


class Crowded(Exception):
    """No room at a place, and making room takes more rows than one transaction may rewrite. The
    exception rolls the transaction back; see `with_room`."""

    def __init__(self, key: ListKey, sequence: int, era: int) -> None:
        super().__init__(f"no room around {sequence} of {key}")
        self.key, self.sequence, self.era = key, sequence, era


class Part(NamedTuple):
    """The result of one transaction of a respacing. `window` is None if no row is crowded there."""

    window: Window | None
    more: bool = False


async def with_room(
    stores: Stores, write: Callable[[], Awaitable[T]], spacing: Spacing = SPACING
) -> T:
    """Do a write. If it raises Crowded, respace the rows there, in as many transactions as
    necessary, and repeat the write. Raises StoreConflict when other writes take the room each time,
    and whatever else the write raises."""
    reliefs = 0
    while True:
        try:
            return await write()
        except Crowded as place:
            if reliefs == _RELIEFS:
                raise StoreConflict(
                    f"{place}, and other writes take all room that is made"
                ) from place
            await relieve(stores, place, spacing)
            reliefs += 1


async def relieve(stores: Stores, place: Crowded, spacing: Spacing) -> None:
    """Respace the rows around a place that has no room."""
    part = Part(None, more=True)
    while part.more:
        log = await stores.shards.mappings.respacings(place.key, place.era)
        center = order.translate(place.sequence, log)
        part = await spread_some(stores, place.key, center, part.window, spacing)


async def spread_some(
    stores: Stores, key: ListKey, center: int, begun: Window | None, spacing: Spacing
) -> Part:
    """One transaction: continue with a window, or begin with the fewest rows around a place."""
    done: list[Part] = []

    async def work(tx: ShardTx) -> Change:
        before = (await tx.head(key)).version
        done.clear()  # from an attempt that lost a deadlock
        around = Neighbors(tx, key, center)
        found = begun or await around.find(crowded(spacing))
        if found is None:
            done.append(Part(None))
            return change()
        rows, at = await around.within(found)
        if not rows:  # other writes moved all rows of the window elsewhere
            done.append(Part(None))
            return change()
        places = found.spread(len(rows), at)
        near = 0
        if len(rows) > spacing.rows:  # rows that came in the meantime shift all places a little
            near = 1 << max(found.room(len(rows)) - 3, 0)
        moves = [
            (row, to) for row, to in zip(rows, places, strict=True) if abs(to - row.sequence) > near
        ]
        await relabel(tx, key, in_order(moves)[: spacing.rows])
        done.append(Part(found, len(moves) > spacing.rows))
        if not moves:
            return change()
        if key.mapping is not Mapping.BOARD_HAS_PINS:  # no stream follows the list's version
            return change(lists=[key])
        told = BoardEvent(
            board_id=key.from_id,
            change=BoardChange.PLACES,
            before=before,
            version=(await tx.head(key)).version,
        )
        return change(lists=[key], events=[told])

    await commit(stores, shard_of(key.from_id), work)
    return done[-1]


async def make_room(
    tx: ShardTx,
    key: ListKey,
    moved: Edge,
    below: Edge | None,
    above: Edge | None,
    spacing: Spacing = SPACING,
) -> int:
    """Respace rows around the gap between `below` and `above` (None: the list's end), and return a
    free sequence in the gap for `moved`, which keeps its own row. The list is locked.

    Raises Crowded.
    """
    beside = below or above
    assert beside is not None
    around = Neighbors(tx, key, beside.sequence, moved)
    found = await around.find(window(spacing))
    assert found is not None
    rows, at = await around.within(found)
    if len(rows) > spacing.rows:
        raise Crowded(key, beside.sequence, await tx.era(key))
    places = dict(zip((row.to_id for row in rows), found.spread(len(rows), at), strict=True))
    # The moved row's own sequence is still taken; places are at least two apart.
    places = {id: to + (to == moved.sequence) for id, to in places.items()}
    await relabel(tx, key, in_order([(row, places[row.to_id]) for row in rows]))
    lower = found.lower if below is None else places.get(below.to_id, below.sequence)
    upper = found.upper if above is None else places.get(above.to_id, above.sequence)
    place = order.bisect(lower, upper)
    assert place is not None
    return place


def in_order(moves: Sequence[Move]) -> list[Move]:
    """The moves that change a sequence, in an order in which each single move keeps the rows' order
    and no two rows share a sequence: first the rows that rise, from the top; then the rows that
    sink, from the bottom."""
    rising = [(row, to) for row, to in reversed(moves) if to > row.sequence]
    sinking = [(row, to) for row, to in moves if to < row.sequence]
    return rising + sinking


async def relabel(tx: ShardTx, key: ListKey, moves: Sequence[Move]) -> None:
    """Give rows new sequences, and record the respacing for places that were named before."""
    for row, to in moves:
        await tx.put_edge(key.mapping, row._replace(sequence=to, version=row.version + 1))
    if moves:
        await tx.respaced(key, sorted((row.sequence, to) for row, to in moves))


async def next_row(step: Step, key: ListKey, row: Edge, without: int) -> Edge | None:
    """The row next to another row in one direction, ignoring the row to `without`."""
    found = await step(key, row.sequence)
    return await step(key, found.sequence) if found and found.to_id == without else found


class Neighbors:
    """The rows around a place, read as far as needed, ignoring the row to `without`. The crowded
    row is the row at the place, or the nearest row."""

    def __init__(self, tx: ShardTx, key: ListKey, center: int, without: Edge | None = None) -> None:
        self._tx, self._key, self._center = tx, key, center
        self._without = without.to_id if without else 0
        self._below, self._above = list[Edge](), list[Edge]()  # nearest first
        self._bottom = self._top = False  # whether all rows to this end were read

    async def find(self, search: Search) -> Window | None:
        """The window that a search finds here."""
        reach = next(search)
        while True:
            await self._read(reach)
            below = [row.sequence for row in self._below[:reach]]
            above = [row.sequence for row in self._above[:reach]]
            is_bottom = self._bottom and len(self._below) <= reach
            is_top = self._top and len(self._above) <= reach
            known = Surroundings(below, above, is_bottom, is_top)
            try:
                reach = search.send(known)
            except StopIteration as done:
                found: Window | None = done.value
                return found

    async def within(self, span: Window) -> tuple[list[Edge], int]:
        """The rows in a window, ascending, and the index among them of the row at the place."""
        reach = READ
        await self._read(reach)
        while not (
            (self._bottom or self._below[-1].sequence <= span.lower)
            and (self._top or self._above[-1].sequence >= span.upper)
        ):
            reach *= 2
            await self._read(reach)
        below = [row for row in reversed(self._below) if span.lower < row.sequence < span.upper]
        above = [row for row in self._above if span.lower < row.sequence < span.upper]
        return below + above, max(len(below) - 1, 0)

    async def _read(self, reach: int) -> None:
        """Read at least `reach` rows on each side, if they exist."""
        while not self._bottom and len(self._below) < reach:
            start = self._below[-1].sequence if self._below else self._center + 1
            count = reach - len(self._below) + 1
            rows = await self._tx.rows_below(self._key, start, count)
            self._below += [row for row in rows if row.to_id != self._without]
            self._bottom = len(rows) < count
        while not self._top and len(self._above) < reach:
            start = self._above[-1].sequence if self._above else self._center
            count = reach - len(self._above) + 1
            rows = await self._tx.rows_above(self._key, start, count)
            self._above += [row for row in rows if row.to_id != self._without]
            self._top = len(rows) < count
