"""Keeps a following row within its cap, by pins and not by cells, and notes that it was cut.

A pin has a cell for each cause that brought it, and cells of moved pins stay until a refill takes
them out, so the number of cells says nothing about the number of pins. A row that was cut, or was
given the newest of more pins, may lack pins that are wanted later: the mark tells the readers.
"""

from collections.abc import Iterable

from datasources.protocols import Cell, WideColumnStore
from feed_engine.feeds.rows import FOLLOWING, FOLLOWING_APPLIED, behind_pin
from feed_engine.feeds.settings import epoch_ms
from feed_engine.feeds.wide import PAGE

CUT = b"\x01"
"""Column of the row in FOLLOWING_APPLIED; the stamp: epoch ms of the last cut."""


async def trim_following(store: WideColumnStore, row: bytes, pins: int) -> None:
    """Keep the newest pins of a row on one side, with all their cells."""
    seen, pin, after = 0, b"", None
    kept = 0
    while True:
        page = await store.read(FOLLOWING, row, after=after, limit=PAGE)
        for cell in page:
            here = behind_pin(cell.column)
            if here != pin:
                seen, pin = seen + 1, here
            if seen > pins:
                # First the mark: a job that dies in between leaves it, and at worst a needless one.
                await mark_cut(store, [row])
                await store.trim(FOLLOWING, row, kept)
                return
            kept += 1
        if len(page) < PAGE:
            return
        after = page[-1].column


async def mark_cut(store: WideColumnStore, rows: Iterable[bytes]) -> None:
    """Note on one side that there are older pins than these rows were given."""
    marks = {row: {CUT: b""} for row in rows}
    if marks:
        await store.put(FOLLOWING_APPLIED, marks, epoch_ms())


async def cut_mark(store: WideColumnStore, row: bytes) -> Cell | None:
    """The mark of the row's last cut on one side."""
    return (await store.get(FOLLOWING_APPLIED, row, [CUT])).get(CUT)
