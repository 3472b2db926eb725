"""Pages of a visit: its own chunk, then what earlier visits were shown, newest first.

The list of a visit of generation g has all generations up to g, in descending order. The user's
shard returns the newest visits and every unsaved visit. All other visits are on both sides of the
materialized feed; either side is read from the place that was reached. Later writes never change
the list: later visits have higher generations, and a pin is chosen once. So a page is the same
whether the primary or a delayed standby returns it.
"""

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from itertools import groupby

from datasources.errors import StoreError
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.rows import Place, before_generation, parse_place, place_column
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart import materialized
from feed_engine.feeds.smart.materialized import ShownPin
from feed_engine.feeds.visible import Visible
from feed_engine.feeds.visits import Remembered
from feed_engine.speculation import Side

LEAST = 50  # saved pins in a read, at least


class Saved:
    """A viewer's materialized feed after a place, read as far as it is needed."""

    def __init__(self, feeds: Feeds, viewer_id: int, after: Place | None, limit: int) -> None:
        self._feeds, self._viewer_id, self._limit = feeds, viewer_id, max(limit, LEAST)
        self._start = self._after = None if after is None else place_column(after)
        self._cells: list[Cell] = []
        self._reads = 0
        self.ended = False
        # The worse side that answered; None: no side did, or no further read is possible.
        self.side: Side | None = None

    async def read(self) -> None:
        """Read further. When neither side answers, `side` is None and the feed ends here."""
        self._reads += 1

        async def page(store: WideColumnStore) -> list[Cell]:
            return await materialized.read(store, self._viewer_id, self._after, self._limit)

        try:
            raced = await self._feeds.feeds_race(
                page, kind=("materialized", self._limit.bit_length())
            )
        except StoreError:
            self.side, self.ended = None, True
            return
        if self.side is not Side.STANDBY:
            self.side = raced.side
        self._cells += raced.value
        self.ended = len(raced.value) < self._limit
        if raced.value:
            self._after = raced.value[-1].column

    @property
    def newest(self) -> int:
        """The newest generation among the pins read so far; 0 if there are none."""
        return _generation(self._cells[0]) if self._cells else 0

    async def upto(self, generation: int, told: Collection[int]) -> None:
        """Read down to a generation, if the pins read so far begin with later generations.
        Afterwards, all generations from there on are known or among `told`.

        The first read of the materialized feed ran at the same time as the read of the shard. A
        visit that was saved between the two reads is in neither answer, and is read again here.
        """
        self._cells = [cell for cell in self._cells if _generation(cell) <= generation]
        unread = not self._cells and not self.ended
        if unread or (self._reads == 1 and not self.failed and self._lacks(generation, told)):
            self._cells, self.ended = [], False
            self._after = max(self._start or b"", before_generation(generation))
            await self.read()

    def _lacks(self, generation: int, told: Collection[int]) -> bool:
        """Whether the pins read so far miss generations. A visit without pins counts as missing."""
        last = 1 if self.ended else _generation(self._cells[-1])
        there = {_generation(cell) for cell in self._cells}.union(told)
        return sum(last <= g <= generation for g in there) < generation - last + 1

    def pins(self) -> Iterator[int]:
        """The ids of the pins read so far."""
        return (materialized.shown(cell).pin_id for cell in self._cells)

    def take(self) -> list[ShownPin]:
        """The entries read since the last call, the newest generation first."""
        cells, self._cells = self._cells, []
        return [materialized.shown(cell) for cell in cells]

    @property
    def failed(self) -> bool:
        return self.ended and self.side is None


def _generation(cell: Cell) -> int:
    return parse_place(cell.column).generation


async def visit_pins(
    generation: int, known: Sequence[Remembered], saved: Saved, after: Place | None
) -> AsyncGenerator[list[ShownPin], None]:
    """The list of the visit of `generation` after a place, in pieces. Sources are the visits that
    the shard returned (newest first) and the materialized feed after the same place. Each pin has
    the reason for which it was first shown.

    If neither side answers, the list ends at the first generation that only the materialized feed
    has. An earlier generation would skip pins that later pages can't return to.
    """
    told = {visit.generation: visit for visit in known if visit.generation <= generation}
    newest_of: dict[int, int] = {}
    for visit in sorted(told.values(), key=lambda visit: visit.generation):
        newest_of.update((pin_id, visit.generation) for pin_id, _ in visit.chunk.pins)

    def once(of: int, pins: Iterable[ShownPin]) -> list[ShownPin]:
        """The entries without the pins that were chosen again later, while no store could say what
        had been shown."""
        return [pin for pin in pins if newest_of.get(pin.pin_id, 0) <= of]

    def chunk(of: int) -> list[ShownPin]:
        start = after.position + 1 if after is not None and after.generation == of else 0
        pins = enumerate(told[of].chunk.pins[start:], start)
        return once(of, [ShownPin(Place(of, at), pin_id, reason) for at, (pin_id, reason) in pins])

    current = generation if after is None else after.generation
    while current in told:
        yield chunk(current)
        current -= 1
    if current == 0:
        return
    await saved.upto(current, told)
    rest = sorted((earlier for earlier in told if earlier < current), reverse=True)
    while True:
        for at, pins in groupby(saved.take(), key=lambda pin: pin.place.generation):
            while rest and rest[0] >= at:
                yield chunk(rest.pop(0))
            if at not in told:
                yield once(at, pins)
        if saved.ended:
            break
        await saved.read()
    if not saved.failed:
        for earlier in rest:
            yield chunk(earlier)


async def fill(
    pieces: AsyncIterator[list[ShownPin]],
    first: int,
    visible: Visible,
    kept: Callable[[Pin], bool] = lambda _: True,
) -> tuple[list[tuple[ShownPin, Pin]], bool]:
    """A full page of pins that the viewer may see and that are `kept`, and whether another page
    follows. `kept` is asked about the pins in their order."""
    page: list[tuple[ShownPin, Pin]] = []
    waiting: list[ShownPin] = []
    more, least = True, 1
    while len(page) <= first and (waiting or more):
        missing = max(first + 1 - len(page), least)
        least = LEAST  # where many pins are hidden, later reads are not smaller than this
        while more and len(waiting) < missing:
            piece = await anext(pieces, None)
            more = piece is not None
            waiting += piece or ()
        some, waiting = waiting[:missing], waiting[missing:]
        seen = await visible([item.pin_id for item in some]) if some else {}
        there = ((item, seen[item.pin_id]) for item in some if item.pin_id in seen)
        page += [(item, pin) for item, pin in there if kept(pin)]
    return page[:first], len(page) > first
