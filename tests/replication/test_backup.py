"""The restore drill: both servers of a pair are lost, and are restored from a slave's backup and
its archived binary logs, as of a moment."""

import asyncio
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from datasources.errors import StoreError
from datasources.mysql import MySqlShards
from datasources.mysql.replication import backup_files, gtids, programs, promotion
from deploy.stack import install
from gateway.cli import main
from tests.pairs import SHARDS, Load, Pairs, insert_pin

pytestmark = pytest.mark.anyio


async def restore(folder: Path, data: Path, *, refused: str | None = None) -> None:
    words = ["shards", "restore", str(folder), "--to", str(data)]
    done = await asyncio.to_thread(CliRunner().invoke, main, words)
    assert done.exit_code == (0 if refused is None else 1), done.output
    assert refused is None or refused in done.output


async def insert(shards: MySqlShards, data: bytes) -> list[int]:
    """One pin on each shard."""
    return [await insert_pin(shards, data, shard) for shard in range(SHARDS)]


async def state(pairs: Pairs, name: str) -> str:
    """The last event of each server that the server's binary logs have had."""
    admin = pairs.admin(name)
    [[found]] = await admin.run("SELECT @@gtid_binlog_state")
    await admin.close()
    return str(found.decode())


async def moment(pairs: Pairs, master: str) -> datetime:
    """A second in which nothing was written, on the servers' clock."""
    admin = pairs.admin(master)
    await admin.run("DO SLEEP(1.1)")
    [[now]] = await admin.run("SELECT CAST(UNIX_TIMESTAMP() AS UNSIGNED)")
    await admin.run("DO SLEEP(1.1)")
    await admin.close()
    return datetime.fromtimestamp(int(now), UTC)


async def answers(pairs: Pairs, name: str) -> None:
    """Wait until a server answers."""
    admin = pairs.admin(name)
    async with asyncio.timeout(300):
        while True:
            try:
                await admin.run("SELECT 1")
            except StoreError:
                await asyncio.sleep(0.05)
            else:
                break
    await admin.close()


async def tell_of_another_domain(pairs: Pairs, slave: str) -> None:
    """Let a slave know a domain of which its binary logs have nothing, as after a move of shards
    from another pair and a new copy."""
    admin = pairs.admin(slave)
    await admin.script(
        (
            "STOP SLAVE",
            "SET GLOBAL gtid_slave_pos = CONCAT(@@gtid_slave_pos, ',9-7-5')",
            "START SLAVE",
        )
    )
    await admin.close()


async def refuse(pairs: Pairs, words: tuple[str, ...], told: str) -> None:
    """Run a command, which must fail with this message."""
    status, output = await asyncio.to_thread(pairs.run, *words)
    assert status == 1, output
    assert told in output


@pytest.mark.parametrize("to", ["the slave", pytest.param("the master", marks=pytest.mark.nightly)])
async def test_a_lost_pair_is_restored_as_of_a_moment_with_every_acknowledged_write(
    pairs: Pairs, tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install.ensure_programs(programs.PACKAGES, print)
    # More ids were used after the moment than a promotion skips.
    monkeypatch.setattr(promotion, "JUMP", 0)
    master, slave = await pairs.both()
    await tell_of_another_domain(pairs, slave)
    folder = tmp_path / "backup"
    async with pairs.gateway(deadline=60.0) as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            assert f"{folder} has {slave}" in await pairs.done("backup", slave, "--to", str(folder))
            await load.acknowledge(50)
            await pairs.done("backup", slave, "--to", str(folder), "--logs")
            await load.acknowledge(50)
        until = await moment(pairs, master)
        damage = await insert(shards, b"-900")
        await pairs.done("backup", slave, "--to", str(folder), "--logs")
    for name in (master, slave):
        pairs.server(name).kill()
    new, other = (slave, master) if to == "the slave" else (master, slave)
    shutil.rmtree(pairs.server(new).data)
    await restore(folder, pairs.server(new).data)
    pairs.server(new).start()
    await answers(pairs, new)
    await pairs.done("replay", str(folder), "--on", new, "--until", f"{until:%Y-%m-%dT%H:%M:%S}")
    assert f"{new} takes writes" in await pairs.done("promote", new, "--restored")
    async with pairs.gateway(deadline=60.0) as shards:
        load.shards = shards
        await load.check()
        assert await shards.objects.get(damage) == {}
        later = await insert(shards, b"-901")
        assert not {*later} & {*damage, *load.acknowledged.values()}
        pairs.server(other).start()
        await answers(pairs, other)
        before = await state(pairs, new)
        assert "is copied again" in await pairs.done("attach", other)
        # Otherwise the copy, as a master, would consider the other server to have writes of its
        # own.
        assert gtids.contains(await state(pairs, other), before)
        assert (await shards.objects.get(later)).keys() == set(later)
    assert await pairs.current() == (new, other)


async def test_a_slave_whose_disk_was_lost_comes_back_from_a_backup_and_catches_up(
    pairs: Pairs, tmp_path: Path
) -> None:
    install.ensure_programs(programs.PACKAGES, print)
    master, slave = await pairs.both()
    folder, data = tmp_path / "backup", pairs.server(slave).data
    async with pairs.gateway(deadline=60.0) as shards:
        await pairs.done("backup", slave, "--to", str(folder))
        pairs.server(slave).kill()
        writes = asyncio.create_task(insert(shards, b"-902"))
        shutil.rmtree(data)
        await restore(folder, data)
        pairs.server(slave).start()
        await answers(pairs, slave)
        await pairs.done("replay", str(folder), "--on", slave)
        await pairs.done("detach", slave)
        ids = await writes
        output = await pairs.done("attach", slave)
        assert "has no writes of its own" in output
        assert (await shards.objects.get(ids)).keys() == set(ids)
    assert await pairs.current() == (master, slave)


async def test_a_damaged_backup_and_a_gap_in_the_logs_are_refused(
    pairs: Pairs, tmp_path: Path
) -> None:
    install.ensure_programs(programs.PACKAGES, print)
    master, slave = await pairs.both()
    folder, data = tmp_path / "backup", tmp_path / "data"
    refused: list[tuple[tuple[str, ...], str]] = [
        (("backup", master, "--to", f"{folder}-2"), f"{master} is nobody's slave")
    ]
    await pairs.done("backup", slave, "--to", str(folder))
    with (folder / "base" / "ibdata1").open("r+b") as file:
        file.seek(100_000)
        file.write(b"damage")
    (data / "full").mkdir(parents=True)
    await restore(folder, data, refused="is not empty")
    await restore(folder, tmp_path / "new", refused="ibdata1 is not as it was saved")
    refused += [
        (("backup", slave, "--to", str(folder)), "exists already"),
        (("replay", str(folder), "--on", master), "no restored server"),
        (
            ("replay", str(folder), "--on", slave, "--until", "2000-01-01T00:00:00"),
            "not from before 2000-01-01T00:00:00+00:00: restore an earlier one",
        ),
        (("promote", slave, "--restored"), "is a slave, so it was not restored"),
        (("promote", master, "--restored"), "its slave receives them, so it was not restored"),
        (("promote", slave, "--over", master), "--over is for --restored"),
        (("promote", slave, "--restored", "--over", slave), f"{slave} is the master of no shards"),
    ]
    admin = pairs.admin(slave)
    await admin.script(("FLUSH BINARY LOGS", "FLUSH BINARY LOGS"))
    logs = await admin.run("SHOW BINARY LOGS")
    while len(logs) > 1:  # a log is kept until its transactions are durable in the tables
        await admin.run("PURGE BINARY LOGS TO %s", (logs[-1][0].decode(),))
        logs = await admin.run("SHOW BINARY LOGS")
    archive = ("backup", slave, "--to", str(folder), "--logs")
    refused.append((archive, "has deleted its binary log"))
    for words, told in refused:
        await refuse(pairs, words, told)
    # The logs are numbered from 1 again, as after `attach`, until there is one of the same name.
    await admin.script(("STOP SLAVE", "RESET MASTER", "START SLAVE"))
    await refuse(pairs, archive, "binary logs were restarted")
    while len(logs) <= backup_files.number(backup_files.read(folder).file):
        await admin.run("FLUSH BINARY LOGS")
        logs = await admin.run("SHOW BINARY LOGS")
    await refuse(pairs, archive, "binary logs were restarted")
    await admin.close()
