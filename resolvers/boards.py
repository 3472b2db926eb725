"""Boards and the pins on them."""

from collections.abc import Awaitable, Sequence
from typing import TypeVar

import msgspec

from datasources.ids import Kind
from datasources.mappings import Mapping, PageRequest
from datasources.records import Board, Pin, User
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of, sizes, viewer_has
from resolvers.context import ID, Context, object_id
from resolvers.hidden_objects import even_out
from resolvers.orders import PinOrder, UserOrder, pin_pages, user_pages
from resolvers.paging import FIRST, Connection, Pages, object_page, show_on, span


async def board(context: Context, *, id: ID) -> Board | None:
    number = object_id(id, Kind.BOARD)
    found = await visibility.board(context, number)
    if found is None:
        await even_out(context, [number])
    return found


async def all_boards(
    context: Context, *, first: int = 25, after: str | None = None
) -> Connection[Board]:
    return await object_page(context, Kind.BOARD, first, after, visibility.public_boards)


@bulk
def owner(context: Context, boards: Sequence[Board]) -> Awaitable[Column[User | None]]:
    return visibility.user_column(context, [board.owner_id for board in boards])


@bulk
async def cover(context: Context, boards: Sequence[Board]) -> Column[Pin | None]:
    """Each board's chosen cover; without one, its newest pin."""
    asked = await visibility.pins(context, [b.cover_pin_id for b in boards if b.cover_pin_id])
    chosen = {
        board.id: pin
        for board in boards
        if (pin := asked.get(board.cover_pin_id or 0)) is not None
        and (isinstance(pin, BaseException) or pin.board_id == board.id)
    }
    without = [board for board in boards if board.id not in chosen]
    requests = [PageRequest(key, 1) for key in lists_of(Mapping.BOARD_HAS_PINS, without)]
    tops = dict(
        zip(
            (board.id for board in without),
            await context.loaders.pages.many(requests),
            strict=True,
        )
    )
    newest = await visibility.pins(
        context, [rows[0].to_id for rows in tops.values() if isinstance(rows, list) and rows]
    )
    covers: list[Pin | BaseException | None] = []
    for board in boards:
        rows = tops.get(board.id)
        if rows is None:
            covers.append(chosen[board.id])
        elif isinstance(rows, BaseException):
            covers.append(rows)
        else:
            covers.append(_on(board, newest.get(rows[0].to_id)) if rows else None)
    return covers


@bulk
async def pins(
    context: Context,
    boards: Sequence[Board],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: PinOrder | None = None,
) -> Pages[Pin]:
    lists = lists_of(Mapping.BOARD_HAS_PINS, boards)
    pages = await pin_pages(context, lists, span(first, after, last, before), order_by)
    return show_on(pages, boards, _on)


P = TypeVar("P", Pin | BaseException, Pin | BaseException | None)


def _on(board: Board, pin: P) -> P:
    """A pin from the board's list. The pin itself decides whether the viewer sees it; the list
    decides on which board it is shown. The two are read one after the other: otherwise a pin that
    moves in between would be shown on neither board."""
    if not isinstance(pin, Pin) or pin.board_id == board.id:
        return pin
    return msgspec.structs.replace(pin, board_id=board.id)


@bulk
async def pin_count(context: Context, boards: Sequence[Board]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.BOARD_HAS_PINS, boards))


@bulk
async def followers(
    context: Context,
    boards: Sequence[Board],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Pages[User]:
    lists = lists_of(Mapping.BOARD_FOLLOWED_BY_USERS, boards)
    return await user_pages(context, lists, span(first, after, last, before), order_by)


@bulk
async def follower_count(context: Context, boards: Sequence[Board]) -> Column[int]:
    return await sizes(context, lists_of(Mapping.BOARD_FOLLOWED_BY_USERS, boards))


@bulk
async def viewer_follows(context: Context, boards: Sequence[Board]) -> Column[bool | None]:
    return await viewer_has(context, Mapping.USER_FOLLOWS_BOARDS, boards)


def viewer_can_edit(context: Context, board: Board) -> bool:
    return board.owner_id == context.viewer_id
