"""Helpers of all feed writes: writes to both sides, reads of whole rows, occasional trimming."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from datasources.protocols import Cell, Sides, Table, WideColumnStore
from feed_engine.feeds.dual import write_both

PAGE = 1000  # cells in a read, when a whole row is read
BATCH = 20_000  # cells in a write; a single row may have more

_Rows = Mapping[bytes, Mapping[bytes, bytes]]


async def read_row(store: WideColumnStore, table: Table, row: bytes) -> list[Cell]:
    """All visible cells of a row. For rows that are trimmed regularly."""
    cells: list[Cell] = []
    while True:
        after = cells[-1].column if cells else None
        page = await store.read(table, row, after=after, limit=PAGE)
        cells += page
        if len(page) < PAGE:
            return cells


async def put_both(sides: Sides, table: Table, rows: _Rows, stamp: int) -> None:
    """Write the cells of many rows to both sides, in batches."""
    for batch in _batches(rows):

        async def put(store: WideColumnStore, batch: _Rows = batch) -> None:
            await store.put(table, batch, stamp)

        await write_both(sides, put)


async def delete_both(
    sides: Sides, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int
) -> None:
    """Hide columns with stamps up to `stamp` on both sides."""
    if rows:
        await write_both(sides, lambda store: store.delete(table, rows, stamp))


async def remove(store: WideColumnStore, table: Table, row: bytes, cells: Iterable[Cell]) -> None:
    """Remove cells of a row from one side, each at its own stamp: a later write of the same column
    stays, whatever the clocks say."""
    by_stamp: dict[int, list[bytes]] = defaultdict(list)
    for cell in cells:
        by_stamp[cell.stamp].append(cell.column)
    for stamp, columns in by_stamp.items():
        await store.delete(table, {row: columns}, stamp)


async def trim_both(sides: Sides, table: Table, rows: Iterable[bytes], keep: int) -> None:
    async def trim(store: WideColumnStore) -> None:
        for row in rows:
            await store.trim(table, row, keep)

    rows = list(rows)
    await write_both(sides, trim)


def due(row: bytes, pin_id: int, cap: int) -> bool:
    """Whether this pin's arrival trims the row. A trim reads the row, so one arrival in a quarter
    of the cap trims. A row may exceed its cap by a few quarters. The same pin gives the same
    answer."""
    return bool(due_rows([row], pin_id, cap))


def due_rows(rows: Iterable[bytes], pin_id: int, cap: int) -> list[bytes]:
    """The rows that this pin's arrival trims."""
    every = cap // 4 or 1
    of_pin = crc32(pin_id.to_bytes(8, "big"))
    return [row for row in rows if crc32(row, of_pin) % every == 0]


def _batches(rows: _Rows) -> Iterable[_Rows]:
    batch: dict[bytes, Mapping[bytes, bytes]] = {}
    size = 0
    for row, cells in rows.items():
        if cells:
            batch[row] = cells
            size += len(cells)
        if size >= BATCH:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch
