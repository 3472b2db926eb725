"""Users, their boards, pins and likes, and the users, boards and interests that they follow."""

from collections.abc import Sequence
from itertools import compress

from datasources.errors import BadInput
from datasources.ids import MAX_LOCAL, Kind, compose
from datasources.mappings import ListKey, Mapping
from datasources.records import Board, Interest, Pin, User
from feed_engine.transactions.key_kinds import issuer_and_subject
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of, sizes, viewer_has
from resolvers.context import ID, Context, object_id
from resolvers.hidden_objects import even_out
from resolvers.orders import BoardOrder, UserOrder, board_pages, user_page, user_pages
from resolvers.paging import (
    FIRST,
    Connection,
    Pages,
    Span,
    list_pages,
    object_page,
    span,
    with_empty_pages,
)
from resolvers.visibility import Found


async def viewer(context: Context) -> User | None:
    return await context.loaders.users.load(context.viewer_id) if context.viewer_id else None


async def user(
    context: Context, *, id: ID | None = None, username: str | None = None
) -> User | None:
    if (id is None) == (username is None):
        raise BadInput("give exactly one of id and username", "id")
    if id is not None:
        number = object_id(id, Kind.USER)
    else:
        number = await context.loaders.user_ids.load(username or "") or 0
        if not number:
            if context.viewer_id is None:  # nobody is hidden from strangers
                return None
            place = context.stores.shards.objects.topology().place((username or "").lower())
            number = compose(place, Kind.USER, MAX_LOCAL)  # a decoy
    found = await visibility.user(context, number)
    if found is not None and username is not None and not found.is_named(username.lower()):
        found = None  # the name is claimed for a change that has not ended
    if found is None:
        await even_out(context, [number])
    return found


async def all_users(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[User]:
    return await object_page(context, Kind.USER, first, after, visibility.public_users)


async def muted_users(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Connection[User]:
    """The users whom the viewer mutes, last muted first."""
    key = ListKey(Mapping.USER_MUTES_USERS, context.require_viewer())
    return await user_page(context, key, span(first, after, last, before), order_by)


async def blocked_users(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Connection[User]:
    """The users whom the viewer blocks, last blocked first."""
    key = ListKey(Mapping.USER_BLOCKS_USERS, context.require_viewer())
    return await user_page(context, key, span(first, after, last, before), order_by, _blocked)


async def _blocked(context: Context, ids: Sequence[int]) -> dict[int, User | BaseException]:
    """All users: no other list shows the users whom the viewer blocks."""
    users = await context.loaders.users.many(ids)
    return {id: user for id, user in zip(ids, users, strict=True) if user is not None}


def email(context: Context, user: User) -> str | None:
    """The viewer's own e-mail address; None for all other users."""
    return user.email or None if user.id == context.viewer_id else None


def issuer(context: Context, user: User) -> str | None:
    """The issuer by whose tokens the viewer signs in; None for all other users."""
    return issuer_and_subject(user.subject)[0] or None if user.id == context.viewer_id else None


@bulk
async def board_count(context: Context, users: Sequence[User]) -> Column[int]:
    return await sizes(context, _boards_for(context, users))


@bulk
async def pin_count(context: Context, users: Sequence[User]) -> Column[int]:
    return await sizes(context, _pins_for(context, users))


@bulk
async def follower_count(context: Context, users: Sequence[User]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.USER_FOLLOWED_BY_USERS, users))


@bulk
async def following_count(context: Context, users: Sequence[User]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.USER_FOLLOWS_USERS, users))


@bulk
async def viewer_follows(context: Context, users: Sequence[User]) -> Column[bool | None]:
    return await viewer_has(context, Mapping.USER_FOLLOWS_USERS, users)


@bulk
async def viewer_mutes(context: Context, users: Sequence[User]) -> Column[bool | None]:
    return await viewer_has(context, Mapping.USER_MUTES_USERS, users)


@bulk
async def boards(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: BoardOrder | None = None,
    secret: bool | None = None,
) -> Pages[Board]:
    part = span(first, after, last, before)
    if secret:
        return await _secret_boards(context, users, part, order_by)
    lists, keep = _boards_for(context, users), visibility.boards
    if secret is False:
        lists, keep = lists_of(Mapping.USER_HAS_PUBLIC_BOARDS, users), _only_public
    return await board_pages(context, lists, part, order_by, keep)


async def _secret_boards(
    context: Context, users: Sequence[User], span: Span, order_by: BoardOrder | None
) -> Pages[Board]:
    """The secret boards of the viewer. All other users have none, as far as the viewer knows."""
    own = [user.id == context.viewer_id for user in users]
    lists = lists_of(Mapping.USER_HAS_BOARDS, list(compress(users, own)))
    pages = await board_pages(context, lists, span, order_by, _only_secret)
    return with_empty_pages(context, span, own, pages)


async def _only_secret(context: Context, ids: Sequence[int]) -> Found[Board]:
    return _with_secrecy(await visibility.boards(context, ids), True)


async def _only_public(context: Context, ids: Sequence[int]) -> Found[Board]:
    return _with_secrecy(await visibility.boards(context, ids), False)


def _with_secrecy(found: Found[Board], secret: bool) -> Found[Board]:
    return {
        id: it for id, it in found.items() if isinstance(it, BaseException) or it.secret is secret
    }


@bulk
async def pins(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Pages[Pin]:
    lists = _pins_for(context, users)
    return await list_pages(context, lists, span(first, after, last, before), visibility.pins)


@bulk
async def liked_pins(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Pages[Pin]:
    lists = lists_of(Mapping.USER_LIKES_PINS, users)
    return await list_pages(context, lists, span(first, after, last, before), visibility.pins)


@bulk
async def followers(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Pages[User]:
    lists = lists_of(Mapping.USER_FOLLOWED_BY_USERS, users)
    return await user_pages(context, lists, span(first, after, last, before), order_by)


@bulk
async def following_users(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Pages[User]:
    lists = lists_of(Mapping.USER_FOLLOWS_USERS, users)
    return await user_pages(context, lists, span(first, after, last, before), order_by)


@bulk
async def following_boards(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: BoardOrder | None = None,
) -> Pages[Board]:
    lists = lists_of(Mapping.USER_FOLLOWS_BOARDS, users)
    return await board_pages(context, lists, span(first, after, last, before), order_by)


@bulk
async def following_interests(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Pages[Interest]:
    lists = lists_of(Mapping.USER_FOLLOWS_INTERESTS, users)
    return await list_pages(context, lists, span(first, after, last, before), visibility.interests)


def _boards_for(context: Context, users: Sequence[User]) -> list[ListKey]:
    """The users' lists of boards that the viewer may see. The viewer's own list has secret boards,
    too."""
    own, public = Mapping.USER_HAS_BOARDS, Mapping.USER_HAS_PUBLIC_BOARDS
    return [ListKey(own if user.id == context.viewer_id else public, user.id) for user in users]


def _pins_for(context: Context, users: Sequence[User]) -> list[ListKey]:
    own, public = Mapping.USER_HAS_PINS, Mapping.USER_HAS_PUBLIC_PINS
    return [ListKey(own if user.id == context.viewer_id else public, user.id) for user in users]
