"""A snapshot of a server keeps no table that it has read from being altered."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest

from datasources.mysql import MySqlShards
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.logical_copy import copy, snapshot
from gateway.operate.dumps.tables import TABLES
from tests.dumps.filled_shards import PINS, fill
from tests.dumps.logged_shards import PATIENT, administer, opened_shards, topology
from tests.private_mariadb import mariadb

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


@pytest.fixture
def other(tmp_path: Path) -> Iterator[int]:
    """The port of another server."""
    with mariadb(tmp_path) as port:
        yield port


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


async def test_a_copy_holds_no_lock_on_what_it_has_copied_and_its_writer_keeps_its_log(
    shards: MySqlShards, port: int, other: int
) -> None:
    source, target = (
        Admin("a server", f"mysql://127.0.0.1:{number}", "root", "") for number in (port, other)
    )
    async with snapshot(source):
        before = await source.run(f"SELECT COUNT(*) FROM db{FIRST + 1:05d}.pins")
        await copy(source, target, [f"db{FIRST:05d}"])
        await fill(shards, FIRST + 1)
        await copy(source, target, [f"db{FIRST + 1:05d}"])
        await alter(port, FIRST)
    assert await target.run(f"SELECT COUNT(*) FROM db{FIRST + 1:05d}.pins") == before
    for admin in (source, target):
        assert await admin.run("SELECT @@sql_log_bin") == [(1,)]
        await admin.close()


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
