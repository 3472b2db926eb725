"""A commit that waits for a slave's receipt: its gateway stops waiting, and never kills it."""

import asyncio
import signal

import pytest

from datasources.errors import StoreTimeout
from datasources.ids import Kind
from datasources.sql.shards import SqlShards
from deploy.stack import Stack
from deploy.stack.mariadb import MariaDB
from tests.contract.shards import Deployment

pytestmark = pytest.mark.anyio
WAITING = (
    "SELECT COUNT(*) FROM information_schema.processlist "
    "WHERE state LIKE 'Waiting for semi-sync ACK%' AND info LIKE '%COMMIT%'"
)


@pytest.mark.parametrize("how", ["deadline", "cancelled"])
async def test_a_write_that_no_slave_has_stays_invisible_and_completes_with_the_slave(
    mysql: Deployment, databases: Stack, how: str
) -> None:
    master, slave = databases.services["mysql001a"], databases.services["mysql001b"]
    assert isinstance(master, MariaDB)
    shards = mysql.open(deadline=1.0 if how == "deadline" else 60.0)
    shard = mysql.shard(0)
    first = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b"{}"))
    slave.kill(signal.SIGSTOP)
    try:
        await _write_without_slave(shards, master, shard, how)
        # a KILL would have been sent before this returns
        await asyncio.to_thread(master.query, "SELECT 1")
        assert await shards.objects.get([first, first + 1]) == {first: b"{}"}
    finally:
        slave.kill(signal.SIGCONT)
    while len(await shards.objects.get([first, first + 1])) < 2:
        pass  # each check is a round trip
    await shards.close()


async def _write_without_slave(shards: SqlShards, master: MariaDB, shard: int, how: str) -> None:
    write = asyncio.create_task(
        shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, b'{"second": 1}'))
    )
    if how == "deadline":
        with pytest.raises(StoreTimeout):
            await write
        return
    while (await asyncio.to_thread(master.query, WAITING)).strip() == "0":
        assert not write.done()
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
