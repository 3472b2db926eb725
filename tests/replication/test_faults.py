"""A dead slave, a read-only master, and a master without free connections: clear errors, no loss,
and recovery without a restart of the gateway."""

import asyncio
import contextlib

import pytest

from datasources.errors import StaleTopology, StoreUnavailable
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.server import DRIVER_ERRORS
from tests.pairs import Load, Pairs, insert_pin

pytestmark = pytest.mark.anyio


async def test_a_detached_master_takes_writes_without_its_dead_slave_and_gets_it_back(
    pairs: Pairs,
) -> None:
    master, slave = await pairs.both()
    async with pairs.gateway(deadline=5.0) as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            pairs.server(slave).kill()
            assert f"{master} goes on without a slave" in await pairs.done("detach", slave)
            await load.acknowledge(50)
            assert await pairs.current() == (master, None)
            url = (await pairs.saved()).servers[slave]
            status, output = await asyncio.to_thread(pairs.run, "remove", master)
            assert (status, "is the master of shards" in output) == (1, True)
            await pairs.done("remove", slave)
            assert slave not in (await pairs.saved()).servers
            await load.acknowledge(20)
            pairs.server(slave).start()
            pairs.server(slave).wait_ready()
            await pairs.done("add", slave, url)
            # The slave may lack acknowledged writes by now.
            status, output = await asyncio.to_thread(pairs.run, "promote", slave)
            assert status == 1
            assert "is the slave of no master" in output
            await pairs.done("attach", slave)
            await load.acknowledge(20)
        await load.check()
    assert await pairs.current() == (master, slave)


async def test_a_read_only_master_refuses_writes_and_takes_them_when_it_is_writable_again(
    pairs: Pairs,
) -> None:
    master, _ = await pairs.current()
    admin = pairs.admin(master)
    async with pairs.gateway() as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            await admin.run("SET GLOBAL read_only = 1")
            try:
                with pytest.raises(StaleTopology, match="read-only"):
                    await insert_pin(shards, b"-800")
                told = "read_only is ON and must be OFF: else it takes no writes"
                assert (await shards.setting_faults())[master] == [told]
                ids = list(load.acknowledged.values())
                assert (await shards.objects.get(ids)).keys() == set(ids)
                async with asyncio.timeout(300):
                    while not load.refused:  # noqa: ASYNC110 nothing tells
                        await asyncio.sleep(0.01)
            finally:
                await admin.run("SET GLOBAL read_only = 0")
            await load.acknowledge(50)
        assert (await shards.setting_faults())[master] == []
        await load.check()
    await admin.close()


async def test_a_master_without_room_for_connections_refuses_new_ones_alone(pairs: Pairs) -> None:
    master, _ = await pairs.current()
    admin, settings = pairs.admin(master), pairs.stack.settings
    [[most]] = await admin.run("SELECT @@max_connections")
    url = f"mysql://127.0.0.1:{pairs.server(master).port}"
    login = Login.of(url, settings["mysql.user"], settings["mysql.password"])
    held = list[Link]()
    async with pairs.gateway() as connected:
        await insert_pin(connected, b"-810")
        late = await pairs.lone_gateway()
        await admin.run("SET GLOBAL max_connections = 10")
        try:
            with contextlib.suppress(*DRIVER_ERRORS):
                while True:
                    held.append(await connect(login, autocommit=True, deadline=5.0))
            with pytest.raises(StoreUnavailable, match="Too many connections"):
                await insert_pin(late, b"-811")
            id = await insert_pin(connected, b"-812")
        finally:
            for link in held:
                link.close()
        while True:  # until the server has noticed the ends of the other connections
            try:
                own = await insert_pin(late, b"-813")
                break
            except StoreUnavailable:
                await asyncio.sleep(0)
        await admin.run("SET GLOBAL max_connections = %s", (most,))
        assert await late.objects.get([id, own]) == {id: b"-812", own: b"-813"}
        await late.close()
    await admin.close()
