"""The task after a section was deleted: it takes the section's pins out of it, in chunks.

Readers don't find a deleted section, so they see its pins in no section from the start.
"""

from datasources.errors import StoreCorrupt
from datasources.ids import shard_of
from datasources.mappings import ListKey, PageRequest
from datasources.protocols import ShardTx, Stores
from datasources.records import Board, Pin, Section
from feed_engine.outbox.change import Advance, Change, SectionDeleted
from feed_engine.transactions.access import lock_any, recall
from feed_engine.transactions.commit import Rows, commit
from feed_engine.transactions.edit import edit
from feed_engine.writes.section_rows import IN_SECTION, end_row

CHUNK = 100  # pins in a transaction


async def section_deleted(
    stores: Stores, task: SectionDeleted, cursor: bytes | None, advance: Advance
) -> None:
    """Take the pins out of the section. They leave the list, so every chunk is its top."""
    request = PageRequest(ListKey(IN_SECTION, task.section_id), CHUNK)
    while rows := (await stores.shards.mappings.pages([request]))[0]:
        section = await recall(stores, Section, task.section_id)
        await _take_out(stores, section, [row.to_id for row in rows])


async def _take_out(stores: Stores, section: Section, pin_ids: list[int]) -> None:
    async def work(tx: ShardTx) -> Change:
        board = await lock_any(tx, Board, section.board_id)
        rows = Rows(tx)
        for pin_id in pin_ids:
            found = await lock_any(tx, Pin, pin_id)
            if board is None or found is None:
                raise StoreCorrupt(f"section {section.id} has pin {pin_id}, which is gone")
            pin, raw = found
            if pin.section_id == section.id:
                await edit(tx, pin, raw, {"section_id": None, "flips": board[0].flips})
            await end_row(tx, rows, section.id, pin_id)
        return rows.change(objects=pin_ids)

    await commit(stores, shard_of(section.id), work)
