"""`deploy/stack/process.py`, on real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.stack import process
from deploy.stack.process import Identity

SLEEP = ["sleep", "600"]
DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def spawned(tmp_path: Path) -> Iterator[list[Identity]]:
    found: list[Identity] = []
    yield found
    for identity in found:
        process.stop(identity, grace=0)


@pytest.fixture
def sleeper(tmp_path: Path, spawned: list[Identity]) -> Identity:
    identity = process.spawn(SLEEP, cwd=tmp_path, log=tmp_path / "log", env=os.environ)
    spawned.append(identity)
    return identity


def test_a_process_is_identified_by_more_than_its_pid(sleeper: Identity) -> None:
    assert process.is_alive(sleeper)
    assert process.identify(sleeper.pid) == sleeper
    assert not process.is_alive(replace(sleeper, started=sleeper.started - 1))
    assert not process.is_alive(replace(sleeper, boot="another boot"))


def test_a_signal_never_reaches_a_process_that_merely_has_the_same_pid(sleeper: Identity) -> None:
    stranger = replace(sleeper, started=sleeper.started - 1)
    assert not process.send(stranger, signal.SIGKILL)
    process.stop(stranger, grace=0)
    assert process.is_alive(sleeper)


def test_a_dead_process_is_not_alive_though_nobody_has_waited_for_it(tmp_path: Path) -> None:
    child = subprocess.Popen(SLEEP)
    identity = process.identify(child.pid)
    assert identity is not None
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # Dead now, and still a zombie.
    assert not process.is_alive(identity)
    child.wait()


def test_a_process_lives_in_a_session_of_its_own(sleeper: Identity) -> None:
    assert os.getsid(sleeper.pid) == sleeper.pid != os.getsid(0)


def test_stop_lets_a_process_end_by_itself(sleeper: Identity) -> None:
    assert process.stop(sleeper, grace=10)
    assert not process.is_alive(sleeper)


def test_stop_ends_a_paused_process(sleeper: Identity) -> None:
    process.send(sleeper, signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED | os.WNOWAIT)
    assert process.is_paused(sleeper)
    assert process.stop(sleeper, grace=10)


def test_stop_kills_a_process_that_does_not_listen(tmp_path: Path, spawned: list[Identity]) -> None:
    identity = process.spawn(
        [sys.executable, "-c", DEAF], cwd=tmp_path, log=tmp_path / "log", env=os.environ
    )
    spawned.append(identity)
    _wait_for(tmp_path / "log", "deaf")
    assert not process.stop(identity, grace=0.2)
    assert not process.is_alive(identity)


def test_stop_ends_the_children_of_a_process_that_has_died(
    tmp_path: Path, spawned: list[Identity]
) -> None:
    leader = process.spawn(
        ["sh", "-c", "sleep 600 & echo child $!; wait"],
        cwd=tmp_path,
        log=tmp_path / "log",
        env=os.environ,
    )
    spawned.append(leader)
    child = process.identify(int(_wait_for(tmp_path / "log", "child ").split()[1]))
    assert child is not None
    assert set(process.members(leader)) == {leader, child}
    process.send(leader, signal.SIGKILL)
    process.stop(leader, grace=0)
    assert not process.is_alive(child)
    assert process.members(leader) == []


def test_the_log_of_the_previous_life_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for word in ("first", "second"):
        identity = process.spawn(["echo", word], cwd=tmp_path, log=log, env=os.environ)
        assert process.wait_gone(identity, timeout=120)
    assert (tmp_path / "log.1").read_text() == "first\n"
    assert log.read_text() == "second\n"


def test_an_identity_survives_its_file(tmp_path: Path, sleeper: Identity) -> None:
    process.save(sleeper, tmp_path / "pid.json")
    assert process.load(tmp_path / "pid.json") == sleeper


@pytest.mark.parametrize("text", ["", "12", "{}", '{"pid": "x", "started": 1, "boot": "b"}'])
def test_a_damaged_pid_file_names_no_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "pid.json").write_text(text)
    assert process.load(tmp_path / "pid.json") is None


def test_a_missing_pid_file_names_no_process(tmp_path: Path) -> None:
    assert process.load(tmp_path / "pid.json") is None


def _wait_for(log: Path, word: str) -> str:
    """The log's text as soon as it has a whole line with `word`; bounded by the timeout."""
    while True:
        text = log.read_text()
        if word in text and text.endswith("\n"):
            return text
