"""Places in lists that people order by hand. Their sequences change when rows are respaced.

A place is a sequence together with the list's era. If the list was respaced since, the place is
translated by the moves of each respacing. So the next page begins at the right row, even if the row
at the place is gone.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import NamedTuple

from datasources.errors import BadInput
from datasources.mappings import Edge, ListKey, PageRequest, Position
from feed_engine.ordering import order
from resolvers.context import Context

NO_ROW, HIGHEST = 0, 2**63 - 1
"""Ids of positions below and above the row with the same sequence."""


class Place(NamedTuple):
    """A position, and the list's era at the time of its sequence."""

    position: Position
    era: int


class Wanted(NamedTuple):
    """`limit` rows of a list, after a place in it; from its last row on, upward, if
    `ascending`."""

    key: ListKey
    place: Place | None
    limit: int
    ascending: bool = False


async def rows_after(
    context: Context, wanted: Sequence[Wanted]
) -> list[list[Edge] | BaseException]:
    """The wanted rows of each list. The error is BadInput if a place's era is so old that its
    respacing was deleted."""
    requests = [
        PageRequest(key, limit, place.position if place else None, ascending)
        for key, place, limit, ascending in wanted
    ]
    found = await context.loaders.pages.many(requests)
    moved: dict[int, Awaitable[list[Edge]]] = {
        number: _translated(context, one, one.place, rows)
        for number, (one, rows) in enumerate(zip(wanted, found, strict=True))
        if one.place is not None
        and isinstance(rows, list)
        and _may_have_moved(one.key, one.place, rows)
    }
    if moved:
        again = await asyncio.gather(*moved.values(), return_exceptions=True)
        for number, rows in zip(moved, again, strict=True):
            found[number] = rows
    return found


def _may_have_moved(key: ListKey, place: Place, rows: list[Edge]) -> bool:
    # Without rows the era is unknown. The list's own record has it; its last entry is never
    # deleted.
    return key.mapping.ordered and (not rows or rows[0].era != place.era)


async def _translated(
    context: Context, wanted: Wanted, place: Place, rows: list[Edge]
) -> list[Edge]:
    """The rows after a place, given the rows after the same sequence in the present era."""
    key, limit, ascending = wanted.key, wanted.limit, wanted.ascending
    mappings, stored = context.stores.shards.mappings, False
    while _may_have_moved(key, place, rows):
        log = await mappings.respacings(key, place.era)
        if log and log[0].era == place.era + 1:
            sequence, own = order.translated(place.position.sequence, log)
            own = own and place.position.to_id != NO_ROW
            to_id = HIGHEST if own and ascending else NO_ROW
            place = Place(Position(sequence, to_id), log[-1].era)
        elif log or stored:
            name = "before" if ascending else "after"
            raise BadInput(f"{name} is too old for this list: read it from its start", name)
        elif not rows:
            break
        # Not from the cache, which may for a moment be older than the cursor.
        [rows] = await mappings.pages([PageRequest(key, limit, place.position, ascending)])
        stored = not log
    return rows
