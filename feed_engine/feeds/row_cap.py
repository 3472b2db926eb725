"""Keeps a following row within its cap of pins, and marks a row that was cut.

The cap counts pins, not cells: a pin has a cell for each cause that brought it, and cells of moved
pins stay until a refill removes them. A row that was cut, or was written with only the newest of
many pins, may lack pins that are needed later. The mark tells readers so.
"""

from collections.abc import Iterable

from datasources.clocks import now_ms
from datasources.protocols import Cell, WideColumnStore
from feed_engine.feeds.rows import FOLLOWING, FOLLOWING_APPLIED, behind_pin
from feed_engine.feeds.wide import PAGE

CUT = b"\x01"
"""The column of the mark in FOLLOWING_APPLIED. Its stamp is the epoch ms of the last cut."""


async def trim_following(store: WideColumnStore, row: bytes, pins: int) -> None:
    """Keep the newest `pins` pins of a row on one side, with all their cells."""
    seen, pin, after = 0, b"", None
    kept = 0
    while True:
        page = await store.read(FOLLOWING, row, after=after, limit=PAGE)
        for cell in page:
            here = behind_pin(cell.column)
            if here != pin:
                seen, pin = seen + 1, here
            if seen > pins:
                # The mark is written first: a job that dies before the cut leaves a mark that does
                # no harm.
                await mark_cut(store, [row])
                await store.trim(FOLLOWING, row, kept)
                return
            kept += 1
        if len(page) < PAGE:
            return
        after = page[-1].column


async def mark_cut(store: WideColumnStore, rows: Iterable[bytes]) -> None:
    """Mark on one side that older pins exist than these rows hold."""
    marks = {row: {CUT: b""} for row in rows}
    if marks:
        await store.put(FOLLOWING_APPLIED, marks, now_ms())


async def cut_mark(store: WideColumnStore, row: bytes) -> Cell | None:
    """The mark of the row's last cut on one side."""
    return (await store.get(FOLLOWING_APPLIED, row, [CUT])).get(CUT)
