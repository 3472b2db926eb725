"""Users: who they are, what they have, and whom they follow."""

from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.records import Board, Interest, Pin, User
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.paging import Connection, everything, list_page, object_page


async def viewer(context: Context) -> User | None:
    return await context.loaders.users.load(context.viewer_id) if context.viewer_id else None


async def user(
    context: Context, *, id: ID | None = None, username: str | None = None
) -> User | None:
    if (id is None) == (username is None):
        raise BadInput("give exactly one of id and username", "id")
    if id is not None:
        return await context.loaders.users.load(object_id(id, Kind.USER))
    found = await context.loaders.user_ids.load(username or "")
    return await context.loaders.users.load(found) if found else None


async def all_users(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[User]:
    return await object_page(context, Kind.USER, first, after, everything)


async def board_count(context: Context, user: User) -> int:
    key = ListKey(_boards_for(context, user), user.id)
    return (await context.loaders.heads.load(key)).size


async def pin_count(context: Context, user: User) -> int:
    key = ListKey(_pins_for(context, user), user.id)
    return (await context.loaders.heads.load(key)).size


async def follower_count(context: Context, user: User) -> int:
    key = ListKey(Mapping.USER_FOLLOWED_BY_USERS, user.id)
    return (await context.loaders.heads.load(key)).size


async def following_count(context: Context, user: User) -> int:
    key = ListKey(Mapping.USER_FOLLOWS_USERS, user.id)
    return (await context.loaders.heads.load(key)).size


async def viewer_follows(context: Context, user: User) -> bool | None:
    if context.viewer_id is None:
        return None
    key = EdgeKey(Mapping.USER_FOLLOWS_USERS, context.viewer_id, user.id)
    return await context.loaders.edges.load(key) is not None


async def boards(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[Board]:
    key = ListKey(_boards_for(context, user), user.id)
    return await list_page(context, key, first, after, visibility.boards)


async def pins(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    key = ListKey(_pins_for(context, user), user.id)
    return await list_page(context, key, first, after, visibility.pins)


async def liked_pins(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    key = ListKey(Mapping.USER_LIKES_PINS, user.id)
    return await list_page(context, key, first, after, visibility.pins)


async def followers(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[User]:
    key = ListKey(Mapping.USER_FOLLOWED_BY_USERS, user.id)
    return await list_page(context, key, first, after, visibility.users)


async def following_users(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[User]:
    key = ListKey(Mapping.USER_FOLLOWS_USERS, user.id)
    return await list_page(context, key, first, after, visibility.users)


async def following_boards(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[Board]:
    key = ListKey(Mapping.USER_FOLLOWS_BOARDS, user.id)
    return await list_page(context, key, first, after, visibility.boards)


async def following_interests(
    context: Context, user: User, *, first: int = 25, after: str | None = None
) -> Connection[Interest]:
    key = ListKey(Mapping.USER_FOLLOWS_INTERESTS, user.id)
    return await list_page(context, key, first, after, visibility.interests)


def _boards_for(context: Context, user: User) -> Mapping:
    mine = user.id == context.viewer_id
    return Mapping.USER_HAS_BOARDS if mine else Mapping.USER_HAS_PUBLIC_BOARDS


def _pins_for(context: Context, user: User) -> Mapping:
    mine = user.id == context.viewer_id
    return Mapping.USER_HAS_PINS if mine else Mapping.USER_HAS_PUBLIC_PINS
