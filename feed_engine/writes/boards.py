"""Creates, changes and deletes boards.

A board is on its owner's shard. The versions of rows that depend on its being secret or deleted
include the board's `flips`, so writes and jobs that see different states give the same result in
any order.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import BadInput
from datasources.ids import Kind
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Board
from feed_engine.live import events
from feed_engine.outbox.change import AnyTask, BoardDeleted, BoardSecrecy, TextChanged
from feed_engine.transactions import access, blocks
from feed_engine.transactions.commit import Mutation, Outcome, Rows, Saved, mutate, nothing, row_of
from feed_engine.transactions.edit import edit
from feed_engine.transactions.inputs import BoardChange, NewBoard, Target
from feed_engine.transactions.results import BoardWritten


async def create_board(
    stores: Stores, viewer_id: int, new: NewBoard, *, key: str | None = None, at: int | None = None
) -> BoardWritten:
    """Create a board of the viewer. `at` is epoch ms; the default is now. Raises BadInput."""
    new = new.checked()

    async def work(tx: ShardTx, _: None) -> Outcome[BoardWritten]:
        if await blocks.closed_in(tx, viewer_id):
            raise access.missing(Kind.USER, viewer_id)
        board = Board(
            created=at if at is not None else now_ms(),
            name=new.name,
            owner_id=viewer_id,
            description=new.description,
            secret=new.secret,
        )
        id = await tx.insert(Kind.BOARD, records.encode(board))
        board = msgspec.structs.replace(board, id=id)
        rows = Rows(tx)
        edge, public = _rows_of(board)
        await rows.put(Mapping.USER_HAS_BOARDS, edge)
        if public.active:
            await rows.put(Mapping.USER_HAS_PUBLIC_BOARDS, public)
        saved = Saved(id=id, row=row_of(edge))
        tasks = [TextChanged(object_ids=(id,))] if public.active else []
        return Outcome(BoardWritten(board, edge), saved, rows.change(tasks=tasks))

    async def again(saved: Saved) -> BoardWritten:
        return BoardWritten(await access.recall(stores, Board, saved.id), saved.edge())

    shard = access.home(stores, Kind.USER, viewer_id)
    mutation = Mutation("createBoard", shard, viewer_id, key, new)
    return await mutate(stores, mutation, nothing, work, again)


async def update_board(
    stores: Stores, viewer_id: int, board_id: int, wanted: BoardChange, *, key: str | None = None
) -> Board:
    """Change a board of the viewer. If it becomes secret or public, readers use the board's new
    state at once; jobs update lists of public pins and feeds. Raises BadInput, NotFound, Forbidden.
    """
    fields = wanted.fields()

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        board, raw = await access.lock_own_board(tx, viewer_id, board_id)
        changes = {name: it for name, it in fields.items() if it != getattr(board, name)}
        if cover := changes.get("cover_pin_id"):
            await _check_cover(tx, board_id, cover)
        rows, tasks = Rows(tx), list[AnyTask]()
        if "secret" in changes:
            changes["flips"] = board.flips + 1
        after = await edit(tx, board, raw, changes)
        if "secret" in changes:
            tasks.append(BoardSecrecy(board_id=board_id, secret=after.secret, at=now_ms()))
        elif not after.secret and changes.keys() & {"name", "description"}:
            tasks.append(TextChanged(object_ids=(board_id,)))
        if "secret" in fields and after.flips:
            # Also if nothing changes: an earlier change of `flips` may be missing on another shard.
            await rows.put(Mapping.USER_HAS_PUBLIC_BOARDS, _rows_of(after)[1])
        told = [events.edited(board_id)] if changes else []
        following = rows.change(objects=[board_id], tasks=tasks, events=told)
        return Outcome(after, Saved(id=board_id), following, durable=bool(changes))

    shard = access.home(stores, Kind.BOARD, board_id)
    given = Target(id=board_id, change=wanted)
    return await _on_board(stores, Mutation("updateBoard", shard, viewer_id, key, given), work)


async def delete_board(
    stores: Stores, viewer_id: int, board_id: int, *, key: str | None = None
) -> Board:
    """Delete a board of the viewer; a job deletes its pins. Returns the inactive board. Raises
    NotFound, Forbidden."""

    async def work(tx: ShardTx, _: None) -> Outcome[Board]:
        board, raw = await access.lock_own_board(tx, viewer_id, board_id)
        rows = Rows(tx)
        after = await deactivate(tx, rows, board, raw, {})
        tasks = [BoardDeleted(board_id=board_id, at=now_ms())]
        following = rows.change(objects=[board_id], tasks=tasks, events=[events.edited(board_id)])
        return Outcome(after, Saved(id=board_id), following)

    shard, given = access.home(stores, Kind.BOARD, board_id), Target(id=board_id)
    mutation = Mutation("deleteBoard", shard, viewer_id, key, given, takes_back=True)
    return await _on_board(stores, mutation, work)


async def deactivate(
    tx: ShardTx, rows: Rows, board: Board, raw: bytes, changes: dict[str, Any]
) -> Board:
    """Deactivate a locked board and its rows, with further changes. Returns the inactive board."""
    after = await edit(tx, board, raw, {**changes, "active": False, "flips": board.flips + 1})
    for mapping, edge in zip(_LISTS, _rows_of(after), strict=True):
        await rows.put(mapping, edge)
    return after


_LISTS = (Mapping.USER_HAS_BOARDS, Mapping.USER_HAS_PUBLIC_BOARDS)


def _rows_of(board: Board) -> tuple[Edge, Edge]:
    """The board's rows in its owner's list of boards and in the list of the owner's public
    boards."""
    sequence, version = board.created * SEQUENCE_STEP, 1 + board.flips
    return (
        Edge(board.owner_id, board.id, sequence, version, board.active),
        Edge(board.owner_id, board.id, sequence, version, board.active and not board.secret),
    )


async def _check_cover(tx: ShardTx, board_id: int, pin_id: int) -> None:
    row = await tx.edge(EdgeKey(Mapping.BOARD_HAS_PINS, board_id, pin_id))
    if row is None or not row.active:
        raise BadInput(f"The cover must be a pin of the board: pin {pin_id} is not.", "coverPinId")


async def _on_board(
    stores: Stores,
    mutation: Mutation,
    work: Callable[[ShardTx, None], Awaitable[Outcome[Board]]],
) -> Board:
    async def again(saved: Saved) -> Board:
        return await access.recall(stores, Board, saved.id)

    return await mutate(stores, mutation, nothing, work, again)
