"""Boards and the pins on them."""

from datasources.ids import Kind
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest
from datasources.records import Board, Pin, User
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.paging import Connection, list_page, object_page


async def board(context: Context, *, id: ID) -> Board | None:
    return await visibility.board(context, object_id(id, Kind.BOARD))


async def all_boards(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Board]:
    return await object_page(context, Kind.BOARD, first, after, visibility.public_boards)


async def owner(context: Context, board: Board) -> User | None:
    return await context.loaders.users.load(board.owner_id)


async def cover(context: Context, board: Board) -> Pin | None:
    """The pin chosen as cover, else the newest."""
    if board.cover_pin_id and (pin := await visibility.pin(context, board.cover_pin_id)):
        return pin
    rows = await context.loaders.pages.load(
        PageRequest(ListKey(Mapping.BOARD_HAS_PINS, board.id), 1)
    )
    return await visibility.pin(context, rows[0].to_id) if rows else None


async def pins(
    context: Context, board: Board, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    key = ListKey(Mapping.BOARD_HAS_PINS, board.id)
    return await list_page(context, key, first, after, visibility.pins)


async def pin_count(context: Context, board: Board) -> int:
    return (await context.loaders.heads.load(ListKey(Mapping.BOARD_HAS_PINS, board.id))).size


async def followers(
    context: Context, board: Board, *, first: int = 25, after: str | None = None
) -> Connection[User]:
    key = ListKey(Mapping.BOARD_FOLLOWED_BY_USERS, board.id)
    return await list_page(context, key, first, after, visibility.users)


async def follower_count(context: Context, board: Board) -> int:
    key = ListKey(Mapping.BOARD_FOLLOWED_BY_USERS, board.id)
    return (await context.loaders.heads.load(key)).size


async def viewer_follows(context: Context, board: Board) -> bool | None:
    if context.viewer_id is None:
        return None
    key = EdgeKey(Mapping.USER_FOLLOWS_BOARDS, context.viewer_id, board.id)
    return await context.loaders.edges.load(key) is not None


def viewer_can_edit(context: Context, board: Board) -> bool:
    return board.owner_id == context.viewer_id
