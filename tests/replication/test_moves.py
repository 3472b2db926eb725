"""Live moves of shards between real servers, during writes, with the mover killed at several
steps."""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from datasources.errors import StaleTopology
from datasources.ids import Kind
from datasources.mysql.replication.admin import Admin
from datasources.protocols import ShardTx
from datasources.zookeeper import ZooKeeperTopology
from tests.pairs import SHARDS, Load, Pairs, numbers
from tests.scale import runs_all, scaled

pytestmark = pytest.mark.anyio
RANGE = f"0-{SHARDS - 1}"
MOVE_SECONDS = 100

THERE = (
    *("COPYING", "copying 4 shards", "2 of 4 shards", "FOLLOWING", "rows were compared"),
    *("VERIFIED", "names both servers", "HANDING", "shards 0 are on", "shards 2 are on"),
    *("the topology has epoch", "MOVED"),
)
BACK = (
    *("names both servers", "ROLLING_BACK", "shards 0 are on", "shards 2 are on"),
    "the topology has epoch",
)
EVERY_KILL = [
    *(("move", word, follows) for word in THERE for follows in ("move", "rollback")),
    *(("rollback", word, "rollback") for word in BACK),
]
"""The command that is killed, the event after which it is killed, and the command that is run next.
`make test-all` tries all of them, in a quarter of an hour."""
SOME_KILLS = [("move", "shards 0 are on", "move")]


async def run(pairs: Pairs, *words: str) -> list[dict[str, Any]]:
    """Run `pinway shards`. Returns its lines of JSON."""
    status, output = await asyncio.to_thread(pairs.run, *words, "--json")
    assert status == 0, output
    return [json.loads(line) for line in output.splitlines()]


@asynccontextmanager
async def mover(pairs: Pairs, *words: str) -> AsyncIterator["Started"]:
    """`pinway shards` in a separate process, which is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "shards", *words),
        *("--config", str(pairs.stack.settings_file)),
        env={**os.environ, "PINWAY_REPLICA_PASSWORD": pairs.stack.secrets.replica_password},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Started(process)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


@dataclass
class Started:
    """A running mover, and its output so far."""

    process: asyncio.subprocess.Process
    told: str = ""

    async def tells(self, word: str) -> None:
        """Wait until the mover prints `word`."""
        try:
            async with asyncio.timeout(MOVE_SECONDS):
                while word not in self.told:
                    line = await self._line()
                    assert line, self.told
        except TimeoutError:
            pytest.fail(f"the mover did not tell {word!r} in {MOVE_SECONDS} s:\n{self.told}")

    async def ends(self) -> int:
        """The mover's exit status."""
        async with asyncio.timeout(MOVE_SECONDS):
            while await self._line():
                pass
            return await self.process.wait()

    async def _line(self) -> bytes:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        self.told += line.decode()
        return line


async def killed(pairs: Pairs, word: str, *words: str) -> None:
    """Run `pinway shards` in a separate process, and kill it when it prints `word`."""
    async with mover(pairs, *words) as started:
        await started.tells(word)


async def close(pairs: Pairs, without_copies: str) -> None:
    [*_, end] = await run(pairs, "close", RANGE, "--drop")
    assert end["move"]["state"] == "CLOSED"
    admin = pairs.admin(without_copies)
    found = {name for [name] in await admin.run("SHOW DATABASES LIKE 'db0000_'")}
    assert not found & {b"db%05d" % shard for shard in range(SHARDS)}
    await admin.close()


async def masters(pairs: Pairs) -> tuple[str, str]:
    """The master of the shards, and the other pair's master."""
    source = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    topology = await source.load()
    await source.close()
    master = topology.shards[0].master
    return master, "MySQL002A" if master.startswith("MySQL001") else "MySQL001A"


@asynccontextmanager
async def loaded(pairs: Pairs) -> AsyncIterator[Load]:
    """Writers of a gateway that follows the topology, and a check of all their writes."""
    async with pairs.gateway(deadline=5.0) as shards:
        # Without a pause the writers use the whole machine. A target on the same machine is then
        # behind as long as they write, and a move waits for it.
        load = Load(shards, pause=scaled(0.1, 0.04))
        async with load.running(8):
            await load.acknowledge(50)
            yield load
            await load.acknowledge(50)
        await load.check()


@asynccontextmanager
async def long_transactions(load: Load) -> AsyncIterator[asyncio.Task[None]]:
    """Insert pins on shard 0 in transactions of five seconds and of one, one after another."""
    task = asyncio.create_task(_insert_slowly(load))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _insert_slowly(load: Load) -> None:

    async def insert(data: bytes, seconds: float, tx: ShardTx) -> int:
        id = await tx.insert(Kind.PIN, data)
        await asyncio.sleep(seconds)
        return id

    for number, seconds in zip(numbers, itertools.cycle((5, 1)), strict=False):
        data = b"%d" % number
        id = await load.shards.objects.transact(0, partial(insert, data, seconds))
        load.acknowledged[number] = id


async def test_a_range_moves_under_writers_and_back(pairs: Pairs) -> None:
    source, target = await masters(pairs)
    async with loaded(pairs) as load, long_transactions(load) as long:
        [*_, end] = await run(pairs, "move", RANGE, "--to", target, "--group", "1")
        assert end["move"]["state"] == "MOVED"
        assert (await masters(pairs))[0] == target
        await load.acknowledge(50)
        acknowledged = len(load.acknowledged)
        [*_, report] = await run(pairs, "verify", RANGE)
        assert report["rows"] >= acknowledged
        assert report["differences"] == []
        [*_, end] = await run(pairs, "rollback", RANGE)
        assert end["move"]["state"] == "BACK"
        assert (await masters(pairs))[0] == source
        assert not long.done(), long.exception()
        print(f"longest write {load.slowest:.3f} s of {len(load.acknowledged)}")
        assert load.refused == load.unknown == set()


@pytest.mark.parametrize(("command", "word", "follows"), EVERY_KILL if runs_all() else SOME_KILLS)
async def test_a_killed_mover_loses_and_doubles_nothing_and_is_continued_or_rolled_back(
    pairs: Pairs, command: str, word: str, follows: str
) -> None:
    source, target = await masters(pairs)
    way = ("--to", target, "--group", "1")
    async with loaded(pairs):
        if command == "move":
            await killed(pairs, word, "move", RANGE, *way)
        else:
            await run(pairs, "move", RANGE, *way)
            await killed(pairs, word, "rollback", RANGE)
        [*_, end] = await run(pairs, follows, RANGE)
        if follows == "move":
            assert end["move"]["state"] == "MOVED"
            await close(pairs, without_copies=source)
            await run(pairs, "move", RANGE, "--to", source)
            await close(pairs, without_copies=target)
        else:
            assert end["move"]["state"] == "BACK"
        assert (await masters(pairs))[0] == source


async def until_zookeeper_is_restarted(pairs: Pairs, load: Load, state: str, *words: str) -> bool:
    """Run `pinway shards`. Kill ZooKeeper when the mover tells `state`, and start it again after
    100 writes. Return whether the mover finished; else it ended with an error that names
    ZooKeeper."""
    zookeeper = pairs.stack.services["zookeeper"]
    async with mover(pairs, *words) as started:
        await started.tells(state)
        zookeeper.kill()
        try:
            await load.acknowledge(100)
            ids = list(load.acknowledged.values())
            assert (await load.shards.objects.get(ids)).keys() == set(ids)
        finally:
            zookeeper.start()
            await asyncio.to_thread(zookeeper.wait_ready)
        if await started.ends() == 0:
            return True
        assert f"ZooKeeper at {pairs.zookeeper}" in started.told
        return False


async def test_a_move_its_rollback_and_the_writers_outlive_restarts_of_zookeeper(
    pairs: Pairs,
) -> None:
    """ZooKeeper dies while the first group is handed over. The mover waits for it, or ends with an
    error that names it. Then the same command finishes the move, or the rollback."""
    source, target = await masters(pairs)
    way = ("move", RANGE, "--to", target, "--group", "1", "--no-verify")
    async with loaded(pairs) as load:
        await until_zookeeper_is_restarted(pairs, load, "HANDING", *way)
        [*_, end] = await run(pairs, *way)
        assert end["move"]["state"] == "MOVED"
        assert (await masters(pairs))[0] == target
        await load.acknowledge(50)
        way = ("rollback", RANGE)
        if not await until_zookeeper_is_restarted(pairs, load, "ROLLING_BACK", *way):
            [*_, end] = await run(pairs, *way)
            assert end["move"]["state"] == "BACK"
        assert (await masters(pairs))[0] == source
        await load.acknowledge(50)
        assert load.refused == load.unknown == set()


async def exchange_data(admin: Admin, table: str) -> None:
    """Exchange the data of two rows, which have equal lengths."""
    rows = await admin.run(
        f"SELECT a.local_id, b.data, b.local_id, a.data FROM {table} a JOIN {table} b "
        "ON a.local_id < b.local_id AND LENGTH(a.data) = LENGTH(b.data) AND a.data != b.data "
        "ORDER BY a.local_id, b.local_id LIMIT 1"
    )
    [(first, data, second, other)] = rows
    await admin.run(f"UPDATE {table} SET data = %s WHERE local_id = %s", (data, first))
    await admin.run(f"UPDATE {table} SET data = %s WHERE local_id = %s", (other, second))


async def test_rows_that_differ_are_listed_and_repaired(pairs: Pairs) -> None:
    source, target = await masters(pairs)
    async with loaded(pairs) as load:
        await killed(pairs, "FOLLOWING", "move", RANGE, "--to", target)
        damaged = pairs.admin(target)
        await damaged.run("SET SESSION sql_log_bin = 0")
        await damaged.run("DELETE FROM db00000.pins ORDER BY local_id LIMIT 1")
        await damaged.run("UPDATE db00001.pins SET data = '-1' ORDER BY local_id LIMIT 1")
        await damaged.run("INSERT INTO db00002.pins (local_id, data) VALUES (1 << 30, '-2')")
        await exchange_data(damaged, "db00003.pins")
        await damaged.close()
        status, output = await asyncio.to_thread(pairs.run, "verify", RANGE)
        assert status == 3
        faults = [line.split(": ")[-1] for line in output.splitlines() if " of shard " in line]
        assert faults == ["missing", "other", "extra", "other", "other"]
        status, output = await asyncio.to_thread(pairs.run, "move", RANGE)
        assert status == 1
        assert "5 rows differ" in output
        [*_, report] = await run(pairs, "verify", RANGE, "--repair")
        assert report["repaired"]
        await load.acknowledge(20)
        [*_, report] = await run(pairs, "verify", RANGE)
        assert report["differences"] == []
        await run(pairs, "rollback", RANGE)
    assert (await masters(pairs))[0] == source


async def test_sides_are_compared_while_the_follower_has_what_the_source_does_not_show_yet(
    pairs: Pairs,
) -> None:
    """A write is sent to the follower before the source's own slave has acknowledged it."""
    source, target = await masters(pairs)
    await run(pairs, "move", RANGE, "--to", target)
    slave, follower = pairs.admin(target[:-1] + "B"), pairs.admin(source)
    master = pairs.admin(target)
    await slave.run("STOP SLAVE IO_THREAD")
    try:
        while True:  # a renewal of the lease comes to wait for its receipt
            [waiting] = await master.described(
                "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_wait_sessions'"
            )
            if waiting["Value"] != "0":
                break
            await asyncio.sleep(0.01)
        comparison = asyncio.create_task(run(pairs, "verify", RANGE))
        while not comparison.done():
            [channel] = await follower.described("SHOW ALL SLAVES STATUS")
            if channel["Slave_SQL_Running"] == "No":
                break
    finally:
        await slave.run("START SLAVE IO_THREAD")
    [*_, report] = await comparison
    assert report["differences"] == []
    await run(pairs, "rollback", RANGE)
    for server in (master, slave, follower):
        await server.close()
    assert (await masters(pairs))[0] == source


async def test_a_gateway_that_knows_nothing_of_the_move_answers_nothing_old(pairs: Pairs) -> None:
    """A gateway that is disconnected from ZooKeeper fails until ZooKeeper is back."""
    source, target = await masters(pairs)
    async with pairs.gateway() as shards:
        old = await pairs.lone_gateway()
        id = await shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"-1"))
        assert await old.objects.get([id]) == {id: b"-1"}
        await run(pairs, "move", RANGE, "--to", target)
        await shards.objects.transact(0, lambda tx: tx.update(id, b"-2"))
        with pytest.raises(StaleTopology):
            await old.objects.get([id])
        with pytest.raises(StaleTopology):
            await old.objects.transact(0, lambda tx: tx.update(id, b"-3"))
        assert await shards.objects.get([id]) == {id: b"-2"}
        await run(pairs, "rollback", RANGE)
        assert await shards.objects.get([id]) == {id: b"-2"}
        await old.close()
    assert (await masters(pairs))[0] == source


async def test_a_dry_run_says_what_would_be_done_and_does_nothing(pairs: Pairs) -> None:
    source, target = await masters(pairs)
    status, output = await asyncio.to_thread(
        pairs.run, "move", "0-1", "--to", target, "--group", "1", "--dry-run"
    )
    assert status == 0
    assert output.splitlines()[0] == f"shards 0-1 (2) go from {source} to {target}"
    assert "in 2 groups of up to 1 shard" in output
    for words, message in (
        (("move", "0-1", "--to", source), f"are on {source} already"),
        (("move", "0-1", "--to", "Nobody"), "has no server"),
        (("move", "0-99", "--to", target), "not all of these shards are open"),
        (("rollback", "0-1"), "are in no move"),
    ):
        status, output = await asyncio.to_thread(pairs.run, *words)
        assert status == 1
        assert message in output
