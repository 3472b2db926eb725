"""The hand-over of a chunk: killed at any step and run again, it produces the same state."""

import itertools
from collections.abc import Sequence
from typing import Any, cast

import pytest

from bench.call_counts import Counts
from datasources.errors import StoreError
from datasources.protocols import Cell, Sides, Stores, Table, WideColumnStore
from datasources.records import User
from feed_engine.feeds.counts import COUNTS
from feed_engine.feeds.rows import (
    MATERIALIZED,
    POOLS,
    SHOWN,
    Source,
    id_row,
    parse_pool,
    pool_column,
    pool_row,
    why,
)
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import handover
from feed_engine.feeds.smart.handover import TRIM_EVERY, visit_shown
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import VisitShown
from feed_engine.times import DAY
from tests.faulty import Unwell, with_part
from tests.feeds import Feeding, pins_of

pytestmark = pytest.mark.anyio


async def state(feeding: Feeding, viewer: User) -> list[list[Cell]]:
    """The rows that a visit changes, in the feeds and in the pools, on both sides."""
    feeds = [
        await read_row(side, table, id_row(viewer.id))
        for side in feeding.stores.feeds
        for table in (MATERIALIZED, SHOWN)
    ]
    pools = [
        await read_row(side, POOLS, pool_row(viewer.id, source))
        for side in feeding.stores.pools
        for source in Source
    ]
    return feeds + pools


async def reader(feeding: Feeding, count: int = 8) -> User:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    await feeding.follow(viewer, board.id)
    await feeding.pins(board, count)
    await feeding.drain()
    return viewer


async def test_a_chunk_moves_from_the_pools_to_the_materialized_feed(feeding: Feeding) -> None:
    viewer = await reader(feeding)
    page = await feeding.home(viewer)
    await feeding.drain()
    for side in feeding.stores.feeds:
        assert len(await read_row(side, MATERIALIZED, id_row(viewer.id))) == 5
        shown = await read_row(side, SHOWN, id_row(viewer.id))
        assert {int.from_bytes(cell.column, "big") for cell in shown} == set(pins_of(page))
    for side in feeding.stores.pools:  # each pin had a cell for its owner and one for its board
        assert len(await read_row(side, POOLS, pool_row(viewer.id, Source.FOLLOWED))) == 6
    (visit,) = await feeding.stores.shards.visits.recent(viewer.id, 9)
    assert visit.saved


@pytest.mark.parametrize("which", ["feeds 0", "feeds 1", "pools 0", "pools 1", "visits"])
async def test_killed_at_any_call_and_run_again_it_ends_in_the_same_state(
    feeding: Feeding, which: str
) -> None:
    viewer = await reader(feeding)
    whole = await feeding.home(viewer, visit="one")
    (task,) = await feeding.tasks()
    assert isinstance(task, VisitShown)
    for calls in itertools.count():
        try:
            await feeding.run(task, stores=killed(feeding.stores, which, calls))
            break
        except StoreError:
            assert await feeding.home(viewer, visit="one", first=50) == whole
            told = await feeding.stores.shards.visits.recent(viewer.id, 9)
            assert [visit.saved for visit in told] == [False]
    assert calls > 1
    after = await state(feeding, viewer)
    halves = [after[0:2], after[2:4], after[4:8], after[8:12]]
    assert halves[0] == halves[1]
    assert halves[2] == halves[3]
    await feeding.run(task)
    assert await state(feeding, viewer) == after
    assert await feeding.home(viewer, visit="one", first=50) == whole


def killed(stores: Stores, which: str, after: int) -> Stores:
    """The stores, one of which stops answering after `after` calls."""
    if which == "visits":
        return with_part(stores, which, Unwell(stores.shards.visits, after=after))
    name, side = which.split()
    sides = list(getattr(stores, name))
    sides[int(side)] = Unwell(sides[int(side)], after=after)
    if name == "feeds":
        return stores._replace(feeds=Sides(*sides))
    return stores._replace(pools=Sides(*sides))


async def test_jobs_of_several_visits_may_run_in_any_order(feeding: Feeding) -> None:
    ends = []
    for order in itertools.permutations(range(3)):
        viewer = await reader(feeding, 20)
        await feeding.empty_popular()  # pins of other owners
        for _ in range(3):
            await feeding.home(viewer)
        tasks = [task for task in await feeding.tasks() if isinstance(task, VisitShown)]
        assert [task.generation for task in tasks] == [1, 2, 3]
        for number in order:
            await feeding.run(tasks[number])
        ends.append([[cell.column[:10] for cell in row] for row in (await state(feeding, viewer))])
        assert (await feeding.home(viewer, first=50)).health.may_be_stale is False
        await feeding.drain()
    lengths = [[len(row) for row in end] for end in ends]
    assert all(end == lengths[0] for end in lengths)
    assert all(end[0] == ends[0][0] for end in ends)


async def test_the_materialized_feed_is_trimmed_to_its_newest_pins(feeding: Feeding) -> None:
    settings = FeedSettings(chunk=2, materialized_cap=5)
    feeding.settings = settings
    viewer = await reader(feeding, 2 * TRIM_EVERY)
    shown: list[int] = []
    for _ in range(TRIM_EVERY):
        shown = pins_of(await feeding.home(viewer, first=2)) + shown
        (task,) = await feeding.tasks()
        assert isinstance(task, VisitShown)
        await visit_shown(feeding.stores, task, None, _nowhere, settings=settings)
        await feeding.drain()
    for side in feeding.stores.feeds:
        assert len(await read_row(side, MATERIALIZED, id_row(viewer.id))) == 5
        assert len(await read_row(side, SHOWN, id_row(viewer.id))) == len(shown) == 16


async def _nowhere(cursor: bytes) -> None: ...


async def test_marks_of_shown_pins_are_kept_for_a_stated_time_and_then_forgotten(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pins that are still among the earlier pins of the feed keep their marks: a visit that showed
    them as new would list them twice."""
    monkeypatch.setattr(handover, "FORGET_EVERY", 1)
    settings = feeding.settings = FeedSettings(chunk=2, materialized_cap=4, shown_days=10)
    viewer = await reader(feeding, 40)
    shown: list[int] = []

    async def visit(days: int) -> list[int]:
        feeding.now += days * 24 * 3600 * 1000
        shown.extend(pins_of(await feeding.home(viewer, first=2)))
        (task,) = await feeding.tasks()
        assert isinstance(task, VisitShown)
        await visit_shown(feeding.stores, task, None, _nowhere, settings=settings)
        await feeding.drain()
        rows = [await read_row(s, SHOWN, id_row(viewer.id)) for s in feeding.stores.feeds]
        assert rows[0] == rows[1]
        return sorted(int.from_bytes(cell.column, "big") for cell in rows[0])

    before = COUNTS.shown_forgotten
    for _ in range(TRIM_EVERY):
        assert await visit(days=1) == sorted(shown)
    assert await visit(days=4) == sorted(shown[2:])  # the first is older than ten days
    assert await visit(days=90) == sorted(shown[12:])  # two visits, since the last trim, and this
    assert COUNTS.shown_forgotten - before == 2 * 12  # on two sides


async def test_one_job_hands_over_all_that_its_users_visits_left(feeding: Feeding) -> None:
    viewer = await reader(feeding, 20)
    for _ in range(3):
        await feeding.home(viewer)
    tasks = [task for task in await feeding.tasks() if isinstance(task, VisitShown)]
    await feeding.run(tasks[1])
    told = await feeding.stores.shards.visits.recent(viewer.id, 9)
    assert [visit.saved for visit in told] == [True] * 3
    for task in tasks:  # it calls no feed store any more
        await feeding.run(task, stores=killed(feeding.stores, "feeds 0", 0))


class Asked:
    """A real store that records the pins that are looked up for a user."""

    def __init__(self, store: WideColumnStore) -> None:
        self._store = store
        self.pins: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        self.pins += columns
        return await self._store.get(table, row, columns)


async def test_the_job_of_a_visit_reads_few_cells_of_the_pools(feeding: Feeding) -> None:
    viewer = await reader(feeding, 60)
    feeding.now += DAY
    await feeding.home(viewer)
    (task,) = await feeding.tasks()
    counts = Counts()
    await feeding.run(task, stores=counts.of(feeding.stores))
    assert {name: n for name, n in counts.calls.items() if name.startswith("pools")} == {
        "pools.get": 2,
        "pools.delete": 2,
    }
    for side in feeding.stores.pools:
        assert len(await read_row(side, POOLS, pool_row(viewer.id, Source.FOLLOWED))) == 2 * 55


async def test_shown_pins_that_came_back_leave_with_a_sweep(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pin that moved away from a followed board leaves, too."""
    monkeypatch.setattr(handover, "SWEEP_EVERY", 2)
    viewer = await reader(feeding, 12)
    row = pool_row(viewer.id, Source.FOLLOWED)
    before = await read_row(feeding.stores.pools.primary, POOLS, row)
    await feeding.home(viewer)
    await feeding.drain()
    for side in feeding.stores.pools:
        await side.put(POOLS, {row: {c.column: c.value for c in before}}, feeding.now + DAY)
    board, [place] = await feeding.board(await feeding.user()), [before[-1]]
    other = {pool_column(parse_pool(place.column)._replace(score=1.0)): why(board.id)}
    for side in feeding.stores.pools:
        await side.put(POOLS, {row: other}, 1)
    await feeding.home(viewer)
    await feeding.drain()
    for side in feeding.stores.pools:
        assert len(await read_row(side, POOLS, row)) == 2 * 2


async def test_a_pin_that_both_sides_have_is_looked_up_once(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "SWEEP_EVERY", 1)
    viewer = await reader(feeding, 8)
    chunk = pins_of(await feeding.home(viewer))
    (task,) = await feeding.tasks()
    asked = Asked(feeding.stores.feeds.primary)
    sides = Sides(cast(WideColumnStore, asked), feeding.stores.feeds.standby)
    await feeding.run(task, stores=feeding.stores._replace(feeds=sides))
    assert len(asked.pins) == len(chunk) + 8  # for the materialized feed, and for the pools
