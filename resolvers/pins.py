"""Pins, their pictures, likes and comments."""

from collections.abc import Awaitable, Sequence

from datasources.ids import Kind
from datasources.mappings import Mapping
from datasources.records import Board, Comment, Image, Interest, Pin, Section, User
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of, sizes, viewer_has
from resolvers.context import ID, Context, object_id
from resolvers.hidden_objects import even_out
from resolvers.orders import CommentOrder, UserOrder, user_pages
from resolvers.paging import FIRST, Connection, Pages, list_pages, object_page, span


async def pin(context: Context, *, id: ID) -> Pin | None:
    number = object_id(id, Kind.PIN)
    found = await visibility.pin(context, number)
    if found is None:
        await even_out(context, [number])
    return found


async def all_pins(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    return await object_page(context, Kind.PIN, first, after, visibility.public_pins)


@bulk
async def board(context: Context, pins: Sequence[Pin]) -> Column[Board | None]:
    found = await visibility.boards(context, [pin.board_id for pin in pins])
    return [found.get(pin.board_id) for pin in pins]


@bulk
async def section(context: Context, pins: Sequence[Pin]) -> Column[Section | None]:
    """Each pin's section. A pin that moves in the meantime may be shown on another board than its
    section's: then it is in none."""
    found = await visibility.sections(context, [pin.section_id for pin in pins if pin.section_id])
    sections: list[Section | BaseException | None] = []
    for pin in pins:
        section = found.get(pin.section_id or 0)
        elsewhere = isinstance(section, Section) and section.board_id != pin.board_id
        sections.append(None if elsewhere else section)
    return sections


@bulk
def owner(context: Context, pins: Sequence[Pin]) -> Awaitable[Column[User | None]]:
    return visibility.user_column(context, [pin.owner_id for pin in pins])


@bulk
async def source(context: Context, pins: Sequence[Pin]) -> Column[Pin | None]:
    found = await visibility.pins(context, [pin.source_id for pin in pins if pin.source_id])
    return [found.get(pin.source_id or 0) for pin in pins]


@bulk
async def interests(context: Context, pins: Sequence[Pin]) -> Sequence[list[Interest]]:
    ids = {id: None for pin in pins for id in pin.interest_ids}
    found = {
        id: interest
        for id, interest in (await visibility.interests(context, list(ids))).items()
        if isinstance(interest, Interest)
    }
    return [[found[id] for id in pin.interest_ids if id in found] for pin in pins]


@bulk
async def image_url(context: Context, images: Sequence[Image]) -> Sequence[str]:
    """The pictures' absolute addresses. Pictures that the gateway serves get the gateway's own
    address."""
    own = context.public_url
    return [own + i.url if i.url.startswith("/") else i.url for i in images]


@bulk
async def like_count(context: Context, pins: Sequence[Pin]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.PIN_LIKED_BY_USERS, pins))


@bulk
async def liked_by(
    context: Context,
    pins: Sequence[Pin],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Pages[User]:
    lists = lists_of(Mapping.PIN_LIKED_BY_USERS, pins)
    return await user_pages(context, lists, span(first, after, last, before), order_by)


@bulk
async def viewer_has_liked(context: Context, pins: Sequence[Pin]) -> Column[bool | None]:
    return await viewer_has(context, Mapping.USER_LIKES_PINS, pins)


@bulk
async def comment_count(context: Context, pins: Sequence[Pin]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.PIN_HAS_COMMENTS, pins))


@bulk
async def comments(
    context: Context,
    pins: Sequence[Pin],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: CommentOrder | None = None,
) -> Pages[Comment]:
    lists, part = lists_of(Mapping.PIN_HAS_COMMENTS, pins), span(first, after, last, before)
    oldest_first = order_by is CommentOrder.OLDEST
    return await list_pages(context, lists, part, visibility.comments, oldest_first=oldest_first)


@bulk
def comment_author(context: Context, comments: Sequence[Comment]) -> Awaitable[Column[User | None]]:
    return visibility.user_column(context, [comment.author_id for comment in comments])


@bulk
async def comment_pin(context: Context, comments: Sequence[Comment]) -> Column[Pin | None]:
    found = await visibility.pins(context, [comment.pin_id for comment in comments])
    return [found.get(comment.pin_id) for comment in comments]


def image_color(context: Context, image: Image) -> str | None:
    return image.color
