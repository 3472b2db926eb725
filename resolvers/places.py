"""Places in lists that people order by hand, whose sequences change when rows are re-spaced.

A place is a sequence and the list's era that it is of. When the list was re-spaced since, the place
is translated by what each re-spacing moved: so pages go on where they were, whether or not the row
at the place is still there.
"""

from typing import NamedTuple

from datasources.errors import BadInput
from datasources.mappings import Edge, ListKey, PageRequest, Position
from feed_engine import order
from resolvers.context import Context


class Place(NamedTuple):
    """A position, and the era of the list that its sequence is of."""

    position: Position
    era: int


async def rows_after(context: Context, key: ListKey, limit: int, place: Place | None) -> list[Edge]:
    """`limit` rows of a list after a place. Raises BadInput for a place of so old an era that it is
    forgotten what became of it."""
    if place is None:
        return await context.loaders.pages.load(PageRequest(key, limit))
    rows = await context.loaders.pages.load(PageRequest(key, limit, place.position))
    mappings, stored = context.stores.shards.mappings, False
    while key.mapping.ordered and (not rows or rows[0].era != place.era):
        # No rows tell no era: only the list's own record does, whose last entry is never forgotten.
        log = await mappings.respacings(key, place.era)
        if log and log[0].era == place.era + 1:
            position = Position(order.translate(place.position.sequence, log), 0)
            place = Place(position, log[-1].era)
        elif log or stored:
            raise BadInput("after is too old for this list: read it from its start", "after")
        elif not rows:
            break
        # Past the cache, which for a moment may know less than the cursor does.
        [rows] = await mappings.pages([PageRequest(key, limit, place.position)])
        stored = not log
    return rows
