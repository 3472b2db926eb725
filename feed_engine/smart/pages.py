"""Pages of a visit: its own chunk, then what earlier visits were shown, newest first.

The list of a visit of generation g is all generations up to g, from g down. Those that the user's
shard tells (the newest ones, and every one not saved) are taken from there; the rest, which both
sides of the materialised feed have, from whichever side answers, by a seek to the place reached.
Nothing that is written later changes the list: later visits have higher generations, and a pin is
chosen once. So a page is the same whether the primary or a standby behind it gives it.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from typing import NamedTuple

from datasources.errors import StoreError
from datasources.protocols import WideColumnStore
from feed_engine.feeds import Feeds
from feed_engine.rows import Place, Reason, before_generation, place_column
from feed_engine.smart import materialized
from feed_engine.smart.materialized import SavedPin
from feed_engine.speculation import Side
from feed_engine.visible import Visible
from feed_engine.visits import Remembered

LEAST = 50  # saved pins a read


class Saved:
    """A viewer's materialised feed from a place on, read as far as it is needed."""

    def __init__(self, feeds: Feeds, viewer_id: int, after: Place | None, limit: int) -> None:
        self._feeds, self._viewer_id, self._limit = feeds, viewer_id, max(limit, LEAST)
        self._start = self._after = None if after is None else place_column(after)
        self._pins: list[SavedPin] = []
        self._reads = 0
        self._ended = False
        self.side: Side | None = None  # the worst that answered; None: none did, or no more

    async def read(self) -> None:
        """Read on. When neither side answers, `side` is None and the feed ends here."""
        self._reads += 1

        async def page(store: WideColumnStore) -> list[SavedPin]:
            return await materialized.read(store, self._viewer_id, self._after, self._limit)

        try:
            raced = await self._feeds.feeds_race(page)
        except StoreError:
            self.side, self._ended = None, True
            return
        if self.side is not Side.STANDBY:
            self.side = raced.side
        self._pins += raced.value
        self._ended = len(raced.value) < self._limit
        if raced.value:
            self._after = place_column(raced.value[-1].place)

    @property
    def newest(self) -> int:
        """The generation that the pins read so far begin with; 0 when there are none."""
        return self._pins[0].place.generation if self._pins else 0

    async def upto(self, generation: int, told: Collection[int]) -> None:
        """Go on to a generation, if what was read begins with later ones; from here on, no
        generation is missing that is not among those `told`.

        The first read ran beside that of the shard: what was saved after the one and before the
        other is in neither, and is read again here.
        """
        self._pins = [pin for pin in self._pins if pin.place.generation <= generation]
        unread = not self._pins and not self._ended
        if unread or (self._reads == 1 and not self.failed and self._lacks(generation, told)):
            self._pins, self._ended = [], False
            self._after = max(self._start or b"", before_generation(generation))
            await self.read()

    def _lacks(self, generation: int, told: Collection[int]) -> bool:
        """Whether what was read has a gap: a visit without pins leaves one as well."""
        last = 1 if self._ended else self._pins[-1].place.generation
        there = {pin.place.generation for pin in self._pins}.union(told)
        return sum(last <= g <= generation for g in there) < generation - last + 1

    async def pins(self) -> AsyncIterator[SavedPin]:
        """From the place on, newest generation first."""
        position = 0
        while True:
            while position < len(self._pins):
                yield self._pins[position]
                position += 1
            if self._ended:
                return
            await self.read()

    @property
    def failed(self) -> bool:
        return self._ended and self.side is None


class PageItem(NamedTuple):
    place: Place
    pin_id: int
    reason: Reason


async def visit_items(
    generation: int, known: Sequence[Remembered], saved: Saved, after: Place | None
) -> AsyncIterator[PageItem]:
    """The list of the visit of `generation` behind a place, from the visits the shard told
    (newest first) and the materialised feed from the same place on.

    Ends at the first generation that only the materialised feed has, if neither side answers: to
    go on with an earlier one would skip pins that a later page can't come back to.
    """
    told = {visit.generation: visit for visit in known if visit.generation <= generation}
    newest_of: dict[int, int] = {}
    for visit in sorted(told.values(), key=lambda visit: visit.generation):
        newest_of.update((pin_id, visit.generation) for pin_id, _ in visit.chunk.pins)

    def item(place: Place, pin_id: int, reason: Reason) -> PageItem | None:
        if newest_of.get(pin_id, 0) > place.generation:
            return None  # chosen again, while nobody could say what had been shown
        new = place.generation == generation
        return PageItem(place, pin_id, reason if new else Reason.SHOWN_BEFORE)

    def chunk(current: int) -> list[PageItem]:
        pins = enumerate(told[current].chunk.pins)
        items = [item(Place(current, position), *pin) for position, pin in pins]
        return [found for found in items if found and _behind(found.place, after)]

    current = generation if after is None else after.generation
    while current in told:
        for found in chunk(current):
            yield found
        current -= 1
    if current == 0:
        return
    await saved.upto(current, told)
    rest = sorted((earlier for earlier in told if earlier < current), reverse=True)
    async for pin in saved.pins():
        while rest and rest[0] >= pin.place.generation:
            for found in chunk(rest.pop(0)):
                yield found
        if pin.place.generation not in told and (saved_item := item(*pin)):
            yield saved_item
    if not saved.failed:
        for earlier in rest:
            for found in chunk(earlier):
                yield found


def _behind(place: Place, after: Place | None) -> bool:
    """Whether a place comes later in the list than another: a lower generation, or further on."""
    return after is None or (-place.generation, place.position) > (
        -after.generation,
        after.position,
    )


async def fill(
    items: AsyncIterator[PageItem], first: int, visible: Visible
) -> tuple[list[PageItem], bool]:
    """A full page of items whose pins the viewer may see, and whether another follows."""
    page: list[PageItem] = []
    while len(page) <= first:
        some = [item async for item in _take(items, first + 1 - len(page))]
        seen = await visible([item.pin_id for item in some]) if some else {}
        page += [item for item in some if item.pin_id in seen]
        if not some:
            break
    return page[:first], len(page) > first


async def _take(items: AsyncIterator[PageItem], count: int) -> AsyncIterator[PageItem]:
    for _ in range(count):
        item = await anext(items, None)
        if item is None:
            return
        yield item
