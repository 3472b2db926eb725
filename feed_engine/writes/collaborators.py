"""Invites users to boards, and adds and removes collaborators.

A board's owner invites a user, who accepts or declines. The owner may take an invitation back and
remove a collaborator, and a collaborator may leave. All of these writes are repeated without harm:
what is already so stays so.

A block between the owner and the user ends the invitation or the membership. `block_user` ends it
before its acknowledgement. A membership that came at the same time as the block ends by its own
task (`collaborator_tasks`), which looks for blocks after the membership was written.
"""

from collections.abc import Awaitable, Callable

from datasources.clocks import now_ms
from datasources.errors import BadInput, NotFound
from datasources.ids import Kind
from datasources.mappings import REVERSE, ListKey
from datasources.mappings import Mapping as Lists
from datasources.protocols import ShardTx, Stores
from datasources.records import Board
from feed_engine.outbox.change import Change
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, nothing
from feed_engine.transactions.inputs import Member, Target
from feed_engine.writes import members
from feed_engine.writes.members import HAS, INVITES

MOST = 100
"""Collaborators and invited users of a board, at most."""
MOST_BOARDS = 500
"""Boards on which a user collaborates, and invitations that a user has not answered; each at most,
except that invitations at the same time may exceed it."""


async def invite_collaborator(
    stores: Stores,
    viewer_id: int,
    board_id: int,
    user_id: int,
    *,
    key: str | None = None,
    at: int | None = None,
) -> Board:
    """Invite a user to collaborate on a board of the viewer. Returns the board. A user who is
    already invited, or collaborates, stays so. Raises BadInput (the viewer, too many users),
    NotFound, Forbidden."""
    if user_id == viewer_id:
        raise BadInput("Nobody can invite themselves: choose another user.", "userId")

    async def prepare() -> None:
        await access.find_user(stores, viewer_id, user_id, "userId")
        await _check_size(stores, REVERSE[INVITES], user_id, "userId")

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        found = await access.lock_own_board(tx, viewer_id, board_id)
        board = found[0]
        if user_id in (*board.invited, *board.collaborators):
            return await _unchanged(tx, board, user_id)
        if len(board.invited) + len(board.collaborators) >= MOST:
            raise BadInput(
                f"A board has at most {MOST} collaborators and invited users: remove one first.",
                "userId",
            )
        rows, now = Rows(tx), at if at is not None else now_ms()
        after = await members.place(tx, rows, found, [user_id], INVITES, now)
        following = members.changed(rows, after, [user_id])
        return Outcome(after, Saved(id=board_id), following, toward=user_id)

    mutation = _of_owner(stores, "inviteCollaborator", viewer_id, board_id, user_id, key)
    return await mutate(stores, mutation, prepare, work, _again(stores))


async def remove_collaborator(
    stores: Stores, viewer_id: int, board_id: int, user_id: int, *, key: str | None = None
) -> Board:
    """Remove a collaborator from a board of the viewer, or take an invitation back. The pins that
    the user added stay. Returns the board. Nothing changes for other users. Raises BadInput (the
    viewer), NotFound, Forbidden."""
    if user_id == viewer_id:
        raise BadInput("The owner stays a member of the board: choose another user.", "userId")
    access.home(stores, Kind.USER, user_id, "userId")

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        found = await access.lock_own_board(tx, viewer_id, board_id)
        return await _end(tx, found, user_id)

    mutation = _of_owner(stores, "removeCollaborator", viewer_id, board_id, user_id, key)
    return await mutate(stores, mutation._replace(takes_back=True), nothing, work, _again(stores))


async def accept_invitation(
    stores: Stores, viewer_id: int, board_id: int, *, key: str | None = None, at: int | None = None
) -> Board:
    """Become a collaborator of a board to which the viewer is invited. Returns the board. Raises
    NotFound without an invitation, and BadInput if the viewer collaborates on too many boards."""

    async def prepare() -> None:
        found = (await access.read(stores, Board, [board_id])).get(board_id)
        if await blocks.holds(stores, viewer_id, None if found is None else found.owner_id):
            raise _uninvited(board_id)
        await _check_size(stores, REVERSE[HAS], viewer_id, "boardId")

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        found = await access.lock_any(tx, Board, board_id)
        if found is None or not found[0].active:
            raise _uninvited(board_id)
        board = found[0]
        if viewer_id in board.collaborators:
            return await _unchanged(tx, board, viewer_id)
        if viewer_id not in board.invited:
            raise _uninvited(board_id)
        rows, now = Rows(tx), at if at is not None else now_ms()
        after = await members.place(tx, rows, found, [viewer_id], HAS, now)
        following = members.changed(rows, after, [viewer_id])
        return Outcome(after, Saved(id=board_id), following, toward=board.owner_id)

    shard, given = access.home(stores, Kind.BOARD, board_id), Target(id=board_id)
    mutation = Mutation("acceptInvitation", shard, viewer_id, key, given)
    return await mutate(stores, mutation, prepare, work, _again(stores))


async def decline_invitation(
    stores: Stores, viewer_id: int, board_id: int, *, key: str | None = None
) -> Board:
    """Decline an invitation to a board. Returns the board. A membership stays. Raises NotFound for
    a board to which the viewer was never invited."""

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        found = await access.lock_any(tx, Board, board_id)
        if found is not None and viewer_id in found[0].collaborators:
            return await _unchanged(tx, found[0], viewer_id)
        return await _end(tx, found, viewer_id, _uninvited(board_id))

    return await _leave(stores, "declineInvitation", viewer_id, board_id, key, work)


async def leave_board(
    stores: Stores, viewer_id: int, board_id: int, *, key: str | None = None
) -> Board:
    """End the viewer's membership of another user's board. The pins that the viewer added stay.
    Returns the board. An invitation stays. Raises BadInput (the owner), and NotFound for a board on
    which the viewer never collaborated."""

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        found = await access.lock_any(tx, Board, board_id)
        absent = NotFound(f"You don't collaborate on a board {board_id}.", "boardId")
        if found is not None and found[0].owner_id == viewer_id:
            raise BadInput("The owner can't leave a board: delete it instead.", "boardId")
        if found is not None and viewer_id in found[0].invited:
            raise absent
        return await _end(tx, found, viewer_id, absent)

    return await _leave(stores, "leaveBoard", viewer_id, board_id, key, work)


_Work = Callable[[ShardTx, None], Awaitable[Outcome[Board]]]


async def _leave(
    stores: Stores, name: str, viewer_id: int, board_id: int, key: str | None, work: _Work
) -> Board:
    shard, given = access.home(stores, Kind.BOARD, board_id), Target(id=board_id)
    mutation = Mutation(name, shard, viewer_id, key, given, takes_back=True)
    return await mutate(stores, mutation, nothing, work, _again(stores))


def _of_owner(
    stores: Stores, name: str, viewer_id: int, board_id: int, user_id: int, key: str | None
) -> Mutation:
    shard = access.home(stores, Kind.BOARD, board_id)
    return Mutation(name, shard, viewer_id, key, Member(board_id=board_id, user_id=user_id))


async def _end(
    tx: ShardTx, found: tuple[Board, bytes] | None, user_id: int, absent: NotFound | None = None
) -> Outcome[Board]:
    """End what a user is on a locked board. A user who was never invited is `absent`, if that is
    given."""
    if found is None:
        raise absent or NotFound("There is no such board.", "boardId")
    board = found[0]
    if user_id not in (*board.invited, *board.collaborators):
        return await _unchanged(tx, board, user_id, absent)
    rows = Rows(tx)
    after = await members.place(tx, rows, found, [user_id], None)
    return Outcome(after, Saved(id=board.id), members.changed(rows, after, [user_id]))


async def _unchanged(
    tx: ShardTx, board: Board, user_id: int, absent: NotFound | None = None
) -> Outcome[Board]:
    following = await members.unfinished(tx, board, user_id)
    if following is None and absent is not None:
        raise absent
    return Outcome(board, Saved(id=board.id), following or Change(), durable=False)


def _again(stores: Stores) -> Callable[[Saved], Awaitable[Board]]:
    async def again(saved: Saved) -> Board:
        return await access.recall(stores, Board, saved.id)

    return again


def _uninvited(board_id: int) -> NotFound:
    return NotFound(f"There is no invitation to a board {board_id}.", "boardId")


async def _check_size(stores: Stores, lists: Lists, user_id: int, field: str) -> None:
    """Raises BadInput if the user has too many boards in a list."""
    key = ListKey(lists, user_id)
    if (await stores.shards.mappings.heads([key]))[key].size < MOST_BOARDS:
        return
    if lists is REVERSE[HAS]:
        message = f"Nobody collaborates on more than {MOST_BOARDS} boards: leave one first."
    else:
        message = f"The user has {MOST_BOARDS} invitations to answer: invite them later."
    raise BadInput(message, field)
