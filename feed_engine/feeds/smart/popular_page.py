"""Pages of popular pins, for visitors without a token: merged from the rows of popular pins.

The pages keep the limits of an owner and a board (`diversity`), and each has a picture once. A pin
for which a page has no place is left out, and not deferred: nothing is kept of a visitor. A cursor
is a place in the order by hotness, with hashes of the groups of the pins shown last. If too few of
the next pins fit, a page's limits give way as a whole, and it leaves out nothing.
"""

import asyncio
import itertools
import struct
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from datasources.errors import BadInput, StoreError
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds import cursors
from feed_engine.feeds.cursors import CursorKind
from feed_engine.feeds.rows import FORMER_POPULAR_ROW, POOLS, POPULAR_ROWS, Reason, parse_pool
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart.diversity import WINDOW, Groups, Places
from feed_engine.feeds.smart.results import Health, HomeItem, HomePage
from feed_engine.feeds.visible import Visible
from feed_engine.speculation import Side

LEAST = 50  # cells in a page, at least
LOOKED_AT = 8
"""The visible pins among which a page is chosen, in pages (of `LEAST` pins at least)."""
_COLUMN = 16  # bytes of a cell's column
_GROUPS = struct.Struct(">II")  # the hashes of a pin's groups in a cursor
SHARE = 4
"""A read takes a quarter of a page from each row: twice the part of a page that an average row has.
So one read nearly always completes a page."""


async def popular_page(
    feeds: Feeds, first: int, after: str | None, visit: str, visible: Visible
) -> HomePage:
    """`first` popular pins after a cursor, the hottest first. Raises BadInput."""
    column, earlier = (None, []) if after is None else decoded(after)
    size = max(first + 1, LEAST)
    found: list[_Placed] = []
    chosen = _Chosen(earlier)
    sides: set[Side | None] = set()
    known: set[int] = set()
    async for cells in _pages(feeds, column, size, sides):
        # A pin whose hotness is changing at this moment may have two cells.
        fresh = {parse_pool(c.column).pin_id: c.column for c in reversed(cells)}
        fresh = {p: c for p, c in fresh.items() if p not in known}
        known.update(fresh)
        seen = await visible(list(fresh)) if fresh else {}
        more = sorted((c, seen[p]) for p, c in fresh.items() if p in seen)
        found += more
        for one in more:
            chosen.offer(one)
        if len(chosen.pins) > first or len(found) >= LOOKED_AT * size:
            break
    page = chosen.pins if len(chosen.pins) > first else found
    side = None if None in sides else Side.STANDBY if Side.STANDBY in sides else Side.PRIMARY
    return HomePage(
        items=list(_items(earlier, page[:first])),
        has_next=len(page) > first,
        visit=visit,
        health=Health(side, None, may_be_stale=side is not Side.PRIMARY),
    )


_Placed = tuple[bytes, Pin]
"""A pin with its place: the column of its cell."""


class _Chosen:
    """The pins that a page takes, in their order. `earlier` are the groups of pins before it."""

    def __init__(self, earlier: Iterable[Groups]) -> None:
        self.pins: list[_Placed] = []
        self._places, self._pictures = Places(), set[int]()
        for groups in earlier:
            self._places.place(groups)

    def offer(self, one: _Placed) -> None:
        """Take the pin if the limits allow it as the next one."""
        _, pin = one
        groups = _groups_of(pin)
        if pin.root not in self._pictures and self._places.blocking(groups) is None:
            self._pictures.add(pin.root)
            self._places.place(groups)
            self.pins.append(one)


def _groups_of(pin: Pin) -> Groups:
    """Hashes of the pin's owner and board."""
    return tuple(crc32(id.to_bytes(8, "big")) for id in (pin.owner_id, pin.board_id))


def _items(earlier: Sequence[Groups], page: Iterable[_Placed]) -> Iterator[HomeItem]:
    last = deque(earlier, WINDOW - 1)
    for column, pin in page:
        last.append(_groups_of(pin))
        yield HomeItem(pin, Reason.POPULAR, encoded(column, last))


def encoded(column: bytes, groups: Iterable[Groups]) -> str:
    """The cursor of a place, with the groups of the last pins."""
    place = column + b"".join(itertools.starmap(_GROUPS.pack, groups))
    return cursors.encode(CursorKind.POPULAR_2, place)


def decoded(cursor: str) -> tuple[bytes, list[Groups]]:
    """The column of a cursor, and the groups of the last pins. Raises BadInput."""
    try:
        most = _COLUMN + (WINDOW - 1) * _GROUPS.size
        place = cursors.decode(CursorKind.POPULAR_2, cursor, least=_COLUMN, most=most)
    except BadInput:  # of an earlier version
        return cursors.decode(CursorKind.POPULAR_1, cursor, least=_COLUMN), []
    column, groups = place[:_COLUMN], place[_COLUMN:]
    if len(groups) % _GROUPS.size:
        raise cursors.wrong()
    return column, list(_GROUPS.iter_unpack(groups))


async def _pages(
    feeds: Feeds, after: bytes | None, limit: int, sides: set[Side | None]
) -> AsyncIterator[list[Cell]]:
    """The popular pool in pages of up to `limit` cells. Adds to `sides` the sides that answered, or
    None where neither did."""
    share = limit // SHARE + 1
    while True:

        async def read(store: WideColumnStore, after: bytes | None = after) -> _Merged:
            rows = [*POPULAR_ROWS, FORMER_POPULAR_ROW]
            reads = (store.read(POOLS, row, after=after, limit=share) for row in rows)
            return _merged(await asyncio.gather(*reads), share)

        try:
            raced = await feeds.pools_race(read, kind=("popular", share.bit_length()))
        except StoreError:
            sides.add(None)
            return
        sides.add(raced.side)
        cells, after = raced.value
        for start in range(0, len(cells), limit):
            yield cells[start : start + limit]
        if after is None:
            return


class _Merged(NamedTuple):
    """Cells of all rows in order, and the column from which to read on (None: no more cells)."""

    cells: list[Cell]
    after: bytes | None


def _merged(rows: list[list[Cell]], limit: int) -> _Merged:
    """Merge what was read of each row. A row that may have more cells than `limit` is known up to
    its last one, so no cell after the first such place is in order yet."""
    cells = sorted(itertools.chain(*rows), key=lambda cell: cell.column)
    after = min((row[-1].column for row in rows if len(row) == limit), default=None)
    if after is not None:
        cells = [cell for cell in cells if cell.column <= after]
    return _Merged(cells, after)
