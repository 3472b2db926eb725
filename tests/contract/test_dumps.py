"""Dumps of SQLite's and MySQL's shards, read back with DuckDB."""

import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import duckdb
import msgspec
import pytest

from datasources import records
from datasources.errors import ConfigError, StaleTopology
from datasources.ids import Kind, shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, Mapping
from datasources.mysql import MySqlShards
from datasources.mysql.link import connect
from datasources.mysql.replication import gtids
from datasources.mysql.replication.admin import Admin
from datasources.protocols import ShardTx
from datasources.records import Pin
from datasources.scans import MASTER, SLAVE, ShardScans
from datasources.sql.pages import key_of
from datasources.sql.shards import SqlShards
from datasources.topology import Moving, Topology
from deploy.stack import Stack
from gateway.operate.dumps.manifest import FINISHED, NAME
from gateway.operate.dumps.places import opened
from gateway.operate.dumps.tables import TABLES
from tests.contract.shards import PATIENT, Deployment, fresh_id
from tests.dumps.filled_shards import (
    dumped,
    fill,
    rows_of,
    sums_of_dump,
    sums_of_shards,
    table,
)
from tests.dumps.logged_shards import change, differences, increment

pytestmark = pytest.mark.anyio


@pytest.fixture
async def shards(deployment: Deployment) -> AsyncIterator[SqlShards]:
    """Two shards of each server: a dump of all 24 shards takes long."""
    ranges = [
        msgspec.structs.replace(r, range=(r.range[0], r.range[0] + 1))
        for r in deployment.topology.shards
    ]
    topology = msgspec.structs.replace(deployment.topology, shards=tuple(ranges))
    store = deployment.open(topology)
    yield store
    await store.close()


async def test_a_dump_has_each_row_of_all_shards_once(
    deployment: Deployment, shards: SqlShards, tmp_path: Path
) -> None:
    for number in range(4):
        await fill(shards, deployment.shard(number))
    manifest = await dumped(shards, tmp_path)
    stored = await sums_of_shards(shards)
    assert all(count >= 1 for count, *_ in stored.values())
    assert sums_of_dump(tmp_path) == stored
    assert manifest.state == FINISHED
    assert manifest.rows == sum(count for count, *_ in stored.values())
    for file in manifest.files:
        content = (tmp_path / file.name).read_bytes()
        assert (len(content), sha256(content).hexdigest()) == (file.bytes, file.sha256)
    async with opened(str(tmp_path)) as place:
        assert set(await place.names("")) == {NAME, *(file.name for file in manifest.files)}


async def test_the_columns_of_a_pin_are_its_fields(
    deployment: Deployment, shards: SqlShards, tmp_path: Path
) -> None:
    shard = deployment.shard(1)
    await fill(shards, shard)
    await dumped(shards, tmp_path)
    found = {id: row for id, row in rows_of(tmp_path, "pins").items() if shard_of(id) == shard}
    stored = await shards.objects.get(list(found))
    assert len(found) == len(stored) >= 60
    for id, data in stored.items():
        pin = records.decode(Kind.PIN, id, data)
        assert isinstance(pin, Pin)
        row = found[id]
        created = datetime.fromtimestamp(pin.created / 1000, UTC)
        assert (row["created"], row["day"]) == (created, created.date())
        assert row["shard"] == shard
        assert abs((datetime.now(UTC) - row["updated"]).total_seconds()) < 3600
        assert (row["board_id"], row["owner_id"]) == (pin.board_id, pin.owner_id)
        assert row["interest_ids"] == list(pin.interest_ids)
        assert row["active"] is pin.active
        assert row["title"] == (pin.title if pin.active else None)


async def test_times_of_mappings_are_those_of_their_sequences(
    deployment: Deployment, shards: SqlShards, tmp_path: Path
) -> None:
    shard = deployment.shard(2)
    user, pin = fresh_id(Kind.USER, shard), fresh_id(Kind.PIN, shard)
    sequence = 1_767_312_000_000 * SEQUENCE_STEP + 7

    async def like(tx: ShardTx) -> None:
        for mapping in (Mapping.USER_LIKES_PINS, Mapping.BOARD_HAS_PINS):
            await tx.put_edge(mapping, Edge(user, pin, sequence, 3))

    await shards.objects.transact(shard, like)
    await dumped(shards, tmp_path)
    columns = "sequence, version, active, created AT TIME ZONE 'UTC', day"
    sql = f"SELECT {columns} FROM {{}} WHERE from_id = {user}"
    at = datetime(2026, 1, 2)
    [liked] = duckdb.sql(sql.format(table(tmp_path, "user_likes_pins"))).fetchall()
    assert (int(liked[0]), *liked[1:]) == (sequence, 3, True, at, at.date())
    [placed] = duckdb.sql(sql.format(table(tmp_path, "board_has_pins"))).fetchall()
    assert (int(placed[0]), *placed[1:]) == (sequence, 3, True, None, None)


async def test_a_scan_reads_its_shards_as_of_its_beginning(
    deployment: Deployment, shards: SqlShards
) -> None:
    assert isinstance(shards, ShardScans)
    shard = deployment.shard(3)
    await fill(shards, shard)
    [group] = [group for group in shards.scanned_together() if shard in group]
    async with shards.scan(group) as scan:
        before = await scan.page(shard, TABLES["pins"].stored, (), 1000)
        await fill(shards, shard)
        for name in ("pins", "user_likes_pins", "users"):
            assert await scan.page(shard, TABLES[name].stored, (), 1000)
        assert await scan.page(shard, TABLES["pins"].stored, (), 1000) == before
    async with shards.scan(group) as scan:
        assert len(await scan.page(shard, TABLES["pins"].stored, (), 1000)) == len(before) + 60


@pytest.mark.parametrize("limit", [1, 7, 20, 1000])
async def test_pages_of_a_scan_have_each_row_once_in_the_order_of_the_key(
    deployment: Deployment, shards: SqlShards, limit: int
) -> None:
    assert isinstance(shards, ShardScans)
    shard = deployment.shard(0)
    await fill(shards, shard)
    [group] = [group for group in shards.scanned_together() if shard in group]
    async with shards.scan(group) as scan:
        for name in ("pins", "user_likes_pins"):
            stored = TABLES[name].stored
            found, key = list[tuple[object, ...]](), ()
            while rows := await scan.page(shard, stored, key, limit):
                assert len(rows) <= limit
                found += rows
                key = key_of(stored, rows[-1])
            keys = [key_of(stored, row) for row in found]
            assert keys == sorted(set(keys))
            assert found == await scan.page(shard, stored, (), 10_000)


def with_slaves(topology: Topology, slaves: Sequence[str | None]) -> Topology:
    """The first shard of each server, with these slaves."""
    ranges = [
        msgspec.structs.replace(r, range=(r.range[0], r.range[0]), slave=slave)
        for r, slave in zip(topology.shards, slaves, strict=True)
    ]
    return msgspec.structs.replace(topology, shards=tuple(ranges))


async def position(mysql: Deployment, databases: Stack, server: str) -> str:
    """The end of a server's binary log."""
    settings = databases.settings
    url = mysql.topology.servers[server]
    admin = Admin(server, url, settings["mysql.user"], settings["mysql.password"])
    try:
        [[gtids]] = await admin.run("SELECT @@gtid_binlog_pos")
    finally:
        await admin.close()
    return str(gtids.decode())


async def test_a_slave_is_read_and_its_place_in_the_binary_log_is_told(
    mysql: Deployment, databases: Stack, tmp_path: Path
) -> None:
    seed = json.loads(databases.topology_file.read_text())
    slave_of = {r["master"]: r["slave"] for r in seed["mod"]["ranges"]}
    masters = [r.master for r in mysql.topology.shards]
    shards = mysql.open(with_slaves(mysql.topology, [slave_of[name] for name in masters]))
    await fill(shards, mysql.shard(0))
    await fill(shards, mysql.shard(1))
    written = [await position(mysql, databases, name) for name in masters]
    manifest = await dumped(shards, tmp_path)
    await fill(shards, mysql.shard(0))
    await fill(shards, mysql.shard(1))
    later = [await position(mysql, databases, name) for name in masters]
    await shards.close()
    assert [moment.server for moment in manifest.moments] == [slave_of[name] for name in masters]
    for moment, before, after in zip(manifest.moments, written, later, strict=True):
        assert (moment.role, moment.offset > 0) == (SLAVE, True)
        assert moment.log
        assert gtids.contains(moment.gtids, before)
        assert not gtids.contains(moment.gtids, after)


async def test_an_increment_reads_the_log_of_the_slave_or_of_the_master(
    mysql: Deployment, databases: Stack, tmp_path: Path
) -> None:
    seed, settings = json.loads(databases.topology_file.read_text()), databases.settings
    slave_of = {r["master"]: r["slave"] for r in seed["mod"]["ranges"]}
    slaves = [slave_of[r.master] for r in mysql.topology.shards]
    topology = with_slaves(mysql.topology, slaves)
    numbers = [mysql.shard(0), mysql.shard(1)]
    user, password = settings["mysql.operator_user"], settings["mysql.operator_password"]
    admins = [Admin(name, topology.servers[name], user, password) for name in slaves]
    shards = MySqlShards(topology, user=user, password=password, deadline=PATIENT)
    for shard in numbers:
        await fill(shards, shard)
    whole = await dumped(shards, tmp_path / "dump")
    assert [moment.server for moment in whole.moments] == slaves
    rng = random.Random(1)
    for number, role in enumerate((MASTER, SLAVE), 1):
        for shard in numbers:
            await change(shards, shard, rng)
        since = tmp_path / ("dump" if number == 1 else f"changes/{number - 1}")
        async with receiving_nothing([] if role is SLAVE else admins):
            found = await increment(shards, since, tmp_path / f"changes/{number}")
        assert [moment.role for moment in found.moments] == [role, role]
        assert 0 < found.rows < whole.rows
    await dumped(shards, tmp_path / "full")
    await shards.close()
    for admin in admins:
        await admin.close()
    assert differences(tmp_path, "full") == {}


@asynccontextmanager
async def receiving_nothing(slaves: Sequence[Admin]) -> AsyncIterator[None]:
    """Slaves receive no events of their masters in the block."""
    for slave in slaves:
        await slave.run("STOP SLAVE IO_THREAD")
    try:
        yield
    finally:
        for slave in slaves:
            await slave.run("START SLAVE IO_THREAD")


async def test_a_slave_that_receives_nothing_is_not_read(
    mysql: Deployment, databases: Stack, tmp_path: Path
) -> None:
    seed, settings = json.loads(databases.topology_file.read_text()), databases.settings
    slave_of = {r["master"]: r["slave"] for r in seed["mod"]["ranges"]}
    masters = [r.master for r in mysql.topology.shards]
    slaves = [slave_of[name] for name in masters]
    user, password = settings["mysql.operator_user"], settings["mysql.operator_password"]
    shards = mysql.open(with_slaves(mysql.topology, slaves))
    admin = Admin(slaves[0], mysql.topology.servers[slaves[0]], user, password)
    async with receiving_nothing([admin]):
        manifest = await dumped(shards, tmp_path)
    await admin.close()
    await shards.close()
    assert [moment.server for moment in manifest.moments] == [masters[0], slaves[1]]


async def test_the_master_is_read_where_no_slave_can_be(mysql: Deployment, tmp_path: Path) -> None:
    first, second = (r.master for r in mysql.topology.shards)
    shards = mysql.open(with_slaves(mysql.topology, [second, first]))  # neither is a slave
    await fill(shards, mysql.shard(0))
    manifest = await dumped(shards, tmp_path)
    assert [(m.role, m.server) for m in manifest.moments] == [(MASTER, first), (MASTER, second)]
    assert all(moment.gtids for moment in manifest.moments)
    assert sums_of_dump(tmp_path, ["pins"]) == await sums_of_shards(shards, ["pins"])
    await shards.close()


async def test_shards_that_are_being_moved_are_not_dumped(
    mysql: Deployment, tmp_path: Path
) -> None:
    first, second = mysql.topology.shards
    moving = (Moving(first.range, second.master, 1),)
    shards = mysql.open(msgspec.structs.replace(mysql.topology, moving=moving))
    with pytest.raises(ConfigError, match=r"are being moved to .*: wait until they have moved"):
        await dumped(shards, tmp_path)
    await shards.close()


async def test_a_shard_that_has_moved_away_is_not_dumped_from_its_old_server(
    mysql: Deployment, tmp_path: Path
) -> None:
    shards = mysql.open(with_slaves(mysql.topology, (None, None)))
    shard = mysql.shard(0)
    place = shards._router.place(shard)
    assert isinstance(shards, MySqlShards)
    login = shards._engine.server(place.server).login
    link = await connect(login, autocommit=True, deadline=60)
    await link.run(f"UPDATE {place.database}.fence SET owner = owner + 1000")
    try:
        with pytest.raises(StaleTopology, match=rf"{place.database} on .*: server \d+ owns it"):
            await dumped(shards, tmp_path)
    finally:
        await link.run(f"UPDATE {place.database}.fence SET owner = owner - 1000")
        link.close()
        await shards.close()
