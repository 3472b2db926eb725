"""The tasks after a board becomes secret or public, or is deleted: they update its pins, in chunks.

Each chunk reads the board's state under the board's lock, and ignores the state in the task. So
tasks of later changes, repeated chunks, and pins saved or deleted in the meantime give the same
result in any order.
"""

from datasources.errors import StoreCorrupt
from datasources.ids import shard_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Pin, Section
from feed_engine.outbox.change import Advance, AnyTask, BoardDeleted, BoardSecrecy, Change
from feed_engine.transactions.access import lock_any
from feed_engine.transactions.commit import Rows, commit
from feed_engine.writes import members, sections
from feed_engine.writes.pin_rows import is_public, published, put_public
from feed_engine.writes.pins import deactivate

CHUNK = 100  # pins or sections in a transaction


async def board_secrecy(
    stores: Stores, task: BoardSecrecy, cursor: bytes | None, advance: Advance
) -> None:
    """Add the board's pins to the public lists and to feeds, or remove them from the public lists.

    The task walks through the board's rows by the pins' ids. In the order of the board, a pin
    dragged from below the cursor to above it would be missed. Pins saved later already have the
    right rows.
    """
    listed, after = ListKey(Mapping.BOARD_HAS_PINS, task.board_id), _pin_of(cursor)
    while True:

        async def chunk(tx: ShardTx, after: int = after) -> list[Edge]:
            return await tx.rows_of(listed, after, CHUNK)

        rows = await stores.shards.objects.transact(shard_of(task.board_id), chunk)
        if on_board := [row.to_id for row in rows if row.active]:
            await _publish(stores, task.board_id, on_board, task.at)
        if len(rows) < CHUNK:
            return
        after = rows[-1].to_id
        await advance(str(after).encode())


async def board_deleted(
    stores: Stores, task: BoardDeleted, cursor: bytes | None, advance: Advance
) -> None:
    """End memberships of the board, delete its pins, and then its sections. What is deleted leaves
    its list, so every chunk is the top of the list."""
    await members.end(stores, task.board_id, lambda _: True)
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


def _pin_of(cursor: bytes | None) -> int:
    """The last pin of a cursor; 0 at the start. Earlier versions walked through the owner's pins,
    with cursors of two numbers: their walks begin again."""
    return 0 if cursor is None or b" " in cursor else int(cursor)
