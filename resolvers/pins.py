"""Pins, their pictures, likes and comments."""

from datasources.ids import Kind
from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.records import Board, Comment, Image, Interest, Pin, User
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.paging import Connection, list_page, object_page


async def pin(context: Context, *, id: ID) -> Pin | None:
    return await visibility.pin(context, object_id(id, Kind.PIN))


async def all_pins(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    return await object_page(context, Kind.PIN, first, after, visibility.public_pins)


async def board(context: Context, pin: Pin) -> Board | None:
    return await visibility.board(context, pin.board_id)


async def owner(context: Context, pin: Pin) -> User | None:
    return await context.loaders.users.load(pin.owner_id)


async def source(context: Context, pin: Pin) -> Pin | None:
    return await visibility.pin(context, pin.source_id) if pin.source_id else None


async def interests(context: Context, pin: Pin) -> list[Interest]:
    found = await visibility.interests(context, pin.interest_ids)
    return [found[id] for id in pin.interest_ids if isinstance(found.get(id), Interest)]  # type: ignore[misc]


def image_url(context: Context, image: Image) -> str:
    """The picture's absolute address; one of our own starts with the gateway's."""
    return context.public_url + image.url if image.url.startswith("/") else image.url


async def like_count(context: Context, pin: Pin) -> int:
    return (await context.loaders.heads.load(ListKey(Mapping.PIN_LIKED_BY_USERS, pin.id))).size


async def liked_by(
    context: Context, pin: Pin, *, first: int = 25, after: str | None = None
) -> Connection[User]:
    key = ListKey(Mapping.PIN_LIKED_BY_USERS, pin.id)
    return await list_page(context, key, first, after, visibility.users)


async def viewer_has_liked(context: Context, pin: Pin) -> bool | None:
    if context.viewer_id is None:
        return None
    key = EdgeKey(Mapping.USER_LIKES_PINS, context.viewer_id, pin.id)
    return await context.loaders.edges.load(key) is not None


async def comment_count(context: Context, pin: Pin) -> int:
    return (await context.loaders.heads.load(ListKey(Mapping.PIN_HAS_COMMENTS, pin.id))).size


async def comments(
    context: Context, pin: Pin, *, first: int = 25, after: str | None = None
) -> Connection[Comment]:
    key = ListKey(Mapping.PIN_HAS_COMMENTS, pin.id)
    return await list_page(context, key, first, after, visibility.comments)


async def comment_author(context: Context, comment: Comment) -> User | None:
    return await context.loaders.users.load(comment.author_id)


async def comment_pin(context: Context, comment: Comment) -> Pin | None:
    return await visibility.pin(context, comment.pin_id)


def image_color(context: Context, image: Image) -> str | None:
    return image.color
