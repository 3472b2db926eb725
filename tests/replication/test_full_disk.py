"""A master or a slave whose disk has no room for logs or tables: an answer in time, no loss, and
automatic recovery when there is room again."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from datasources.errors import StoreError, StoreTimeout
from datasources.mysql import MySqlShards
from datasources.replication.observation import Rules
from deploy.stack.mariadb import MariaDB
from tests.pairs import Load, Pairs, insert_pin
from tests.replication.observers import watched

pytestmark = pytest.mark.anyio
SOURCE = Path(__file__).with_name("full_disk.c")


def compile_to(library: Path) -> None:
    assert shutil.which("gcc"), "gcc is not installed: apt-get install gcc libc6-dev"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)


@asynccontextmanager
async def disk(server: MariaDB, folder: Path) -> AsyncIterator[Path]:
    """Restart the server with a disk that is full while the file exists."""
    with preloaded(server, folder, "FULL_DISK") as full:
        try:
            await asyncio.to_thread(again, server)
            yield full
        finally:
            full.unlink(missing_ok=True)
    await asyncio.to_thread(again, server)


@contextmanager
def preloaded(server: MariaDB, folder: Path, variable: str) -> Iterator[Path]:
    """Preload the library, which looks for the file, whenever the server starts in here."""
    library, full = folder / "full_disk.so", folder / "full"
    compile_to(library)
    ordinary = server.environment()
    server.environment = lambda: {  # type: ignore[method-assign]
        **ordinary,
        "LD_PRELOAD": str(library),
        variable: str(full),
    }
    try:
        yield full
    finally:
        del server.environment


def again(server: MariaDB) -> None:
    server.restart()
    server.wait_ready()


@pytest.mark.parametrize("whose", ["the master's", "the slave's"])
async def test_a_full_disk_is_told_in_time_loses_nothing_and_is_over_when_there_is_room(
    pairs: Pairs, tmp_path: Path, whose: str
) -> None:
    master, slave = await pairs.both()
    server = pairs.server(master if whose == "the master's" else slave)
    async with (
        disk(server, tmp_path) as full,
        pairs.gateway(deadline=1.0) as impatient,
        pairs.gateway(deadline=120.0) as shards,
    ):
        load = Load(shards)
        async with load.running():
            await load.acknowledge(50)
            full.touch()
            with pytest.raises(StoreTimeout, match=f"{master}: no answer in 1.0 s"):
                await insert_pin(impatient, b"-820")
            ids = list(load.acknowledged.values())
            assert (await shards.objects.get(ids)).keys() == set(ids)
            full.unlink()
            await load.acknowledge(50)
        await load.check()
    assert await pairs.current() == (master, slave)


async def test_a_master_that_ends_itself_without_room_for_tables_is_back_when_it_is_restarted(
    pairs: Pairs, tmp_path: Path
) -> None:
    """MariaDB 10.11 ends itself when a small table can't grow. The test restarts it, as systemd
    does, and the watch opens it."""
    master, slave = await pairs.both()
    server = pairs.server(master)
    with preloaded(server, tmp_path, "FULL_TABLES") as full:
        await asyncio.to_thread(again, server)
        async with (
            pairs.gateway(deadline=5.0) as shards,
            watched(pairs, Rules(), 1, resumes=True) as observers,
        ):
            load = Load(shards)
            async with load.running():
                await load.acknowledge(50)
                full.touch()
                await until_ended(server, shards)
                full.unlink()
                server.start()
                await observers.until(f"{master} was restarted, and takes writes again")
                await load.acknowledge(50)
            await load.check()
    assert await pairs.both() == (master, slave)
    await asyncio.to_thread(again, server)


async def until_ended(server: MariaDB, shards: MySqlShards) -> None:
    """Write pins that need further pages, until the server has ended itself."""
    async with asyncio.timeout(300):
        while server.pid is not None:
            with suppress(StoreError):
                await insert_pin(shards, b"-821" + b" " * 60_000)
            await asyncio.sleep(0.01)
