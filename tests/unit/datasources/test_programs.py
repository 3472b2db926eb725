"""Programs end with the command that started them."""

import asyncio
import os
from pathlib import Path

import pytest

from datasources.errors import ConfigError, StoreUnavailable
from datasources.mysql.replication import programs
from tests.ended_process import until_ended

pytestmark = pytest.mark.anyio


async def written(fifo: Path) -> int:
    """The process id that a program writes into a FIFO."""
    return int(await asyncio.to_thread(fifo.read_text))


async def check_ended(*ids: int) -> None:
    async with asyncio.timeout(60.0):
        for id in ids:
            await until_ended(id)


async def test_a_cancelled_command_ends_its_program(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "id")
    script = f"echo $$ > {tmp_path / 'id'}; exec sleep 600"
    task = asyncio.create_task(programs.run_program("sh", "-c", script))
    id = await written(tmp_path / "id")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await check_ended(id)


async def test_a_cancelled_pipe_ends_both_programs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        os.mkfifo(tmp_path / name)
    giving, taking = (f"echo $$ > {tmp_path / name}; exec sleep 600" for name in ("one", "two"))
    task = asyncio.create_task(programs.pipe(["sh", "-c", giving], ["sh", "-c", taking]))
    ids = [await written(tmp_path / name) for name in ("one", "two")]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await check_ended(*ids)


async def test_a_pipe_without_its_second_program_does_not_start_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(programs.PACKAGES, "no-such-program", "a-package")
    with pytest.raises(ConfigError, match="apt-get install a-package"):
        await programs.pipe(["touch", str(tmp_path / "started")], ["no-such-program"])
    assert not (tmp_path / "started").exists()


async def test_a_program_that_fails_is_told_with_its_last_line() -> None:
    with pytest.raises(StoreUnavailable, match=r"sh failed: disk full$"):
        await programs.run_program("sh", "-c", "echo working >&2; echo disk full >&2; exit 1")
    with pytest.raises(StoreUnavailable, match=r"sh failed: no$"):
        await programs.pipe(["echo", "1"], ["sh", "-c", "cat > /dev/null; echo no >&2; exit 1"])
