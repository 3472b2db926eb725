"""The messages of commands that take long: what they wait for, and how far they are."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner

from datasources.waits import waiting_for
from gateway.cli import main
from gateway.operate import progress
from gateway.operate.imports.report import Progress
from gateway.operate.progress import Bars, reporting_waits
from gateway.server import process
from gateway.settings import Settings, changed
from gateway.site.installation import install
from tests.pinway_process import free_port


def test_a_long_wait_is_told_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.001)
    said, twice = list[str](), Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            twice.set()

    with reporting_waits("the stores", say=say):
        assert twice.wait(300)
    assert said[0].startswith("still waiting for the stores, after ")
    told = len(said)
    monkeypatch.setattr(progress, "SILENCE", 60.0)
    with reporting_waits("the stores", say=say):
        pass
    assert len(said) == told


def test_a_command_says_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.001)
    data = ("--data-dir", f"{tmp_path}/data")
    CliRunner().invoke(main, ["init", *data])
    for command in (["doctor"], ["jobs", "list"], ["token", "ann"], ["backup", f"{tmp_path}/b"]):
        done = CliRunner().invoke(main, [*command, *data])
        assert "still waiting for the stores" in done.stderr, command
        assert "still waiting" not in done.stdout


def test_a_wait_names_the_stores_and_the_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.001)
    heard = Event()

    def say(line: str) -> None:
        if line.endswith(" s: queue at shelf:6379: no answer yet"):
            heard.set()

    with reporting_waits("the stores", say=say), waiting_for("queue at shelf:6379"):
        assert heard.wait(300)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_init_and_doctor_name_the_store_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, silent_port: int
) -> None:
    data = ("--data-dir", f"{tmp_path}/data")
    assert CliRunner().invoke(main, ["init", *data]).exit_code == 0
    monkeypatch.setattr(progress, "SILENCE", 0.2)
    monkeypatch.setenv("PINWAY_STORES__QUEUE", f"redis://127.0.0.1:{silent_port}/1")
    for command in ("init", "doctor"):
        done = CliRunner().invoke(main, [command, *data])
        assert f" s: queue at 127.0.0.1:{silent_port}: no answer yet" in done.stderr, command


@pytest.mark.anyio
async def test_a_gateway_names_the_stores_that_it_starts_without(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path)
    await install(settings, lambda progress: None)
    queue = f"127.0.0.1:{free_port()}"
    lost = changed(settings, {"stores.queue": f"redis://{queue}/1"})
    async with process._opened(lost, jobs=False):
        told = f"started without stores that do not answer: queue at {queue}: Connection refused"
        assert told in caplog.messages


def test_a_long_stage_has_lines_where_there_are_no_bars(capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 1.0, 2.5, 3.0, 6.0, 7.0, 8.0, 30.0])
    steps: Iterator[Progress] = (Progress("Pins", done, 7, "pins") for done in range(8))
    with Bars(clock=lambda: next(now)) as bars:
        for step in steps:
            bars(step)
    assert capsys.readouterr().err.splitlines() == [
        "Pins: 2 of 7 pins so far",
        "Pins: 4 of 7 pins so far",
        "Pins: 7 pins",
    ]
