"""Random schedules of the following feed and of visits on two real HBase clusters,
where trims and deletions leave markers.

Several models run at once, each with its own rows, because a schedule mostly waits for HBase.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from datasources.protocols import Sides
from deploy.stack import Stack
from feed_engine import writes
from feed_engine.feeds.rows import TABLES_FEEDS, TABLES_POOLS, Reason
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.interests import tidy
from feed_engine.times import HOUR
from tests.contract.wide_columns import drop_tables, hbase
from tests.feeds import START, Feeding
from tests.following.jobs import drain
from tests.following.quick import apart, quick_stores
from tests.following.schedule import run_schedule
from tests.following.visits import VisitSchedule, one_saved_visit
from tests.scale import seeds
from tests.servers import hbase_primary, hbase_standby

pytestmark = pytest.mark.anyio
MODELS = 6  # at once
SCHEDULES, VISITS = seeds(10, 600), seeds(3, 100)


@pytest.fixture(scope="module")
async def models(clusters: Stack) -> AsyncIterator[list[Feeding]]:
    """Models with embedded shards, whose pools and feeds are in HBase."""
    prefix = f"model_{uuid.uuid4().hex[:8]}_"
    urls, tables = [hbase_primary(clusters), hbase_standby(clusters)], TABLES_POOLS + TABLES_FEEDS
    sides = Sides(*(hbase(url, deadline=60.0, prefix=prefix) for url in urls))
    for side in sides:
        await side.create(tables)
    async with AsyncExitStack() as opened:
        found = []
        for number in range(MODELS):
            stores = await opened.enter_async_context(quick_stores())
            own = apart(sides, b"%d/" % number)
            found.append(Feeding(stores._replace(pools=own, feeds=own)))
        yield found
    for side, url in zip(sides, urls, strict=True):
        await side.close()
        await drop_tables(url, [table._replace(name=prefix + table.name) for table in tables])


async def wrong_of(
    models: list[Feeding], numbers: range, run: Callable[[Feeding, int], Awaitable[list[str]]]
) -> list[str]:
    """Run schedules on all models. Returns the faults that they found."""
    left = iter(numbers)

    async def work(feeding: Feeding) -> list[str]:
        return [line for seed in left for line in await run(feeding, seed)]

    found = await asyncio.gather(*(work(feeding) for feeding in models))
    return [line for some in found for line in some]


@pytest.mark.nightly  # `make test` runs more schedules with RocksDB
async def test_each_side_shows_the_newest_pins_of_what_is_followed(models: list[Feeding]) -> None:
    assert await wrong_of(models, SCHEDULES, run_schedule) == []


@pytest.mark.nightly
async def test_the_pages_of_visits_show_all_chunks_once(models: list[Feeding]) -> None:
    with one_saved_visit():
        wrong = await wrong_of(models, VISITS, lambda model, seed: VisitSchedule(model, seed).run())
    assert wrong == []


async def test_an_interests_row_that_was_cut_gets_back_what_it_lacks(models: list[Feeding]) -> None:
    """The row keeps ten of 200 pins; the newest hundred are deleted; somebody follows."""
    feeding, cap = models[0], 10
    settings = feeding.settings = FeedSettings(chunk=100, interest_cap=cap, generator_seconds=60)
    interest, board = await feeding.interest(), await feeding.board(await feeding.user())
    pins = [await feeding.pin_at(board, START + n, interest.id) for n in range(200)]
    await drain(feeding.stores, settings)
    for side in feeding.stores.pools:
        await tidy(side, feeding.stores, interest.id, cap)
    for pin in pins[100:]:
        await writes.delete_pin(feeding.stores, pin.owner_id, pin.id)
    viewer, seen = await feeding.user(), list[int]()
    await feeding.follow(viewer, interest.id)
    for _ in range(2):
        await drain(feeding.stores, settings)
        page = await feeding.home(viewer, first=100)
        seen += [i.pin.id for i in page.items if i.reason is Reason.FOLLOWED_INTEREST]
        feeding.now += HOUR
    assert seen == [pin.id for pin in reversed(pins[:100])]
