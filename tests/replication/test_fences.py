"""The fences of all shards are raised without a change of owners."""

import asyncio
from typing import Any

import msgspec
import pytest

from datasources.errors import ConfigError, StaleTopology, StoreError
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.fences import raise_fences
from datasources.sql.engine import Contended
from datasources.zookeeper import ZooKeeperTopology
from tests.pairs import SHARDS, Pairs, insert_pin

pytestmark = pytest.mark.anyio
DATABASES = [f"db{shard:05d}" for shard in range(SHARDS)]


async def raised(pairs: Pairs) -> None:
    """Save a topology with the next epoch, and raise the fences to it."""
    topology = await pairs.saved()
    later = msgspec.structs.replace(topology, epoch=topology.epoch + 1)
    source = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    await source.save(later, expected_epoch=topology.epoch)
    await source.close()
    admin = pairs.admin((await pairs.current())[0])
    try:
        await raise_fences(admin, DATABASES, later.epoch, lambda done, total: None)
    finally:
        await admin.close()


async def test_a_gateway_of_an_earlier_epoch_neither_writes_nor_reads_an_outbox(
    pairs: Pairs,
) -> None:
    """A relay thus removes entries by no earlier list than the write that it completes."""
    lone = await pairs.lone_gateway()
    await insert_pin(lone, b"1")
    assert await lone.outbox.load(0, 1 << 40) is None
    await raised(pairs)
    with pytest.raises(StaleTopology):
        await insert_pin(lone, b"2")
    with pytest.raises(StaleTopology):
        await lone.outbox.load(0, 1 << 40)
    async with pairs.gateway() as follower:
        await insert_pin(follower, b"3")
        await raised(pairs)
        await insert_pin(follower, b"4")  # it learns the epoch when it is refused
    await lone.close()


async def test_the_fences_wait_for_a_writer_that_has_begun(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt gives up after a second, so that other writers don't wait longer."""
    begun, go, tried_again = asyncio.Event(), asyncio.Event(), asyncio.Event()
    attempts, run = 0, Admin.run

    async def counted(self: Admin, *given: Any, **named: Any) -> Any:
        nonlocal attempts
        try:
            return await run(self, *given, **named)
        except Contended:
            attempts += 1
            if attempts == 2:
                tried_again.set()
            raise

    monkeypatch.setattr(Admin, "run", counted)
    async with pairs.gateway(deadline=60.0) as shards:

        async def slow(tx: object) -> None:
            begun.set()
            await go.wait()

        writing = asyncio.create_task(shards.objects.transact(1, slow))
        await begun.wait()
        raising = asyncio.create_task(raised(pairs))
        async with asyncio.timeout(60):
            await asyncio.wait(
                {raising, asyncio.create_task(tried_again.wait())},
                return_when=asyncio.FIRST_COMPLETED,
            )
        assert not raising.done()
        go.set()
        await writing
        await raising


async def test_a_slave_and_a_shard_of_another_server_are_refused(pairs: Pairs) -> None:
    master, slave = await pairs.both()
    for name, databases, kind in (
        (slave, DATABASES, ConfigError),
        (master, [*DATABASES, "db00999"], StoreError),
    ):
        admin = pairs.admin(name)
        with pytest.raises(kind):
            await raise_fences(admin, databases, 1, lambda done, total: None)
        await admin.close()
