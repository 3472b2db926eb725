"""Trims of pools, and the marks by which a pool that was cut and became short is filled again.

A pool keeps its best pins. When these are shown, deleted or hidden, the pool may be short although
older pins exist. A trim marks the pool before and after it cuts. A filling notes which mark it saw.
A pool whose mark is later than the noted one may lack pins, and a reader who comes to its end
requests a filling. The stamps of both marks only grow, whatever the clocks say.
"""

from collections.abc import Mapping

from datasources.clocks import now_ms
from datasources.protocols import Cell, WideColumnStore
from feed_engine.feeds.refill_requests import ASK_AGAIN, ASKED
from feed_engine.feeds.rows import POOLS, POOLS_APPLIED, id_row
from feed_engine.times import MINUTE

CUT = b"\x01"
"""The column, in the row of a user or an interest in POOLS_APPLIED, of the mark of a cut."""
FILLED = b"\x02"
"""The column of the mark of a filling. Its stamp is the stamp of the cut's mark that the filling
saw."""
FILL_AGAIN = 10 * MINUTE
"""The time, in ms, after which a pool is filled again: its interest may have more pins than the
pool, and readers come to its end all the time."""


async def cut(store: WideColumnStore, row: bytes, owner_id: int, keep: int) -> None:
    """Keep the best `keep` pins of a pool of a user or an interest, on one side."""
    if len(await store.read(POOLS, row, limit=keep + 1)) > keep:
        await mark_cut(store, owner_id)  # a trim that dies half way has left a mark
        await store.trim(POOLS, row, keep)
        await mark_cut(store, owner_id)  # a filling that saw the first mark may have been cut


async def mark_cut(store: WideColumnStore, owner_id: int) -> None:
    """Mark on one side that more pins exist than the pool has."""
    marks = await _marks(store, owner_id)
    stamp = max(now_ms(), _stamp(marks, CUT) + 1, _stamp(marks, FILLED) + 1)
    await store.put(POOLS_APPLIED, {id_row(owner_id): {CUT: b""}}, stamp)


async def cut_seen(store: WideColumnStore, owner_id: int) -> int:
    """The stamp of the mark of the last cut; 0 if there is none. A filling reads it first."""
    marks = await _marks(store, owner_id)
    return marks[CUT].stamp if CUT in marks else 0


async def mark_filled(store: WideColumnStore, owner_id: int, seen: int, *, complete: bool) -> None:
    """Record that a pool was filled after the cut `seen`. Unless the pool is `complete`, later
    readers may request another filling."""
    if not complete and not seen:
        await mark_cut(store, owner_id)
    stamp = max(1, seen if complete else 0)
    await store.put(POOLS_APPLIED, {id_row(owner_id): {FILLED: b""}}, stamp)


async def may_lack(
    store: WideColumnStore, owner_id: int, *, filled: bool = True, now: int | None = None
) -> bool:
    """Whether a pool that is short may lack pins. `filled`: False if a pool lacks pins until its
    first filling. `now`: not if a filling was requested shortly before this epoch ms."""
    marks = await _marks(store, owner_id)
    never = not filled and FILLED not in marks
    if not never and _stamp(marks, CUT) <= _stamp(marks, FILLED):
        return False
    # The clock that stamped the request may be ahead of this clock.
    since = None if now is None or ASKED not in marks else abs(now - marks[ASKED].stamp)
    return since is None or since >= (ASK_AGAIN if never else FILL_AGAIN)


async def _marks(store: WideColumnStore, owner_id: int) -> dict[bytes, Cell]:
    return await store.get(POOLS_APPLIED, id_row(owner_id), [CUT, FILLED, ASKED])


def _stamp(marks: Mapping[bytes, Cell], column: bytes) -> int:
    return marks[column].stamp if column in marks else 0
