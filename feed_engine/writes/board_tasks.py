"""The tasks after a board becomes secret or public, or is deleted: they update its pins, in chunks.

Each chunk reads the board's state under the board's lock, and ignores the state in the task. So
tasks of later changes, repeated chunks, and pins saved or deleted in the meantime give the same
result in any order.
"""

from datasources.errors import StoreCorrupt
from datasources.ids import shard_of
from datasources.mappings import EdgeKey, ListKey, Mapping, PageRequest, Position
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Pin, Section
from feed_engine.outbox.change import Advance, AnyTask, BoardDeleted, BoardSecrecy, Change
from feed_engine.transactions.access import lock_any, recall
from feed_engine.transactions.commit import Rows, commit
from feed_engine.writes import sections
from feed_engine.writes.pin_rows import is_public, published, put_public
from feed_engine.writes.pins import deactivate

CHUNK = 100  # pins or sections in a transaction
LOOKED_AT = 500  # the owner's pins that are read at a time to find the board's pins


async def board_secrecy(
    stores: Stores, task: BoardSecrecy, cursor: bytes | None, advance: Advance
) -> None:
    """Add the board's pins to the public lists and to feeds, or remove them from the public lists.

    The task walks through the owner's pins, whose order never changes. On the board's own list, a
    pin dragged from below the cursor to above it would be missed. Pins saved later already have the
    right rows.
    """
    board = await recall(stores, Board, task.board_id)
    owned = ListKey(Mapping.USER_HAS_PINS, board.owner_id)
    position = _position(cursor)
    while True:
        [rows] = await stores.shards.mappings.pages([PageRequest(owned, LOOKED_AT, position)])
        on_board = await _on_board(stores, board.id, [row.to_id for row in rows])
        for start in range(0, len(on_board), CHUNK):
            await _publish(stores, board.id, on_board[start : start + CHUNK], task.at)
        if len(rows) < LOOKED_AT:
            return
        position = Position(rows[-1].sequence, rows[-1].to_id)
        await advance(f"{position.sequence} {position.to_id}".encode())


async def board_deleted(
    stores: Stores, task: BoardDeleted, cursor: bytes | None, advance: Advance
) -> None:
    """Delete the board's pins, and then its sections. What is deleted leaves its list, so every
    chunk is the top of the list."""
    for mapping, delete in (
        (Mapping.BOARD_HAS_PINS, _delete),
        (Mapping.BOARD_HAS_SECTIONS, _delete_sections),
    ):
        request = PageRequest(ListKey(mapping, task.board_id), CHUNK)
        while rows := (await stores.shards.mappings.pages([request]))[0]:
            await delete(stores, task.board_id, [row.to_id for row in rows], strip=task.strip)


async def _publish(stores: Stores, board_id: int, pin_ids: list[int], at: int) -> None:
    async def work(tx: ShardTx) -> Change:
        board, rows = await _locked_board(tx, board_id), Rows(tx)
        tasks = list[AnyTask]()
        for pin_id in pin_ids:
            placed = await tx.edge(EdgeKey(Mapping.BOARD_HAS_PINS, board_id, pin_id))
            found = await lock_any(tx, Pin, pin_id)
            if placed is not None and placed.active and found is not None:
                await put_public(rows, found[0], board, placed)
                if is_public(found[0], board):
                    tasks.append(published(found[0], at=at))
        return rows.change(tasks=tasks)

    await commit(stores, shard_of(board_id), work)


async def _delete(stores: Stores, board_id: int, pin_ids: list[int], *, strip: bool) -> None:
    async def work(tx: ShardTx) -> Change:
        board, rows = await _locked_board(tx, board_id), Rows(tx)
        for pin_id in pin_ids:
            placed = await tx.edge(EdgeKey(Mapping.BOARD_HAS_PINS, board_id, pin_id))
            found = await lock_any(tx, Pin, pin_id)
            if found is None:
                raise StoreCorrupt(f"board {board_id} holds pin {pin_id}, which does not exist")
            if placed is not None and placed.active:
                await deactivate(tx, rows, board, *found, strip=strip)
        return rows.change(objects=pin_ids)

    await commit(stores, shard_of(board_id), work)


async def _delete_sections(
    stores: Stores, board_id: int, section_ids: list[int], *, strip: bool
) -> None:
    async def work(tx: ShardTx) -> Change:
        await _locked_board(tx, board_id)
        rows = Rows(tx)
        for section_id in section_ids:
            found = await lock_any(tx, Section, section_id)
            if found is None:
                raise StoreCorrupt(f"board {board_id} has section {section_id}, which is gone")
            await sections.deactivate(tx, rows, *found, strip=strip)
        return rows.change(objects=section_ids)

    await commit(stores, shard_of(board_id), work)


async def _locked_board(tx: ShardTx, board_id: int) -> Board:
    found = await lock_any(tx, Board, board_id)
    if found is None:
        raise StoreCorrupt(f"board {board_id} is gone")
    return found[0]


async def _on_board(stores: Stores, board_id: int, pin_ids: list[int]) -> list[int]:
    keys = [EdgeKey(Mapping.BOARD_HAS_PINS, board_id, pin_id) for pin_id in pin_ids]
    rows = await stores.shards.mappings.edges(keys) if keys else {}
    return [key.to_id for key in keys if key in rows and rows[key].active]


def _position(cursor: bytes | None) -> Position | None:
    if cursor is None:
        return None
    sequence, to_id = cursor.split()
    return Position(int(sequence), int(to_id))
