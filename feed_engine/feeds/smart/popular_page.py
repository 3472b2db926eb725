"""Pages of popular pins, for visitors without a token: merged from the rows of popular pins.

A page keeps the limits of an owner and a board (`diversity`), and has each picture once. A pin for
which a page has no place is left out, and not deferred: nothing is kept of a visitor, and a cursor
is a place in the order by hotness. If too few pins near the page fit, its limits give way as a
whole, and nothing is left out.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import NamedTuple

from datasources.errors import StoreError
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds import cursors
from feed_engine.feeds.cursors import CursorKind
from feed_engine.feeds.rows import FORMER_POPULAR_ROW, POOLS, POPULAR_ROWS, Reason, parse_pool
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.smart.diversity import Places
from feed_engine.feeds.smart.results import Health, HomeItem, HomePage
from feed_engine.feeds.visible import Visible
from feed_engine.speculation import Side

LEAST = 50  # cells in a page, at least
LOOKED_AT = 4
"""The pins among which a page is chosen, at most, in pages of `LEAST` pins or more."""
SHARE = 4
"""A read takes a quarter of a page from each row: twice the part of a page that an average row has.
So one read nearly always completes a page."""


async def popular_page(
    feeds: Feeds, first: int, after: str | None, visit: str, visible: Visible
) -> HomePage:
    """`first` popular pins after a cursor, the hottest first. Raises BadInput."""
    column = None if after is None else cursors.decode(CursorKind.POPULAR_1, after, least=16)
    size = max(first + 1, LEAST)
    found: list[_Placed] = []
    chosen = _Chosen()
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
        items=[
            HomeItem(pin, Reason.POPULAR, cursors.encode(CursorKind.POPULAR_1, column))
            for column, pin in page[:first]
        ],
        has_next=len(page) > first,
        visit=visit,
        health=Health(side, None, may_be_stale=side is not Side.PRIMARY),
    )


_Placed = tuple[bytes, Pin]
"""A pin with its place: the column of its cell."""


class _Chosen:
    """The pins that a page takes of those that are offered to it, in their order."""

    def __init__(self) -> None:
        self.pins: list[_Placed] = []
        self._places, self._pictures = Places(), set[int]()

    def offer(self, one: _Placed) -> None:
        """Take the pin if the limits allow it as the next one."""
        _, pin = one
        groups = (pin.owner_id, pin.board_id)
        if pin.root not in self._pictures and self._places.blocking(groups) is None:
            self._pictures.add(pin.root)
            self._places.place(groups)
            self.pins.append(one)


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
