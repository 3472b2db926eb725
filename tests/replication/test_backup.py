"""The restore drill: both servers of a pair are lost, and come back from a slave's backup and its
archived binary logs, as of a moment."""

import asyncio
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from datasources.errors import StoreError
from datasources.ids import Kind
from datasources.mysql import MySqlShards
from datasources.zookeeper import ZooKeeperTopology
from deploy.stack import install
from tests.pairs import SHARDS, Pairs

pytestmark = pytest.mark.anyio


async def current(pairs: Pairs) -> tuple[str, str | None]:
    """The master and the slave of the shards."""
    source = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    topology = await source.load()
    await source.close()
    return topology.shards[0].master, topology.shards[0].slave


async def run(pairs: Pairs, *words: str) -> str:
    status, output = await asyncio.to_thread(pairs.run, *words)
    assert status == 0, output
    return output


async def insert(shards: MySqlShards, data: bytes) -> list[int]:
    """One pin on each shard."""
    return [
        await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, data))
        for shard in range(SHARDS)
    ]


async def applied(pairs: Pairs, master: str, slave: str) -> None:
    """Wait until the slave has applied all of its master's writes."""
    one, other = pairs.admin(master), pairs.admin(slave)
    [[position]] = await one.run("SELECT @@gtid_binlog_pos")
    assert await other.run("SELECT MASTER_GTID_WAIT(%s, 60)", (position,)) == [(0,)]
    await one.close()
    await other.close()


async def moment(pairs: Pairs, master: str) -> datetime:
    """A second in which nothing was written; by the servers' clock."""
    admin = pairs.admin(master)
    await admin.run("DO SLEEP(1.1)")
    [[now]] = await admin.run("SELECT CAST(UNIX_TIMESTAMP() AS UNSIGNED)")
    await admin.run("DO SLEEP(1.1)")
    await admin.close()
    return datetime.fromtimestamp(int(now), UTC)


async def test_a_lost_pair_is_restored_as_of_a_moment(pairs: Pairs, tmp_path: Path) -> None:
    install.ensure_backups(print)
    master, slave = await current(pairs)
    assert slave is not None
    folder = tmp_path / "backup"
    async with pairs.gateway() as shards:
        first = await insert(shards, b'"before the backup"')
        await applied(pairs, master, slave)
        assert f"{folder} has {slave}" in await run(pairs, "backup", slave, "--to", str(folder))
        second = await insert(shards, b'"after the backup"')
        await applied(pairs, master, slave)
        await run(pairs, "backup", slave, "--to", str(folder), "--logs")
        third = await insert(shards, b'"before the moment"')
        until = await moment(pairs, master)
        damage = await insert(shards, b'"after the moment"')
        await applied(pairs, master, slave)
        await run(pairs, "backup", slave, "--to", str(folder), "--logs")
    # Both servers are lost, and the slave's disk.
    for name in (master, slave):
        pairs.server(name).kill()
    shutil.rmtree(pairs.server(slave).data)
    await run(pairs, "restore", str(folder), "--to", str(pairs.server(slave).data))
    pairs.server(slave).start()
    await answers(pairs, slave)
    await run(pairs, "replay", str(folder), "--on", slave, "--until", f"{until:%Y-%m-%dT%H:%M:%S}")
    output = await run(pairs, "promote", slave, "--restored")
    assert f"{slave} takes writes" in output
    async with pairs.gateway() as shards:
        kept = [*first, *second, *third]
        assert (await shards.objects.get(kept)).keys() == set(kept)
        assert await shards.objects.get(damage) == {}
        fourth = await insert(shards, b'"after the restore"')
        assert not set(fourth) & {*kept, *damage}
        pairs.server(master).start()
        pairs.server(master).wait_ready()
        assert "is copied again" in await run(pairs, "attach", master)
        assert (await shards.objects.get(fourth)).keys() == set(fourth)
    assert await current(pairs) == (slave, master)


async def answers(pairs: Pairs, name: str) -> None:
    """Wait until a server answers."""
    admin = pairs.admin(name)
    async with asyncio.timeout(60):
        while True:
            try:
                await admin.run("SELECT 1")
            except StoreError:
                await asyncio.sleep(0.05)
            else:
                break
    await admin.close()


async def test_a_slave_whose_disk_was_lost_comes_back_from_a_backup_and_catches_up(
    pairs: Pairs, tmp_path: Path
) -> None:
    install.ensure_backups(print)
    master, slave = await current(pairs)
    assert slave is not None
    folder, data = tmp_path / "backup", pairs.server(slave).data
    async with pairs.gateway(deadline=30.0) as shards:
        await run(pairs, "backup", slave, "--to", str(folder))
        pairs.server(slave).kill()
        writes = asyncio.create_task(insert(shards, b'"while the slave is away"'))
        shutil.rmtree(data)
        await run(pairs, "restore", str(folder), "--to", str(data))
        pairs.server(slave).start()
        await answers(pairs, slave)
        await run(pairs, "replay", str(folder), "--on", slave)
        await run(pairs, "detach", slave)
        ids = await writes
        output = await run(pairs, "attach", slave)
        assert "continues from there" in output
        assert (await shards.objects.get(ids)).keys() == set(ids)
    assert await current(pairs) == (master, slave)


async def test_a_damaged_backup_and_a_gap_in_the_logs_are_refused(
    pairs: Pairs, tmp_path: Path
) -> None:
    install.ensure_backups(print)
    master, slave = await current(pairs)
    assert slave is not None
    folder, data = tmp_path / "backup", tmp_path / "data"
    refused = [(("backup", master, "--to", str(folder)), f"{master} is no slave")]
    await run(pairs, "backup", slave, "--to", str(folder))
    with (folder / "base" / "ibdata1").open("r+b") as file:
        file.seek(100_000)
        file.write(b"damage")
    (data / "full").mkdir(parents=True)
    refused += [
        (("backup", slave, "--to", str(folder)), "exists already"),
        (("restore", str(folder), "--to", str(data)), "is not empty"),
        (("restore", str(folder), "--to", str(tmp_path / "new")), "ibdata1 is not as it was saved"),
        (("replay", str(folder), "--on", master), "no restored server"),
    ]
    admin = pairs.admin(slave)
    await admin.script(("FLUSH BINARY LOGS", "FLUSH BINARY LOGS"))
    [*_, last] = await admin.run("SHOW BINARY LOGS")
    await admin.run("PURGE BINARY LOGS TO %s", (last[0],))
    await admin.close()
    refused.append((("backup", slave, "--to", str(folder), "--logs"), "has deleted its binary log"))
    for words, told in refused:
        status, output = await asyncio.to_thread(pairs.run, *words)
        assert status == 1, output
        assert told in output
