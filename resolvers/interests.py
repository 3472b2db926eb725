"""Interests: topics that pins belong to and users follow."""

from collections.abc import Sequence

from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.records import Interest, Pin
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of, viewer_has
from resolvers.context import Context
from resolvers.paging import FIRST, Connection, Pages, everything, list_pages, object_page, span


async def all_interests(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Interest]:
    return await object_page(context, Kind.INTEREST, first, after, everything)


@bulk
async def pins(
    context: Context,
    interests: Sequence[Interest],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Pages[Pin]:
    lists = lists_of(Mapping.INTEREST_HAS_PINS, interests)
    return await list_pages(context, lists, span(first, after, last, before), visibility.pins)


@bulk
async def viewer_follows(context: Context, interests: Sequence[Interest]) -> Column[bool | None]:
    return await viewer_has(context, Mapping.USER_FOLLOWS_INTERESTS, interests)
