"""The rows of a board's collaborators and invited users, and the end of memberships.

The board's record says who its members are (`records.Board`). The rows are lists of them: of the
board, and of each user. All of it changes under the board's lock, on the board's shard; the rows of
users on other shards are copies. A row's version grows by one with each change, so repeated and
reordered copies end in the same state.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from datasources.ids import shard_of
from datasources.mappings import (
    REVERSE,
    SEQUENCE_STEP,
    Edge,
    EdgeKey,
    ListKey,
    PageRequest,
    next_pages,
)
from datasources.mappings import Mapping as Lists
from datasources.protocols import ShardTx, Stores
from datasources.records import Board
from feed_engine.live import events
from feed_engine.outbox.change import AnyTask, Change, MembershipChanged, change
from feed_engine.transactions import access
from feed_engine.transactions.commit import Rows, commit
from feed_engine.transactions.edit import edit

INVITES, HAS = Lists.BOARD_INVITES_USERS, Lists.BOARD_HAS_COLLABORATORS
FIELDS: Mapping[Lists, str] = {INVITES: "invited", HAS: "collaborators"}
"""The board's lists, and the field of its record that has the same users."""
PAGE = 500  # rows of a user's list that are read together


async def place(
    tx: ShardTx,
    rows: Rows,
    found: tuple[Board, bytes],
    user_ids: Iterable[int],
    among: Lists | None,
    at: int = 0,
) -> Board:
    """Put users of a locked board among its invited users or its collaborators, and nowhere else;
    with None, among neither. Returns the board as it is then. `at` is epoch ms."""
    board, raw = found
    changes: dict[str, Any] = {}
    for mapping, field in FIELDS.items():
        present = before = getattr(board, field)
        for user_id in user_ids:
            wanted = mapping is among
            if (user_id in present) == wanted:
                continue
            present = tuple(id for id in present if id != user_id)
            if wanted:
                present = (*present, user_id)
            await tx.head(ListKey(mapping, board.id))
            row = await tx.edge(EdgeKey(mapping, board.id, user_id))
            row = row or Edge(board.id, user_id, 0, 0)
            edge = row._replace(
                sequence=at * SEQUENCE_STEP if wanted else row.sequence,
                version=row.version + 1,
                active=wanted,
            )
            await rows.put(mapping, edge)
            await rows.put(REVERSE[mapping], edge.reversed())
        if present != before:
            changes[field] = present
    return await edit(tx, board, raw, changes)


async def unfinished(tx: ShardTx, board: Board, user_id: int) -> Change | None:
    """The work that an earlier change of the user's rows may have left; None if the user was never
    invited."""
    keys = [EdgeKey(mapping, board.id, user_id) for mapping in FIELDS]
    if not (found := await tx.edges(keys)):
        return None
    return change(
        edges=[(REVERSE[key.mapping], edge.reversed()) for key, edge in found.items()],
        lists=[ListKey(key.mapping, board.id) for key in found],
        objects=[board.id],
    )


def changed(rows: Rows, board: Board, user_ids: Iterable[int]) -> Change:
    """The work after users were placed: streams of the board look at it again, and the users and
    the owner are notified."""
    tasks: list[AnyTask] = [MembershipChanged(board_id=board.id, user_id=id) for id in user_ids]
    return rows.change(objects=[board.id], tasks=tasks, events=[events.edited(board.id)])


async def end(stores: Stores, board_id: int, which: Callable[[int], bool]) -> None:
    """End the memberships and invitations of the users of a board that `which` names."""

    async def work(tx: ShardTx) -> Change | None:
        found = await access.lock_any(tx, Board, board_id)
        if found is None:
            return None
        board = found[0]
        user_ids = [id for id in (*board.invited, *board.collaborators) if which(id)]
        if not user_ids:
            return None
        rows = Rows(tx)
        await place(tx, rows, found, user_ids, None)
        return changed(rows, board, user_ids)

    await commit(stores, shard_of(board_id), work)


async def end_of(stores: Stores, user_id: int, owner_id: int | None = None) -> None:
    """End the user's memberships and invitations, of all boards or of an owner's boards."""
    async for ids in _boards_of(stores, user_id):
        boards = await access.read(stores, Board, ids)
        for id in ids:
            if owner_id is None or (id in boards and boards[id].owner_id == owner_id):
                await end(stores, id, user_id.__eq__)


async def end_between(stores: Stores, one_id: int, other_id: int) -> None:
    """End what each of two users is on the other's boards."""
    await end_of(stores, one_id, other_id)
    await end_of(stores, other_id, one_id)


async def _boards_of(stores: Stores, user_id: int) -> AsyncIterator[list[int]]:
    """The boards on which a user collaborates, and to which the user is invited."""
    wanted = [PageRequest(ListKey(REVERSE[mapping], user_id), PAGE) for mapping in FIELDS]
    while wanted:
        pages = await stores.shards.mappings.pages(wanted)
        if ids := list(dict.fromkeys(edge.to_id for page in pages for edge in page)):
            yield ids
        wanted = next_pages(wanted, pages)
