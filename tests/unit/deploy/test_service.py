"""`deploy/stack/service.py`: one server's life, with small programs in a server's place."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.stack import process
from deploy.stack.errors import StackError, StartFailed
from deploy.stack.service import NotReady, Service, State

_MARKS_AND_WAITS = "import pathlib, signal; pathlib.Path('ready').touch(); signal.pause()"


class Program(Service):
    """Ready when it has made the file `ready`."""

    program = _MARKS_AND_WAITS
    text = "one"

    def command(self) -> list[str]:
        return [sys.executable, "-c", self.program]

    def config(self) -> dict[Path, str]:
        return {Path("conf/a.txt"): self.text}

    def prepare(self) -> None:
        (self.dir / "ready").unlink(missing_ok=True)

    def probe(self) -> str:
        if not (self.dir / "ready").exists():
            raise NotReady("no mark")
        return "marked"


class Broken(Program):
    program = "import sys; print('something is wrong'); sys.exit(3)"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    service = Program("program", tmp_path, {"main": 1})
    yield service
    service.stop()


def test_a_server_is_down_until_it_is_started_and_up_when_it_is_ready(program: Program) -> None:
    assert program.health().state is State.DOWN
    assert program.pid is None
    program.start()
    program.wait_ready()
    assert program.health().state is State.UP
    assert program.health().detail == "marked"


def test_starting_a_running_server_changes_nothing(program: Program) -> None:
    program.start()
    pid = program.pid
    program.start()
    assert program.pid == pid


def test_another_command_finds_the_running_server_by_its_pid_file(
    program: Program, tmp_path: Path
) -> None:
    program.start()
    assert Program("program", tmp_path, {"main": 1}).pid == program.pid


def test_a_killed_server_is_down_when_the_call_returns_and_starts_again(program: Program) -> None:
    program.start()
    program.wait_ready()
    first = program.pid
    program.kill()
    assert program.health().state is State.DOWN
    program.start()
    program.wait_ready()
    assert program.pid not in (None, first)


def test_a_paused_server_shows_as_such_and_goes_on(program: Program) -> None:
    program.start()
    program.wait_ready()
    program.kill(signal.SIGSTOP)
    assert program.pid is not None
    assert program.health().state is State.PAUSED
    program.kill(signal.SIGCONT)
    program.wait_ready()


def test_a_server_that_is_down_cannot_be_signalled(program: Program) -> None:
    with pytest.raises(StackError, match="program is down"):
        program.kill()


def test_a_server_that_runs_but_does_not_answer_is_unwell(program: Program) -> None:
    program.start()
    program.wait_ready()
    (program.dir / "ready").unlink()
    assert program.health().state is State.UNWELL
    assert program.health().detail == "no mark"


def test_a_server_that_ends_at_its_start_fails_with_the_end_of_its_log(tmp_path: Path) -> None:
    service = Broken("broken", tmp_path, {"main": 1})
    service.start()
    with pytest.raises(StartFailed, match=r"^broken ended while it started; see .*log, ") as caught:
        service.wait_ready()
    assert caught.value.tail == "something is wrong"


def test_waiting_ends_after_its_time_and_says_what_was_missing(program: Program) -> None:
    program.program = "import signal; signal.pause()"
    program.start()
    with pytest.raises(StartFailed, match=r"not ready after 0 s \(no mark\)"):
        program.wait_ready(timeout=0.1)


def test_waiting_ends_when_it_is_abandoned(program: Program) -> None:
    program.program = "import signal; signal.pause()"
    program.start()
    abandoned = threading.Event()
    abandoned.set()
    with pytest.raises(StartFailed, match="was not waited for"):
        program.wait_ready(abandoned=abandoned)


def test_configuration_tells_whether_it_changed(program: Program) -> None:
    assert program.configure()
    assert not program.configure()
    program.text = "two"
    assert program.configure()
    assert (program.dir / "conf" / "a.txt").read_text() == "two"


def copy_of(program: Program, root: Path) -> Program:
    """The same server in a copy of its directory, as `cp -a` makes it."""
    subprocess.run(["cp", "-a", program.dir.parent, root], check=True)
    return Program("program", root, {"main": 1})


def test_a_copied_directory_leaves_the_server_of_the_original_alone(
    program: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program.start()
    program.wait_ready()
    first = program.pid
    copy = copy_of(program, tmp_path_factory.mktemp("copies") / "copy")
    assert copy.pid is None
    assert copy.health().state is State.DOWN
    with pytest.raises(StackError, match="is down"):
        copy.kill()
    copy.start()
    copy.wait_ready()
    assert copy.pid not in (None, first)
    copy.stop()
    assert program.pid == first
    assert program.health().state is State.UP


def test_a_copied_directory_leaves_the_children_of_the_originals_dead_server_alone(
    program: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program.program = (
        "import os, pathlib, signal; os.fork(); "
        "pathlib.Path(f'child{os.getpid()}').touch(); pathlib.Path('ready').touch(); signal.pause()"
    )
    program.start()
    program.wait_ready()
    leader = program.identity
    assert leader is not None
    os.kill(leader.pid, signal.SIGKILL)
    copy = copy_of(program, tmp_path_factory.mktemp("copies") / "copy")
    copy.stop()
    left = process.members(leader)
    assert left
    program.stop()
    assert process.members(leader) == []


def test_a_renamed_directory_keeps_its_server(tmp_path: Path) -> None:
    before = Program("program", tmp_path / "old", {"main": 1})
    before.start()
    pid = before.pid
    (tmp_path / "old").rename(tmp_path / "new")
    after = Program("program", tmp_path / "new", {"main": 1})
    assert after.pid == pid
    after.stop()
    assert before.identity is None
