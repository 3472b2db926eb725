"""A master or a slave whose disk has no room for logs: an answer in time, no loss, and automatic
recovery when there is room again."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from datasources.errors import StoreTimeout
from deploy.stack.mariadb import MariaDB
from tests.pairs import Load, Pairs, insert_pin

pytestmark = pytest.mark.anyio
SOURCE = Path(__file__).with_name("full_disk.c")


def compile_to(library: Path) -> None:
    assert shutil.which("gcc"), "gcc is not installed: apt-get install gcc libc6-dev"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)


@asynccontextmanager
async def disk(server: MariaDB, folder: Path) -> AsyncIterator[Path]:
    """Restart the server with a disk that is full while the file exists."""
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


@pytest.mark.parametrize("whose", ["the master's", "the slave's"])
async def test_a_full_disk_is_told_in_time_loses_nothing_and_is_over_when_there_is_room(
    pairs: Pairs, tmp_path: Path, whose: str
) -> None:
    master, slave = await pairs.both()
    server = pairs.server(master if whose == "the master's" else slave)
    async with (
        disk(server, tmp_path) as full,
        pairs.gateway(deadline=1.0) as impatient,
        pairs.gateway(deadline=30.0) as shards,
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
