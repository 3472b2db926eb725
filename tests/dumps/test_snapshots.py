"""A snapshot of a server keeps no table that it has read from being altered.

A transaction holds the metadata locks of all tables that it has read, and the server compares each
table with all of them: a snapshot of 143,000 tables would take hours.
"""

from collections.abc import AsyncIterator

import msgspec
import pytest

from datasources.mysql import MySqlShards
from gateway.operate.dumps.tables import TABLES
from tests.dumps.filled_shards import PINS, fill
from tests.dumps.logged_shards import PATIENT, administer, opened_shards, topology

pytestmark = pytest.mark.anyio
FIRST = 700


@pytest.fixture
async def shards(port: int) -> AsyncIterator[MySqlShards]:
    shards = opened_shards(topology(port, FIRST, 2))
    await shards.create()
    await fill(shards, FIRST)
    await fill(shards, FIRST + 1)
    yield shards
    await shards.close()


async def alter(port: int, shard: int) -> None:
    """Alter a table of a shard, which fails if another connection holds a lock on it."""
    await administer(
        port, "SET lock_wait_timeout = 1", f"ALTER TABLE db{shard:05d}.pins COMMENT = 'altered'"
    )


async def test_a_scan_holds_no_lock_on_what_it_has_read(shards: MySqlShards, port: int) -> None:
    stored = TABLES["pins"].stored
    async with shards.scan([FIRST, FIRST + 1]) as scan:
        read = await scan.page(FIRST + 1, stored, (), 1_000)
        await fill(shards, FIRST + 1)
        assert await scan.page(FIRST + 1, stored, (), 1_000) == read  # still as of its beginning
        await alter(port, FIRST)
        await alter(port, FIRST + 1)


async def test_an_account_that_may_not_release_locks_reads_all_the_same(
    shards: MySqlShards, port: int
) -> None:
    await administer(
        port,
        "CREATE OR REPLACE USER plain@127.0.0.1 IDENTIFIED BY 'secret'",
        "GRANT SELECT ON *.* TO plain@127.0.0.1",
    )
    unnamed = msgspec.structs.replace(
        topology(port, FIRST, 2), servers={"Only": f"mysql://127.0.0.1:{port}"}
    )
    plain = MySqlShards(unnamed, user="plain", password="secret", deadline=PATIENT)
    async with plain.scan([FIRST, FIRST + 1]) as scan:
        assert len(await scan.page(FIRST, TABLES["pins"].stored, (), 1_000)) >= PINS
    await plain.close()
