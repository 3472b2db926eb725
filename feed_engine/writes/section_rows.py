"""The rows of pins in sections. A pin is in at most one section, which is on the pin's board: the
pin's `section_id` names it, and the section's list has the pin's row. Both change in one
transaction, under the board's lock."""

from datasources.errors import BadInput, StoreCorrupt
from datasources.ids import shard_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.records import Board, Pin, Section
from feed_engine.ordering import order
from feed_engine.transactions import access
from feed_engine.transactions.commit import Rows

IN_SECTION = Mapping.SECTION_HAS_PINS


async def check_section(tx: ShardTx, section_id: int, board: Board) -> None:
    """Lock the section. The board is locked. Raises BadInput unless the section is on the board:
    also for sections that the viewer can't see."""
    found = None
    if shard_of(section_id) == tx.shard:
        found = await access.lock_any(tx, Section, section_id)
    if found is None or not found[0].active or found[0].board_id != board.id:
        raise BadInput(
            f"There is no section {section_id} on the board: it may have been deleted. Choose "
            "another section, or none.",
            "sectionId",
        )


async def enter(tx: ShardTx, rows: Rows, section_id: int, pin: Pin) -> Edge:
    """Put the row of a new pin on top of a section that was checked. The pin's `section_id` names
    the section already. Returns the row."""
    key = ListKey(IN_SECTION, section_id)
    await tx.head(key)
    top = await tx.top(key)
    sequence = order.top(pin.created, top.sequence if top else None)
    row = Edge(section_id, pin.id, sequence, 1, era=await tx.era(key))
    await rows.put(IN_SECTION, row)
    return row


async def leave(tx: ShardTx, rows: Rows, pin: Pin) -> None:
    """End the locked pin's row in its section, if it is in one. The caller clears `section_id`."""
    if pin.section_id is not None:
        await end_row(tx, rows, pin.section_id, pin.id)


async def end_row(tx: ShardTx, rows: Rows, section_id: int, pin_id: int) -> None:
    """End a pin's row in a section."""
    await tx.head(ListKey(IN_SECTION, section_id))
    row = await tx.edge(EdgeKey(IN_SECTION, section_id, pin_id))
    if row is None:
        raise StoreCorrupt(f"pin {pin_id} is not in its section {section_id}")
    if row.active:
        await rows.put(IN_SECTION, row._replace(version=row.version + 1, active=False))
