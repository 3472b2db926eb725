"""A master or a slave whose disk has no room for logs: an answer in time, no loss, and recovery by
itself when there is room again."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from datasources.errors import StoreTimeout
from datasources.ids import Kind
from datasources.mysql import MySqlShards
from datasources.zookeeper import ZooKeeperTopology
from deploy.stack.mariadb import MariaDB
from tests.pairs import Load, Pairs

pytestmark = pytest.mark.anyio
SOURCE = Path(__file__).with_name("full_disk.c")


async def current(pairs: Pairs) -> tuple[str, str]:
    """The master and the slave of the shards."""
    source = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    topology = await source.load()
    await source.close()
    slave = topology.shards[0].slave
    assert slave is not None
    return topology.shards[0].master, slave


def compile_to(library: Path) -> None:
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)


@asynccontextmanager
async def disk(server: MariaDB, folder: Path) -> AsyncIterator[Path]:
    """The server is restarted with a disk that is full while the file exists."""
    library, full = folder / "full_disk.so", folder / "full"
    compile_to(library)
    ordinary = server.environment()
    server.environment = lambda: {  # type: ignore[method-assign]
        **ordinary,
        "LD_PRELOAD": str(library),
        "FULL_DISK": str(full),
    }
    try:
        await asyncio.to_thread(again, server)
        yield full
    finally:
        full.unlink(missing_ok=True)
        del server.environment
        await asyncio.to_thread(again, server)


def again(server: MariaDB) -> None:
    server.restart()
    server.wait_ready()


async def insert(shards: MySqlShards, data: bytes) -> int:
    return await shards.objects.transact(0, lambda tx: tx.insert(Kind.PIN, data))


@pytest.mark.parametrize("whose", ["the master's", "the slave's"])
async def test_a_full_disk_is_told_in_time_loses_nothing_and_is_over_when_there_is_room(
    pairs: Pairs, tmp_path: Path, whose: str
) -> None:
    master, slave = await current(pairs)
    server = pairs.server(master if whose == "the master's" else slave)
    async with disk(server, tmp_path) as full, pairs.gateway(deadline=1.0) as shards:
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            full.touch()
            with pytest.raises(StoreTimeout, match=f"{master}: no answer in 1.0 s"):
                await insert(shards, b"-820")
            ids = list(load.acknowledged.values())
            assert (await shards.objects.get(ids)).keys() == set(ids)
            full.unlink()
            await load.acknowledge(50)
        await load.check()
    assert await current(pairs) == (master, slave)
