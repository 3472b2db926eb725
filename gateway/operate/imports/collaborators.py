"""Loads the collaborators and invited users of boards, on the shards of their boards."""

from functools import partial

from datasources.ids import shard_of
from datasources.mappings import REVERSE, EdgeKey
from datasources.protocols import ShardTx
from datasources.records import Board
from feed_engine.transactions import blocks
from feed_engine.transactions.access import lock_any
from feed_engine.transactions.commit import Rows
from feed_engine.writes import members
from feed_engine.writes.collaborators import MOST
from feed_engine.writes.members import FIELDS, HAS, INVITES
from gateway.operate.imports.load import Edges, Load, Row, batches_by, patiently


async def load_collaborators(load: Load) -> None:
    """Load the members of boards. A user who was a member of the board here once, or was invited,
    stays what they are now. The rows in users' lists are written after the board, as all rows of
    other shards are: a repeated import writes the rows that an interrupted one left out."""
    done, total = 0, load.spool.count("collaborators")
    waiting = (
        "SELECT c.line, c.board, u.id, b.id AS board_id, c.invited, c.created "
        "FROM collaborators c JOIN boards b ON b.key = c.board JOIN users u ON u.key = c.user "
        "ORDER BY board_id, c.created, c.n"
    )
    for board_id, batch in batches_by(load.spool.rows(waiting), lambda row: row[3], MOST):
        joining = _Joining(board_id, batch)
        await load.transact(shard_of(board_id), joining.work)
        load.count_new("collaborator", joining.new)
        for line, key in joining.left_out:
            load.complaints.add(
                line, f"board {key!r} has {MOST} collaborators and invited users here already"
            )
        await _list_members(load, board_id, [row[2] for row in batch])
        if joining.owner_id:
            await _end_blocked(load, board_id, joining.owner_id, [row[2] for row in batch])
        done += len(batch)
        load.step("collaborators", done, total, "collaborators")
    if total:
        load.report.loaded["collaborator"] = total


class _Joining:
    """The members of one board. `new` of them were not there before; `left_out` are the lines of
    members for whom the board has no room, with the board's key. `owner_id` is 0 for a deleted
    board."""

    def __init__(self, board_id: int, batch: list[Row]) -> None:
        self._board_id, self._batch = board_id, batch
        self.new = self.owner_id = 0
        self.left_out: list[tuple[int, str]] = []

    async def work(self, tx: ShardTx) -> None:
        self.new, self.left_out = 0, []
        for line, key, user_id, _, invited, created in self._batch:
            found = await lock_any(tx, Board, self._board_id)
            if found is None or not found[0].active:
                return
            board = found[0]
            self.owner_id = board.owner_id
            known = [EdgeKey(mapping, board.id, user_id) for mapping in FIELDS]
            if user_id == board.owner_id or await tx.edges(known):
                continue
            if len(board.invited) + len(board.collaborators) >= MOST:
                self.left_out.append((line, key))
                continue
            among = INVITES if invited else HAS
            await members.place(tx, Rows(tx), found, [user_id], among, created)
            self.new += 1


async def _list_members(load: Load, board_id: int, user_ids: list[int]) -> None:
    """Write the rows of users' lists, and drop the board from the caches."""
    keys = [EdgeKey(mapping, board_id, user_id) for mapping in FIELDS for user_id in user_ids]
    found = await patiently(partial(load.stores.shards.mappings.edges, keys))
    there: Edges = [(key.mapping, edge) for key, edge in found.items()]
    await load.rows([(REVERSE[mapping], edge.reversed()) for mapping, edge in there])
    await load.forget_lists(there)
    await load.forget_objects([board_id])


async def _end_blocked(load: Load, board_id: int, owner_id: int, user_ids: list[int]) -> None:
    """End the memberships of users whom a block keeps from the board's owner. The blocks are read
    after the memberships were written, and a block ends memberships after it was written: so one of
    the two sees the other."""
    for user_id in user_ids:

        async def kept_apart(tx: ShardTx, user_id: int = user_id) -> bool:
            return await blocks.hold_in(tx, user_id, owner_id)

        if await load.transact(shard_of(user_id), kept_apart):
            await patiently(partial(members.end, load.stores, board_id, user_id.__eq__))
