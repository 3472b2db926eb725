"""`pinway shards watch` on real servers: observers promote a dead master's slave exactly once."""

import asyncio
import signal

import pytest

from datasources.mysql.replication.promotion import Promotion
from datasources.replication import observation
from datasources.replication.observation import Pair, Record, Rules
from datasources.zookeeper import ZooKeeperOperations
from tests.pairs import Load, Pairs
from tests.replication.observers import watched

pytestmark = pytest.mark.anyio
AFTER = 2.0


class Killed(Exception):
    """Represents the end of an observer's process."""


async def reattach(pairs: Pairs, dead: str) -> None:
    """Start a dead server again, as the slave of the new master."""
    pairs.server(dead).start()
    pairs.server(dead).wait_ready()
    await pairs.done("attach", dead)


async def test_a_quorum_of_observers_promotes_once_and_not_again_in_the_cool_down(
    pairs: Pairs,
) -> None:
    first, second = await pairs.both()
    rules = Rules(promotes=True, quorum=2, after=AFTER)
    async with pairs.gateway(deadline=5.0) as shards, watched(pairs, rules, 1) as observers:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            pairs.server(first).kill()
            await observers.until("1 of 1 observers say so; 2 are needed")
            assert await pairs.current() == (first, second)
            observers.add()
            observers.add()
            await observers.until(f"promoting {second}")
            await observers.until(f"{second} has no slave")
            await load.acknowledge(50)
            assert await pairs.current() == (second, None)
            await reattach(pairs, first)
            await load.acknowledge(20)
            # The new master hangs, and nobody promotes the old master again so soon.
            pairs.server(second).kill(signal.SIGSTOP)
            await observers.until(f"{second} was promoted less than 600 s ago", times=3)
            pairs.server(second).kill(signal.SIGCONT)
            await observers.until(f"{second} answers again", times=3)
            await load.acknowledge(50)
        await load.check()
        assert await pairs.current() == (second, first)
        assert sum("has no slave" in line for line in observers.told) == 1


async def test_a_refused_promotion_is_not_tried_again_for_the_same_cause(pairs: Pairs) -> None:
    """The slave was restarted while its master hung, and may lack acknowledged writes."""
    master, slave = await pairs.both()
    rules = Rules(promotes=True, quorum=1, after=AFTER, cool_down=0.0)
    async with watched(pairs, rules, 1) as observers:
        await observers.until("watching")
        pairs.server(master).kill(signal.SIGSTOP)
        try:
            pairs.server(slave).kill()
            pairs.server(slave).start()
            await observers.until("its promotion was refused")
            await asyncio.sleep(AFTER)  # several more rounds
            assert sum("is not promoted:" in line for line in observers.told) == 1
        finally:
            pairs.server(master).kill(signal.SIGCONT)
        pairs.server(slave).wait_ready()
        await observers.until(f"{master} answers again")
    assert await pairs.current() == (master, slave)


async def test_a_promotion_whose_observer_died_is_finished_by_another_one(pairs: Pairs) -> None:
    master, slave = await pairs.both()
    operations = ZooKeeperOperations(pairs.zookeeper, "/pinway/topology")
    pair = Pair(master, slave)
    _, version = await operations.load(pair.id) or (b"", None)
    await operations.save(pair.id, observation.encode(Record(master, slave, "1", 0.0)), version)

    async def die(name: str) -> None:
        if name == "owned":
            raise Killed

    new, old = pairs.admin(slave), pairs.admin(master)
    with pytest.raises(Killed):
        await Promotion(await pairs.saved(), new, old, lambda: pairs.admin(slave), seam=die).run()
    for opened in (new, old, operations):
        await opened.close()
    async with watched(pairs, Rules(promotes=True, quorum=2), 1) as observers:
        await observers.until(f"{slave} has no slave")
    assert await pairs.current() == (slave, None)
    await reattach(pairs, master)


async def test_without_the_option_a_watch_only_tells(pairs: Pairs) -> None:
    master, slave = await pairs.current()
    async with watched(pairs, Rules(quorum=1, after=1.0), 1) as observers:
        pairs.server(master).kill(signal.SIGSTOP)
        try:
            await observers.until(f"run `pinway shards promote {slave}`")
        finally:
            pairs.server(master).kill(signal.SIGCONT)
        await observers.until(f"{master} answers again")
    assert await pairs.current() == (master, slave)
