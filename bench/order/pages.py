"""Pages of pins deep in a large board, beside pages at its top, and the same pages by OFFSET."""

import random
import statistics
import time

from bench.order.servers import FIRST_MS, BigBoard, Rig
from bench.rows import Row
from datasources.ids import shard_of
from datasources.mappings import ListKey, Mapping, PageRequest, Position

PAGE, FEW = 50, 5
SPREAD = 1_000
"""Each page begins at random within this number of pins of the depth: each page is another one."""
OFFSETS = 3


async def depth_rows(rig: Rig, board: BigBoard, depth: int, rounds: int) -> list[Row]:
    """Pages in turn at both depths, of 50 pins and of 5. The pins below `depth` were loaded in
    order; the few that were moved since make no difference."""
    key = ListKey(Mapping.BOARD_HAS_PINS, board.board.id)
    chooser = random.Random(3)
    times: dict[tuple[int, int], list[float]] = {}
    trips: dict[tuple[int, int], int] = {}
    for number in range(-rounds // 4, rounds):
        for limit in (PAGE, FEW):
            for at in (depth, 0):
                after = _position(board, at + chooser.randrange(SPREAD)) if at else None
                before, began = sum(rig.trips.values()), time.perf_counter()
                [edges] = await rig.stores.shards.mappings.pages([PageRequest(key, limit, after)])
                seconds = time.perf_counter() - began
                assert len(edges) == limit
                if number >= 0:
                    times.setdefault((limit, at), []).append(seconds)
                    trips[limit, at] = sum(rig.trips.values()) - before
    deep, top = (statistics.median(times[PAGE, at]) for at in (depth, 0))
    told = f"{deep * 1e3:.2f} ms, {top * 1e3:.2f} ms"
    if rig.master is not None:
        seconds = _offset_seconds(rig, board, depth)
        told += f"; LIMIT {PAGE} OFFSET {depth:,} takes {seconds * 1e3:,.0f} ms"
    of_page, of_few = trips[PAGE, depth], trips[FEW, depth]
    return [
        Row(f"{rig.name}: page at depth {depth:,} / depth 0", deep / top, "", "<= 1.2", told),
        Row(
            f"{rig.name}: round trips of a page of {PAGE} / of {FEW}, at depth {depth:,}",
            of_page / of_few,
            "",
            "<= 1",
            f"{of_page} and {of_few}",
        ),
    ]


def _position(board: BigBoard, depth: int) -> Position:
    number = board.pins - 1 - depth
    return Position((FIRST_MS + number) * 10**25, board.pin(number))


def _offset_seconds(rig: Rig, board: BigBoard, depth: int) -> float:
    """The page as the published text reads it, without the time of the client's start."""
    shard = shard_of(board.board.id)
    page = (
        f"SELECT to_id FROM db{shard:05d}.board_has_pins WHERE from_id = {board.board.id} "
        f"AND active = 1 ORDER BY sequence DESC, to_id DESC LIMIT {PAGE} OFFSET {depth}"
    )
    return _median_seconds(rig, page) - _median_seconds(rig, "SELECT 1")


def _median_seconds(rig: Rig, statement: str) -> float:
    assert rig.master is not None
    found = []
    for _ in range(OFFSETS):
        began = time.perf_counter()
        rig.master.query(statement, timeout=600)
        found.append(time.perf_counter() - began)
    return statistics.median(found)
