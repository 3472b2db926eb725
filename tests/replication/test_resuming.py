"""Servers that were restarted by somebody else than `pinway stack`, as by systemd: they boot
read-only, and `pinway shards resume` and `watch --resume` bring them back to their work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from datasources.mysql.replication.admin import Admin
from deploy.stack.mariadb import MariaDB
from deploy.stack.service import NotReady
from tests.pairs import Load, Pairs

pytestmark = pytest.mark.anyio


async def boot(server: MariaDB) -> None:
    """Start a server as systemd would: nobody opens it, and nobody starts its replication."""
    server.start()
    async with asyncio.timeout(300):
        while True:
            try:
                await asyncio.to_thread(server.query, "SELECT 1")
                return
            except NotReady:
                await asyncio.sleep(0.05)


async def until_renewed(master: Admin) -> None:
    """Wait until a master has renewed its lease since its start."""
    async with asyncio.timeout(300):
        while True:
            role = await master.role()
            if role.lease > role.booted:
                return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def admins(pairs: Pairs, *names: str) -> AsyncIterator[list[Admin]]:
    opened = [pairs.admin(name) for name in names]
    try:
        yield opened
    finally:
        for admin in opened:
            await admin.close()


async def test_a_pair_that_was_restarted_goes_on_without_loss(pairs: Pairs) -> None:
    master, slave = await pairs.both()
    async with pairs.gateway(deadline=5.0) as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            for name in (master, slave):
                pairs.server(name).kill()
            for name in (master, slave):
                await boot(pairs.server(name))
            assert await pairs.done("resume") == (
                f"{master} was restarted, and takes writes again\n"
                f"{slave} was restarted, and follows {master} again\n"
            )
            await load.acknowledge(50)
        await load.check()
    assert await pairs.done("resume") == "no server waits to be resumed\n"
    assert await pairs.both() == (master, slave)


async def test_a_master_whose_slave_was_promoted_or_can_not_be_asked_stays_closed(
    pairs: Pairs,
) -> None:
    """The slave's row is changed as a promotion changes it that died before the topology."""
    master, slave = await pairs.both()
    pairs.server(master).kill()
    async with admins(pairs, master, slave) as [old, new]:
        await new.script(("STOP SLAVE IO_THREAD", "SET SESSION sql_log_bin = 0"))
        taken = "UPDATE pinway.server SET epoch = epoch + {0}, owner = {1} WHERE id = 1"
        await new.run(taken.format(1, "@@server_id"))
        await boot(pairs.server(master))
        status, output = await asyncio.to_thread(pairs.run, "resume")
        assert status == 1
        assert f"{slave} took the place of {master} in epoch" in output
        assert await old.run("SELECT @@read_only") == [(1,)]
        await new.run(taken.format(-1, (await old.role()).id))
        pairs.server(slave).kill()
        status, _ = await asyncio.to_thread(pairs.run, "resume")
        assert status == 1
        assert await old.run("SELECT @@read_only") == [(1,)]
    await boot(pairs.server(slave))
    assert f"{master} was restarted" in await pairs.done("resume")


async def test_servers_that_an_operator_stopped_stay_as_they_are(pairs: Pairs) -> None:
    master, slave = await pairs.both()
    async with admins(pairs, master, slave) as [first, second]:
        await until_renewed(first)
        await second.run("STOP SLAVE IO_THREAD")
        assert await pairs.done("resume") == "no server waits to be resumed\n"
        await second.run("START SLAVE IO_THREAD")
        await first.run("SET GLOBAL read_only = 1")
        assert await pairs.done("resume") == "no server waits to be resumed\n"
        await first.run("SET GLOBAL read_only = 0")
