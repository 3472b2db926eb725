"""The collaborators of boards, the boards on which the viewer collaborates, and invitations."""

from collections.abc import Awaitable, Sequence
from enum import Enum
from itertools import compress

from datasources.mappings import ListKey, Mapping
from datasources.records import Board, User
from loaders.bulk import bulk
from resolvers import visibility
from resolvers.columns import Column, lists_of
from resolvers.context import Context
from resolvers.orders import BoardOrder, UserOrder, board_pages, user_pages
from resolvers.paging import FIRST, Connection, Pages, list_pages, span, with_empty_pages
from resolvers.visibility import Invitation


class BoardRole(Enum):
    """The roles of a user on a board."""

    OWNER = "OWNER"
    COLLABORATOR = "COLLABORATOR"
    INVITED = "INVITED"


def viewer_role(context: Context, board: Board) -> BoardRole | None:
    """The viewer's role on the board; None without a role, and without a viewer."""
    viewer_id = context.viewer_id
    if viewer_id is None:
        return None
    if board.owner_id == viewer_id:
        return BoardRole.OWNER
    if viewer_id in board.collaborators:
        return BoardRole.COLLABORATOR
    return BoardRole.INVITED if viewer_id in board.invited else None


@bulk
async def collaborators(
    context: Context,
    boards: Sequence[Board],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Pages[User]:
    lists = lists_of(Mapping.BOARD_HAS_COLLABORATORS, boards)
    return await user_pages(context, lists, span(first, after, last, before), order_by)


@bulk
async def invited_users(
    context: Context,
    boards: Sequence[Board],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: UserOrder | None = None,
) -> Pages[User]:
    """The users who have not answered their invitations. Only a board's owner sees them."""
    part = span(first, after, last, before)
    own = [board.owner_id == context.viewer_id for board in boards]
    lists = lists_of(Mapping.BOARD_INVITES_USERS, list(compress(boards, own)))
    pages = await user_pages(context, lists, part, order_by)
    return with_empty_pages(context, part, own, pages)


@bulk
async def collaborating_boards(
    context: Context,
    users: Sequence[User],
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    order_by: BoardOrder | None = None,
) -> Pages[Board]:
    """The boards on which the viewer collaborates. Nobody sees this list of another user."""
    part = span(first, after, last, before)
    own = [user.id == context.viewer_id for user in users]
    lists = lists_of(Mapping.USER_COLLABORATES_ON_BOARDS, list(compress(users, own)))
    pages = await board_pages(context, lists, part, order_by)
    return with_empty_pages(context, part, own, pages)


async def board_invitations(
    context: Context,
    *,
    first: int = FIRST,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> Connection[Invitation]:
    """The viewer's invitations to boards, last invited first."""
    key = ListKey(Mapping.USER_INVITED_TO_BOARDS, context.require_viewer())
    part = span(first, after, last, before)
    [page] = await list_pages(context, [key], part, visibility.invitations)
    if isinstance(page, BaseException):
        raise page
    return page


@bulk
def inviter(context: Context, invitations: Sequence[Invitation]) -> Awaitable[Column[User | None]]:
    """The owners of the boards."""
    return visibility.user_column(context, [invitation.owner_id for invitation in invitations])
