"""Interests: topics that pins belong to and users follow."""

from datasources.ids import Kind
from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.records import Interest, Pin
from resolvers import visibility
from resolvers.context import Context
from resolvers.paging import Connection, everything, list_page, object_page


async def all_interests(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Interest]:
    return await object_page(context, Kind.INTEREST, first, after, everything)


async def pins(
    context: Context, interest: Interest, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    key = ListKey(Mapping.INTEREST_HAS_PINS, interest.id)
    return await list_page(context, key, first, after, visibility.pins)


async def viewer_follows(context: Context, interest: Interest) -> bool | None:
    if context.viewer_id is None:
        return None
    key = EdgeKey(Mapping.USER_FOLLOWS_INTERESTS, context.viewer_id, interest.id)
    return await context.loaders.edges.load(key) is not None
