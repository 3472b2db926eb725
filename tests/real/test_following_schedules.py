"""A few random schedules of the following feed and of visits on two real HBase clusters, where
trims and deletions leave markers."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from datasources.protocols import Sides
from datasources.valkey import ValkeyServer
from deploy.stack import Stack
from feed_engine.feeds.rows import TABLES_FEEDS, TABLES_POOLS
from tests.contract.wide_columns import drop_tables, hbase
from tests.embedded import embedded_config, embedded_stores, flush, valkey
from tests.feeding import Feeding
from tests.following.schedule import run_schedule
from tests.following.visits import run_visits
from tests.servers import hbase_primary, hbase_standby

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def feeding(
    stack: Stack, valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Feeding]:
    """Embedded shards, and pools and feeds in HBase."""
    await flush(valkey)
    directory: Path = tmp_path_factory.mktemp("schedules")
    async with embedded_stores(embedded_config(directory, valkey)) as opened:
        prefix = f"model_{uuid.uuid4().hex[:8]}_"
        urls, tables = [hbase_primary(stack), hbase_standby(stack)], TABLES_POOLS + TABLES_FEEDS
        sides = Sides(*(hbase(url, deadline=10.0, prefix=prefix) for url in urls))
        for side in sides:
            await side.create(tables)
        yield Feeding(opened._replace(pools=sides, feeds=sides))
        for side, url in zip(sides, urls, strict=True):
            await side.close()
            await drop_tables(url, [table._replace(name=prefix + table.name) for table in tables])


async def test_each_side_shows_the_newest_pins_of_what_is_followed(feeding: Feeding) -> None:
    assert [line for seed in range(4) for line in await run_schedule(feeding, seed)] == []


async def test_the_pages_of_visits_show_all_chunks_once(feeding: Feeding) -> None:
    assert [line for seed in range(2) for line in await run_visits(feeding, seed)] == []
