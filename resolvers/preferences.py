"""The viewer's own preferences: the hidden pins, and what the viewer sees less and more of."""

from typing import Any, TypeVar

from datasources.mappings import ListKey, Mapping
from datasources.records import Pin, Record
from resolvers import nodes, visibility
from resolvers.context import Context
from resolvers.paging import FIRST, Connection, Keep, list_pages, span

R = TypeVar("R", bound=Record)


async def hidden_pins(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[Pin]:
    """The pins that the viewer hides, last hidden first: of each picture, the first pin."""
    hidden = Mapping.USER_HIDES_PINS
    return await _page(context, hidden, visibility.pins, first, after, last, before)


async def seen_less(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[Any]:
    """The users, boards and interests of which the viewer sees less."""
    less = Mapping.USER_SEES_LESS
    return await _page(context, less, nodes.of_ids, first, after, last, before)


async def seen_more(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[Any]:
    """The users, boards and interests of which the viewer sees more."""
    more = Mapping.USER_SEES_MORE
    return await _page(context, more, nodes.of_ids, first, after, last, before)


async def _page(
    context: Context,
    mapping: Mapping,
    keep: Keep[R],
    first: int,
    after: str | None,
    last: int | None,
    before: str | None,
) -> Connection[R]:
    key = ListKey(mapping, context.require_viewer())
    [page] = await list_pages(context, [key], span(first, after, last, before), keep)
    if isinstance(page, BaseException):
        raise page
    return page
