"""A reorder on a board of 200,000 pins costs the same as on a board of 100: the same rows."""

from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import pytest

from bench.order.measures import counters, without_renewals
from bench.order.servers import BigBoard, Rig, mariadb, sqlite
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from feed_engine import writes
from feed_engine.outbox.completion import settle

pytestmark = pytest.mark.anyio
LARGE, SMALL = 200_000, 100
ON_BOARD = Mapping.BOARD_HAS_PINS


class Make(Protocol):
    def __call__(self, folder: Path) -> AbstractAsyncContextManager[Rig]: ...


def places(pins: int) -> dict[str, tuple[int, int]]:
    """Moves: for each, the pin's number from the bottom, and the number of the pin directly above
    its new place."""
    return {
        "top": (pins // 3, pins - 1),
        "middle": (pins // 4, pins // 2),
        "bottom": (pins // 5, 1),
    }


@pytest.mark.parametrize("make", [sqlite, mariadb])
async def test_a_reorder_costs_the_same_on_a_board_of_200_000_pins(
    make: Make, tmp_path: Path
) -> None:
    async with make(tmp_path) as rig:
        owner = await rig.user()
        large, small = await rig.board(owner, LARGE), await rig.board(owner, SMALL)
        await _reorder(rig, small, SMALL // 2, SMALL - 10)  # opens connections, warms caches
        await _reorder(rig, large, LARGE // 2, LARGE - 10)
        for place in places(SMALL):
            costs = []
            for board in (small, large):
                moved, anchor = places(board.pins)[place]
                before = await _neighborhood(rig, board, moved, anchor)
                costs.append(await _reorder(rig, board, moved, anchor))
                after = await _neighborhood(rig, board, moved, anchor)
                known = {row.to_id: row for row in before}
                changed = [row.to_id for row in after if known.get(row.to_id, row) != row]
                assert changed == [board.pin(moved)]
                order = [row.to_id for row in sorted(after, key=lambda row: -row.sequence)]
                at = order.index(board.pin(anchor))
                assert order[at + 1] == board.pin(moved)
            on_small, on_large = costs
            assert on_large == on_small, place


async def _reorder(rig: Rig, board: BigBoard, moved: int, anchor: int) -> Counter[str]:
    """The statements and the Handler_* counters of one reorder, without the statements that read
    the counters. On SQLite, which has no such counters, only the round trips."""
    await settle()
    with without_renewals(rig):
        trips = Counter(rig.trips)
        first = counters(rig) if rig.master else Counter[str]()
        start = counters(rig) if rig.master else Counter[str]()
        await writes.reorder_pin(
            *(rig.stores, board.board.owner_id, board.board.id),
            *(board.pin(moved), board.pin(anchor)),
        )
        await settle()
        end = counters(rig) if rig.master else Counter[str]()
    cost = Counter({name: end[name] - 2 * start[name] + first[name] for name in end})
    if rig.master:
        assert cost["board_has_pins changed"] == 1
        assert cost["handler_read_key"] > 0
        # TABLE_STATISTICS has 5 for the board that was loaded first and 7 for the other, whichever
        # is larger.
        del cost["board_has_pins read"]
    return cost + (rig.trips - trips)


async def _neighborhood(rig: Rig, board: BigBoard, moved: int, anchor: int) -> list[Edge]:
    """The moved row, and a hundred rows around the anchor."""
    key = ListKey(ON_BOARD, board.board.id)

    async def read(tx: ShardTx) -> list[Edge]:
        rows = [await tx.edge(EdgeKey(*key, board.pin(number))) for number in (moved, anchor)]
        own, center = rows
        assert own is not None
        assert center is not None
        below = await tx.rows_below(key, center.sequence + 1, 50)
        above = await tx.rows_above(key, center.sequence, 50)
        return list({row.to_id: row for row in (own, *below, *above)}.values())

    return await rig.stores.shards.objects.transact(0, read)
