"""Detached processes that outlive the command, and that are never mistaken for another's.

A process is known by its pid together with its start time and the kernel's boot id (proc(5)), so
that a pid which was given to somebody else meanwhile is not signalled.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.stack.errors import StackError

_POLL = 0.02
# Handles of our own children: polled so that none of them stays behind as a zombie.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Identity:
    """One life of one process."""

    pid: int
    started: int  # clock ticks since boot
    boot: str


@dataclass(frozen=True)
class _Stat:
    pid: int
    state: str
    session: int
    started: int


def require_linux() -> None:
    if sys.platform != "linux":
        raise StackError(
            "`pinway stack` needs Linux; elsewhere use `docker compose -f deploy/compose.yaml up`."
        )


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int, thread: str = "") -> _Stat | None:
    part = f"task/{thread}/stat" if thread else "stat"
    try:
        text = Path(f"/proc/{pid}/{part}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name stands in brackets and may itself hold blanks and brackets.
    fields = text[text.rindex(")") + 2 :].split()
    return _Stat(pid, state=fields[0], session=int(fields[3]), started=int(fields[19]))


def identify(pid: int) -> Identity | None:
    """The process that has this pid now; None if there is none or it is dead."""
    stat = _stat(pid)
    if stat is None or stat.state in "ZX":
        return None
    return Identity(pid, stat.started, boot_id())


def is_alive(identity: Identity) -> bool:
    child = _children.get(identity.pid)
    if child is not None and child.poll() is not None:
        _children.pop(identity.pid, None)
    return identify(identity.pid) == identity


def is_paused(identity: Identity) -> bool:
    """Whether the process is stopped by a signal (SIGSTOP)."""
    stat = _stat(identity.pid)
    return stat is not None and stat.state in "Tt" and is_alive(identity)


def wait_paused(identity: Identity, timeout: float) -> bool:
    """Waits until every thread of the process has stopped; False after `timeout` seconds.

    SIGSTOP goes to one thread of the process. The other threads run on until that one is scheduled.
    """
    deadline = time.monotonic() + timeout
    while not _all_threads_paused(identity.pid):
        if time.monotonic() > deadline or not is_alive(identity):
            return False
        time.sleep(_POLL)
    return True


def _all_threads_paused(pid: int) -> bool:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return False
    states = [_stat(pid, thread) for thread in threads]
    return all(stat is None or stat.state in "TtZX" for stat in states)


def spawn(command: Sequence[str], *, cwd: Path, log: Path, env: Mapping[str, str]) -> Identity:
    """Starts a process in its own session; its output goes to a fresh `log`.

    The log of its previous life is kept as `log`.1.
    """
    if log.exists():
        log.replace(log.with_name(log.name + ".1"))
    with log.open("wb") as out:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    stat = _stat(child.pid)  # There even if it has ended: we have not reaped it yet.
    assert stat is not None
    _children[child.pid] = child
    return Identity(child.pid, stat.started, boot_id())


def send(identity: Identity, number: int) -> bool:
    """Signals that very process; False if it no longer lives."""
    if not is_alive(identity):
        return False
    try:
        os.kill(identity.pid, number)
    except ProcessLookupError:
        return False
    return True


def members(identity: Identity) -> list[Identity]:
    """The living processes of the session which `identity` began, itself included.

    A session's id is not given away while a member lives, so these are ours even when the leader
    is dead; if somebody else has the pid now, nothing of ours is left.
    """
    boot = boot_id()
    if identity.boot != boot:
        return []
    leader = identify(identity.pid)
    if leader is not None and leader != identity:
        return []
    found = []
    for entry in Path("/proc").iterdir():
        stat = _stat(int(entry.name)) if entry.name.isdigit() else None
        if stat and stat.session == identity.pid and stat.state not in "ZX":
            found.append(Identity(stat.pid, stat.started, boot))
    return found


def wait_gone(identity: Identity, timeout: float) -> bool:
    """Waits until the process and all of its session are dead; False after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while is_alive(identity) or members(identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def stop(identity: Identity, grace: float) -> bool:
    """Asks the process to end (SIGTERM), kills its whole session after `grace` seconds.

    True if it ended by itself.
    """
    if send(identity, signal.SIGTERM):
        send(identity, signal.SIGCONT)  # A paused process would never see the first.
    deadline = time.monotonic() + grace
    while is_alive(identity) and time.monotonic() < deadline:
        time.sleep(_POLL)
    gentle = not is_alive(identity)
    for left in members(identity):
        send(left, signal.SIGKILL)
    wait_gone(identity, timeout=10)
    return gentle


def save(identity: Identity, path: Path) -> None:
    scratch = path.with_name(path.name + ".new")
    scratch.write_text(json.dumps(asdict(identity)))
    scratch.replace(path)


def load(path: Path) -> Identity | None:
    """The identity in a pid file; None if there is no file or it makes no sense."""
    try:
        fields = json.loads(path.read_text())
        return Identity(int(fields["pid"]), int(fields["started"]), str(fields["boot"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
