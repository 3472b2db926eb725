"""`pinway import` opens its stores once, reads its file meanwhile, and says what it waits for."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import pytest
from click.testing import CliRunner, Result

from datasources import factory
from datasources.waits import collected
from gateway.cli import data as command
from gateway.cli import main
from gateway.operate.imports.loader import Import
from gateway.operate.imports.report import ImportOptions, OnProgress, Progress
from gateway.site import installation, runtime

USER = json.dumps({"type": "user", "key": "ann", "username": "ann"}) + "\n"


def import_(folder: Path, content: str, *options: str, name: str = "world.jsonl") -> Result:
    file = folder / "world.jsonl"
    file.write_text(content)
    given = str(file) if name != "-" else "-"
    arguments = ["import", given, "--data-dir", str(folder / "data"), *options]
    return CliRunner().invoke(main, arguments, input=content if name == "-" else None)


def test_a_pipe_with_a_name_is_read_once(tmp_path: Path) -> None:
    """A shell's `<(zcat FILE)` is such a name: bytes that were read from it don't come again."""
    reading, writing = os.pipe()
    try:
        os.write(writing, USER.encode())
        os.close(writing)
        data = str(tmp_path / "data")
        done = CliRunner().invoke(main, ["import", f"/dev/fd/{reading}", "--data-dir", data])
    finally:
        os.close(reading)
    assert done.exit_code == 0, done.output
    assert "new: 1 user" in done.output


def test_the_stores_are_opened_once_also_when_they_are_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = 0
    real = factory.open_stores

    async def counted(config: Any) -> Any:
        nonlocal opened
        opened += 1
        return await real(config)

    monkeypatch.setattr(installation, "open_stores", counted)
    monkeypatch.setattr(runtime, "open_stores", counted)
    for expected, told in ((1, "new: 1 user"), (2, "already there: 1 user")):
        done = import_(tmp_path, USER)
        assert done.exit_code == 0, done.output
        assert told in done.output
        assert opened == expected


@pytest.mark.parametrize(
    ("name", "options", "beside"),
    [
        ("world.jsonl", ImportOptions(), True),
        ("world.jsonl", ImportOptions(strict=True), False),
        ("-", ImportOptions(), False),
    ],
)
def test_a_file_is_read_while_the_stores_are_opened_but_a_pipe_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    options: ImportOptions,
    *,
    beside: bool,
) -> None:
    """The stores open only after the file was read; or a file is read only after they began."""
    began, was_read = asyncio.Event(), asyncio.Event()
    order: list[str] = []
    real = Import.read

    async def read(self: Import, progress: OnProgress) -> None:
        if beside:
            await began.wait()
        await real(self, progress)
        order.append("read")
        was_read.set()

    @asynccontextmanager
    async def running(*_: Any, **__: Any) -> AsyncIterator[Any]:
        order.append("opening")
        began.set()
        await was_read.wait()
        order.append("opened")
        raise ZeroDivisionError
        yield

    monkeypatch.setattr(Import, "read", read)
    monkeypatch.setattr(command, "running", running)
    flags = ["--strict"] if options.strict else []
    done = import_(tmp_path, USER, *flags, name=name)
    assert isinstance(done.exception, ZeroDivisionError), done.output
    first = ["opening", "read"] if beside else ["read", "opening"]
    assert order == [*first, "opened"]


def test_a_strict_import_of_a_bad_file_makes_no_stores(tmp_path: Path) -> None:
    done = import_(tmp_path, USER + "{\n", "--strict")
    assert done.exit_code == 1
    assert list((tmp_path / "data").iterdir()) == []


def test_a_store_whose_driver_is_being_loaded_is_named() -> None:
    told: list[str] = []
    with collected() as waits:

        def load(url: SplitResult) -> str:
            told.append(waits.told())
            return "store"

        assert factory._open("queue", "redis://host", {"redis": load}) == "store"
    assert told == ["queue: its driver is being loaded"]


def test_the_progress_of_reading_is_shown_once_the_stores_are_open() -> None:
    shown: list[Progress] = []
    held = command._Held(shown.append)
    steps = [Progress("reading", done, 3, "B") for done in (1, 2, 3)]
    held(steps[0])
    held(steps[1])
    assert shown == []
    held.release()
    assert shown == [steps[1]]
    held(steps[2])
    assert shown == steps[1:]
