"""Reads of a master that hangs, or that was deposed without knowing it."""

import asyncio
import signal

import pytest

from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.ids import Kind
from datasources.mysql import MySqlShards
from datasources.mysql.replication.admin import Admin
from datasources.staleness import Collecting
from datasources.zookeeper import ZooKeeperTopology
from tests.pairs import Pairs

pytestmark = pytest.mark.anyio


class Reader:
    """A gateway that reads the topology only when necessary."""

    def __init__(self, pairs: Pairs, source: ZooKeeperTopology, shards: MySqlShards) -> None:
        self.source, self.shards = source, shards
        self.reloads, self.cut_off = 0, False
        shards.reload_with(self.reload)

    async def reload(self) -> None:
        self.reloads += 1
        if self.cut_off:
            raise StoreUnavailable("topology: cut off")
        self.shards.use(await self.source.load())

    async def read(self, id: int) -> bytes | None:
        return (await self.shards.objects.get([id])).get(id)


async def reader(pairs: Pairs, *, slave_reads: bool = True) -> Reader:
    source = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    settings = pairs.stack.settings
    shards = MySqlShards(
        await source.load(),
        user=settings["mysql.user"],
        password=settings["mysql.password"],
        slave_reads=slave_reads,
    )
    return Reader(pairs, source, shards)


async def close(*readers: Reader) -> None:
    for one in readers:
        await one.shards.close()
        await one.source.close()


async def set_pin(shards: MySqlShards, id: int, data: bytes) -> None:
    await shards.objects.transact(0, lambda tx: tx.update(id, data))


async def test_a_master_without_its_slave_is_read_after_a_look_at_the_topology(
    pairs: Pairs,
) -> None:
    """No other server can have become its successor while the topology names it."""
    gateway = await reader(pairs)
    slave = gateway.shards.objects.topology().shards[0].slave
    assert slave is not None
    id = await gateway.shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"1"))
    assert await gateway.read(id) == b"1"
    assert gateway.reloads == 0
    pairs.server(slave).kill(signal.SIGSTOP)
    try:
        while not gateway.reloads:
            assert await gateway.read(id) == b"1"
        gateway.cut_off = True
        with pytest.raises(StoreUnavailable, match="cut off"):
            await gateway.read(id)
    finally:
        pairs.server(slave).kill(signal.SIGCONT)
    gateway.cut_off = False
    while True:
        seen = gateway.reloads
        assert await gateway.read(id) == b"1"
        if gateway.reloads == seen:
            break
    await close(gateway)


async def older_than_its_lease(slave: Admin) -> None:
    """Wait until a slave that another test restarted has surely received a lease since."""
    while True:
        [(_, uptime)] = await slave.run("SHOW GLOBAL STATUS LIKE 'UPTIME'")
        if int(uptime) > 5:
            return
        await asyncio.sleep(0.1)


async def test_while_a_master_hangs_its_slave_is_read_with_all_that_was_acknowledged(
    pairs: Pairs,
) -> None:
    gateway, strict = await reader(pairs), await reader(pairs, slave_reads=False)
    ranges = gateway.shards.objects.topology().shards[0]
    assert ranges.slave is not None
    slave = pairs.admin(ranges.slave)
    await older_than_its_lease(slave)
    id = await gateway.shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"1"))
    await slave.run("STOP SLAVE SQL_THREAD")
    await set_pin(gateway.shards, id, b"2")  # received, and not applied
    pairs.server(ranges.master).kill(signal.SIGSTOP)
    try:
        # a slave that applies nothing can't help
        both = f"^{ranges.master}: no answer in .* s; its slave {ranges.slave}: it is no slave"
        with pytest.raises(StoreTimeout, match=both):
            await gateway.read(id)
        await slave.run("START SLAVE SQL_THREAD")
        for _ in range(20):
            with Collecting() as stale:
                assert await gateway.read(id) == b"2"
            assert set(stale) == {0}
        with pytest.raises((StoreTimeout, StoreUnavailable)):
            await strict.read(id)
    finally:
        pairs.server(ranges.master).kill(signal.SIGCONT)
    while True:
        with Collecting() as stale:
            assert await gateway.read(id) == b"2"
        if not stale:
            break
        await asyncio.sleep(0)
    await slave.close()
    await close(gateway, strict)


async def test_a_deposed_master_that_lives_on_is_not_read(pairs: Pairs) -> None:
    old, new = await reader(pairs), await reader(pairs)
    ranges = old.shards.objects.topology().shards[0]
    assert ranges.slave is not None
    id = await old.shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, b"1"))
    assert await old.read(id) == b"1"
    pairs.server(ranges.master).kill(signal.SIGSTOP)
    status, output = await asyncio.to_thread(pairs.run, "promote", ranges.slave)
    assert status == 0, output
    await new.reload()
    await set_pin(new.shards, id, b"2")
    pairs.server(ranges.master).kill(signal.SIGCONT)
    assert await old.read(id) == b"2"
    assert old.reloads == 1
    await close(old, new)
    pairs.server(ranges.master).kill()
    pairs.server(ranges.master).start()
    pairs.server(ranges.master).wait_ready()
    status, output = await asyncio.to_thread(pairs.run, "attach", ranges.master)
    assert status == 0, output
