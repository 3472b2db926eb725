"""A master that dies or hangs under load, and its slave that takes its place."""

import asyncio
import signal

import pytest

from datasources.errors import StoreConflict
from datasources.mysql import MySqlShards, engine
from datasources.mysql.replication import promotion
from datasources.mysql.replication.promotion import Promotion
from datasources.zookeeper import ZooKeeperGenerations, ZooKeeperOperations
from tests.pairs import Load, Pairs

pytestmark = pytest.mark.anyio
PATIENT = 120
"""Seconds that a read waits for a slave on a busy machine."""


class Killed(Exception):
    """Represents the end of the tool's process."""


async def read_for_ever(shards: MySqlShards, ids: list[int]) -> None:
    """Read the pins repeatedly. Raises at the first read that fails or misses a pin."""
    while True:
        assert (await shards.objects.get(ids)).keys() == set(ids)
        await asyncio.sleep(0.01)  # leaves the processor to the servers


async def generation(generations: ZooKeeperGenerations) -> int:
    """The generation of the mapping cache: what was cached under an earlier one is not read."""
    while (found := generations.readable("mapping_cache")) is None:  # noqa: ASYNC110 nobody tells
        await asyncio.sleep(0.02)
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_no_acknowledged_write_is_lost_and_none_that_was_refused_appears(
    pairs: Pairs, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CATCH_UP", PATIENT)
    master, slave = await pairs.both()
    generations = ZooKeeperGenerations(pairs.zookeeper, "/pinway/topology.caches")
    generations.follow("mapping_cache", lambda: True)
    generations.start()
    before = await generation(generations)
    async with pairs.gateway(deadline=5.0) as shards, pairs.gateway(deadline=PATIENT) as reader:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(100)
            reads = asyncio.create_task(read_for_ever(reader, list(load.acknowledged.values())))
            pairs.server(master).kill(how)
            output = await pairs.done("promote", slave)
            assert f"{slave} takes writes" in output
            assert await generation(generations) > before
            await load.acknowledge(100)
            assert not reads.done(), reads.exception()
            reads.cancel()
            if how == signal.SIGSTOP:
                pairs.server(master).kill(signal.SIGCONT)
                await load.acknowledge(50)
        await load.check()
        if how == signal.SIGSTOP:
            pairs.server(master).kill()
        pairs.server(master).start()
        pairs.server(master).wait_ready()
        async with load.running():
            output = await pairs.done("attach", master)
            assert f"writes to {slave} wait for {master}" in output
            await load.acknowledge(20)
        await load.check()
    await generations.close()
    assert await pairs.current() == (slave, master)


async def test_a_planned_switch_waits_for_no_lease_and_the_old_master_continues_as_slave(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "RECEIVE_SECONDS", 300)  # a busy machine may need more than 10
    master, slave = await pairs.both()
    async with pairs.gateway(deadline=PATIENT) as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            reads = asyncio.create_task(read_for_ever(shards, list(load.acknowledged.values())))
            output = await pairs.done("promote", slave)
            assert f"{master} takes no more writes" in output
            assert "waiting for the end" not in output
            await load.acknowledge(50)
            assert not reads.done(), reads.exception()
            reads.cancel()
            assert "has no writes of its own" in await pairs.done("attach", master)
            await load.acknowledge(20)
        await load.check()
    assert await pairs.current() == (slave, master)


@pytest.mark.parametrize("seam", ["received", "jumped", "owned"])
async def test_a_promotion_that_was_killed_goes_on_when_it_is_run_again(
    pairs: Pairs, seam: str
) -> None:
    master, slave = await pairs.both()
    topology = await pairs.saved()
    new, old = pairs.admin(slave), pairs.admin(master)
    reached: list[str] = []

    async def at(name: str) -> None:
        reached.append(name)
        if name == seam:
            raise Killed

    async def no_sleep(_: float) -> None:
        return None

    killed = Promotion(topology, new, old, lambda: pairs.admin(slave), seam=at, sleep=no_sleep)
    with pytest.raises(Killed):
        await killed.run()
    assert reached[-1] == seam
    await new.close()
    await old.close()
    await pairs.done("promote", slave)
    assert await pairs.current() == (slave, None)
    async with pairs.gateway() as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(10)
        await pairs.done("attach", master)
        await load.check()


async def test_a_slave_that_was_restarted_without_its_master_is_not_promoted(pairs: Pairs) -> None:
    """The slave discarded its received events, perhaps with acknowledged writes."""
    master, slave = await pairs.both()
    pairs.server(master).kill(signal.SIGSTOP)
    try:
        pairs.server(slave).kill()
        pairs.server(slave).start()
        admin = pairs.admin(slave)
        while True:
            try:
                await admin.run("SELECT 1")
                break
            except Exception:  # it has not started yet
                await asyncio.sleep(0.05)
        await admin.close()
        status, output = await asyncio.to_thread(pairs.run, "promote", slave)
        assert status == 1
        assert "may lack acknowledged writes" in output
    finally:
        pairs.server(master).kill(signal.SIGCONT)
    pairs.server(slave).wait_ready()
    assert await pairs.current() == (master, slave)


async def test_a_server_that_is_no_slave_is_not_promoted(pairs: Pairs) -> None:
    master, _ = await pairs.current()
    for host, message in ((master, "is the slave of no master"), ("Nobody", "has no server")):
        status, output = await asyncio.to_thread(pairs.run, "promote", host)
        assert status == 1
        assert message in output


async def test_one_operation_at_a_time(pairs: Pairs) -> None:
    one, other = (ZooKeeperOperations(pairs.zookeeper, "/pinway/topology") for _ in range(2))
    async with one.lock("a test"):
        with pytest.raises(StoreConflict, match="a test by process"):
            async with other.lock("another", patience=0):
                pass
    async with other.lock("another", patience=0):
        pass
    await one.close()
    await other.close()


async def test_a_holder_that_lost_the_lock_leaves_it_to_the_next_one(pairs: Pairs) -> None:
    lost, other, third = (
        ZooKeeperOperations(pairs.zookeeper, "/pinway/topology") for _ in range(3)
    )
    holding = lost.lock("a test")
    await holding.__aenter__()
    # As if its session had ended because the process was stopped for too long.
    await lost._call(lambda zk: zk.delete_async("/pinway/topology.lock"))
    async with other.lock("another"):
        await holding.__aexit__(None, None, None)
        with pytest.raises(StoreConflict, match="another by process"):
            async with third.lock("a third", patience=0):
                pass
    for operations in (lost, other, third):
        await operations.close()
