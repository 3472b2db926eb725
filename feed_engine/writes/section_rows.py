"""The rows of pins in sections. A pin is in at most one section, which is on the pin's board: the
pin's `section_id` names it, and the section's list has the pin's row. Both change in one
transaction, under the board's lock."""

from datasources.errors import StoreCorrupt
from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.records import Pin
from feed_engine.transactions.commit import Rows

IN_SECTION = Mapping.SECTION_HAS_PINS


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
