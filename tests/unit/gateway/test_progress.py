"""The messages of commands that take long: what they wait for, and how far they are."""

from collections.abc import Iterator
from threading import Event

import pytest
from click.testing import CliRunner

from gateway import progress
from gateway.cli import main
from gateway.importing.report import Progress
from gateway.progress import Bars, telling


def test_a_long_wait_is_told_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENCE", 0.001)
    said, twice = list[str](), Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            twice.set()

    with telling("the stores", say=say):
        assert twice.wait(60)
    assert said[0].startswith("still waiting for the stores, after ")
    told = len(said)
    monkeypatch.setattr(progress, "SILENCE", 60.0)
    with telling("the stores", say=say):
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
