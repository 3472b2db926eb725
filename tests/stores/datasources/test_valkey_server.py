"""The embedded Valkey: where its data is, which process may use it, and that it never outlives
Pinway."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
import redis.asyncio
import redis.exceptions

from datasources.errors import StoreCorrupt, StoreUnavailable
from datasources.valkey import ValkeyServer
from datasources.valkey.orphan import end_orphan
from tests.ended_process import until_ended

pytestmark = pytest.mark.anyio

PARENT = """
import asyncio, sys
from datasources.valkey import ValkeyServer

async def main():
    server = ValkeyServer(sys.argv[1])
    await server.start()
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def client(server: ValkeyServer, db: int = 0) -> redis.asyncio.Redis:
    return redis.asyncio.Redis.from_url(server.url(db).replace("redis+unix:", "unix:"))


async def test_what_is_written_is_there_after_a_restart(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server, client(server, 1) as valkey:
        await valkey.set("name", "value")
    async with ValkeyServer(tmp_path) as server, client(server, 1) as valkey:
        assert await valkey.get("name") == b"value"
    assert (tmp_path / "valkey" / "appendonlydir").is_dir()


async def test_what_was_acknowledged_survives_sigkill_of_the_server(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    await server.start()
    async with client(server) as valkey:
        for n in range(1000):
            await valkey.rpush("list", n)
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    await server.stop()
    await server.start()
    async with client(server) as valkey:
        assert await valkey.llen("list") == 1000
    await server.stop()


async def test_killed_it_comes_back_at_the_same_address_with_its_data(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server, client(server) as valkey:
        await valkey.set("name", "value")
        for _ in range(2):
            killed = server.pid
            assert killed
            ended = asyncio.create_task(until_ended(killed))
            os.kill(killed, signal.SIGKILL)
            await ended
            assert await answer(valkey) == b"value"


async def answer(valkey: redis.asyncio.Redis) -> bytes | None:
    """The value of `name`, once the server is ready to say so."""
    while True:
        try:
            value: bytes | None = await valkey.get("name")
        except (redis.exceptions.ConnectionError, redis.exceptions.ResponseError):
            await asyncio.sleep(0.01)
        else:
            return value


async def test_it_listens_on_no_port(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server, client(server) as valkey:
        assert (await valkey.config_get("port"))["port"] == "0"


async def test_starting_and_stopping_twice_is_no_error(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    await server.start()
    first = server.pid
    await server.start()
    assert server.pid == first
    await server.stop()
    await server.stop()
    assert server.pid is None
    assert {path.name for path in (tmp_path / "valkey").iterdir()} == {
        *("appendonlydir", "lock", "valkey.log")
    }


@pytest.mark.parametrize("name", ["x" * 150, "with space & 100% ümlaut?#"], ids=["long", "odd"])
async def test_any_directory_name_will_do(tmp_path: Path, name: str) -> None:
    async with ValkeyServer(tmp_path / name) as server, client(server) as valkey:
        assert await valkey.ping()
        assert Path((await valkey.config_get("dir"))["dir"]) == tmp_path / name / "valkey"


async def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server:
        with pytest.raises(StoreUnavailable, match="in use by another Pinway"):
            await ValkeyServer(tmp_path).start()
        async with client(server) as valkey:
            assert await valkey.ping()


async def test_a_server_that_was_refused_leaves_the_files_of_the_one_that_runs(
    tmp_path: Path,
) -> None:
    async with ValkeyServer(tmp_path):
        refused = ValkeyServer(tmp_path)
        before = set((tmp_path / "valkey").iterdir())
        with pytest.raises(StoreUnavailable, match="in use by another Pinway"):
            await refused.start()
        await refused.stop()
        assert set((tmp_path / "valkey").iterdir()) == before


async def test_a_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "valkey").write_text("")
    with pytest.raises(StoreUnavailable, match="valkey"):
        await ValkeyServer(tmp_path).start()


async def test_damaged_data_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path):
        pass
    (log,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(b"this is no command\r\n")
    with pytest.raises(StoreCorrupt, match="move that directory away"):
        await ValkeyServer(tmp_path).start()
    assert log.read_bytes() == b"this is no command\r\n"


async def test_a_log_cut_off_in_its_last_command_is_read_up_to_there(tmp_path: Path) -> None:
    async with ValkeyServer(tmp_path) as server, client(server) as valkey:
        await valkey.set("whole", 1)
        await valkey.set("half", 2)
    (log,) = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(log.read_bytes()[:-5])
    async with ValkeyServer(tmp_path) as server, client(server) as valkey:
        assert await valkey.keys() == [b"whole"]


async def test_there_is_no_url_while_it_does_not_run(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="not running"):
        ValkeyServer(tmp_path).url()


async def test_a_killed_pinway_leaves_no_server_behind(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout
    pid = int(await parent.stdout.readline())
    ended = asyncio.create_task(until_ended(pid))
    parent.kill()
    await parent.wait()
    if sys.platform == "linux":
        await ended
    # Elsewhere it is the next start that ends it.
    async with ValkeyServer(tmp_path) as server:
        assert server.pid != pid
    await ended


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for temporary files. Its path is short, so a socket's path fits below it."""
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


def held(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_killed_pinway_leaves_a_folder_only_until_the_next_start(
    tmp_path: Path, temporary: Path
) -> None:
    data = tmp_path / ("x" * 150)
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(data)), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout
    await parent.stdout.readline()
    [left] = held(temporary)
    parent.kill()
    await parent.wait()
    async with ValkeyServer(data):
        [own] = held(temporary)
        assert own != left
    assert not held(temporary)


async def test_a_server_left_behind_is_ended(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    await server.start()
    left, directory = server.pid, tmp_path / "valkey"
    await end_orphan(directory / "valkey.pid", directory)
    assert left
    await until_ended(left)
    assert server.pid != left
    await server.stop()


async def test_a_process_that_merely_has_the_number_of_the_server_is_left_alone(
    tmp_path: Path,
) -> None:
    bystander = await asyncio.create_subprocess_exec("sleep", "60")
    (tmp_path / "valkey").mkdir()
    (tmp_path / "valkey" / "valkey.pid").write_text(f"{bystander.pid}\n{tmp_path}/valkey.sock\n")
    async with ValkeyServer(tmp_path):
        assert bystander.returncode is None
    bystander.kill()
    assert await bystander.wait() == -signal.SIGKILL


async def test_a_start_on_a_copy_of_a_directory_in_use_leaves_the_original_running(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    async with ValkeyServer(tmp_path / "original") as original, client(original) as valkey:
        await valkey.set("name", "original")
        pid = original.pid
        await anyio.run_process(["cp", "-a", str(tmp_path / "original"), str(copy)])
        async with ValkeyServer(copy) as copied, client(copied) as other:
            await other.set("name", "copy")
            assert copied.pid != pid
            assert original.pid == pid
        assert await valkey.get("name") == b"original"
        assert original.pid == pid


async def test_a_server_left_behind_in_a_directory_that_was_renamed_is_ended(
    tmp_path: Path,
) -> None:
    server = ValkeyServer(tmp_path / "old")
    await server.start()
    left = server.pid
    (tmp_path / "old").rename(tmp_path / "new")
    directory = tmp_path / "new" / "valkey"
    await end_orphan(directory / "valkey.pid", directory)
    assert left
    await until_ended(left)
    await server.stop()
