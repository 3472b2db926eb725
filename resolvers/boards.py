"""Boards and the pins on them."""

from collections.abc import Sequence

import msgspec

from datasources.ids import Kind
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest
from datasources.records import Board, Pin, User
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.paging import Connection, Keep, list_page, object_page


async def board(context: Context, *, id: ID) -> Board | None:
    return await visibility.board(context, object_id(id, Kind.BOARD))


async def all_boards(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Board]:
    async def public(_: Context, boards: Sequence[Board]) -> Sequence[Board]:
        return [board for board in boards if not board.secret]

    return await object_page(context, Kind.BOARD, first, after, public)


async def owner(context: Context, board: Board) -> User | None:
    return await context.loaders.users.load(board.owner_id)


async def cover(context: Context, board: Board) -> Pin | None:
    """The pin chosen as cover, else the newest."""
    if board.cover_pin_id:
        chosen = await visibility.pin(context, board.cover_pin_id)
        if chosen is not None and chosen.board_id == board.id:
            return chosen
    rows = await context.loaders.pages.load(
        PageRequest(ListKey(Mapping.BOARD_HAS_PINS, board.id), 1)
    )
    if not rows:
        return None
    newest = rows[0].to_id
    return visibility.one(await _on(board)(context, [newest]), newest)


async def pins(
    context: Context, board: Board, *, first: int = 25, after: str | None = None
) -> Connection[Pin]:
    key = ListKey(Mapping.BOARD_HAS_PINS, board.id)
    return await list_page(context, key, first, after, _on(board))


def _on(board: Board) -> Keep[Pin]:
    """Pins that the board's list names. Whether one is seen is decided by the pin as it is now, but
    on which board it stands by the list: the two are read one after the other, and a pin that is
    moved in between would else be on neither of its boards."""

    async def keep(context: Context, ids: Sequence[int]) -> dict[int, Pin | BaseException]:
        found = await visibility.pins(context, ids)
        return {
            id: pin
            if isinstance(pin, BaseException) or pin.board_id == board.id
            else msgspec.structs.replace(pin, board_id=board.id)
            for id, pin in found.items()
        }

    return keep


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
