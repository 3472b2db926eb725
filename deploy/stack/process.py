"""Detached processes that outlive the command, and that are never confused with other processes.

A process is identified by its pid together with its start time and the kernel's boot id (proc(5)),
so that no other process with a reused pid is signalled.
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
# Handles of our own children, which are polled so that none remains as a zombie.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Identity:
    """One run of one process."""

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
    # The command's name is in brackets, and may itself have spaces and brackets.
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
    """Wait until every thread of the process has stopped. Returns False after `timeout` seconds.

    SIGSTOP goes to one thread of the process. The other threads continue until that thread is
    scheduled.
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
    """Start a process in its own session. Its output goes to a new `log`.

    The log of its previous run is kept as `log`.1.
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
    # It exists even if the process has ended, because the process was not reaped yet.
    stat = _stat(child.pid)
    assert stat is not None
    _children[child.pid] = child
    return Identity(child.pid, stat.started, boot_id())


def send(identity: Identity, number: int) -> bool:
    """Signal exactly this process. Returns False if it has ended."""
    if not is_alive(identity):
        return False
    try:
        os.kill(identity.pid, number)
    except ProcessLookupError:
        return False
    return True


def members(identity: Identity) -> list[Identity]:
    """The living processes of the session that `identity` began, including itself.

    A session's id is not reused while a member lives, so these processes are ours even if the
    leader is dead. If another process has the pid now, none of our processes is left.
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
    """Wait until the process and all of its session are dead. Returns False after `timeout`
    seconds."""
    deadline = time.monotonic() + timeout
    while is_alive(identity) or members(identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def stop(identity: Identity, grace: float) -> bool:
    """Ask the process to end (SIGTERM); kill its whole session after `grace` seconds.

    Returns whether it ended by itself.
    """
    if send(identity, signal.SIGTERM):
        send(identity, signal.SIGCONT)  # A paused process would not receive the SIGTERM.
    deadline = time.monotonic() + grace
    while is_alive(identity) and time.monotonic() < deadline:
        time.sleep(_POLL)
    gentle = not is_alive(identity)
    for left in members(identity):
        send(left, signal.SIGKILL)
    wait_gone(identity, timeout=10)
    return gentle


def works_below(identity: Identity, directory: Path) -> bool:
    """Whether the process, or after its death a process of its session, works in the directory or
    below it. The processes in a pid file that was copied work in the original directory."""
    alive = [identity] if is_alive(identity) else members(identity)
    return any(_has_parent(f"/proc/{found.pid}/cwd", directory) for found in alive)


def _has_parent(folder: str, directory: Path) -> bool:
    try:
        wanted, there = directory.stat(), os.stat(folder)
        while not os.path.samestat(wanted, there):
            folder += "/.."
            below, there = there, os.stat(folder)
            if os.path.samestat(below, there):  # the root
                return False
    except OSError:
        return False
    return True


def save(identity: Identity, path: Path) -> None:
    scratch = path.with_name(path.name + ".new")
    scratch.write_text(json.dumps(asdict(identity)))
    scratch.replace(path)


def load(path: Path) -> Identity | None:
    """The identity in a pid file; None if there is no file or it is invalid."""
    try:
        fields = json.loads(path.read_text())
        return Identity(int(fields["pid"]), int(fields["started"]), str(fields["boot"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
