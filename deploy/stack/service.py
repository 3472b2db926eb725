"""One server of the stack: its files, its process, its health."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from deploy.stack import process
from deploy.stack.errors import StackError, StartFailed
from deploy.stack.files import write_if_changed
from deploy.stack.process import Identity

_POLL = 0.05
_TAIL_LINES = 30


class State(StrEnum):
    UP = "up"  # answers as it should
    UNWELL = "unwell"  # runs, but does not answer as it should
    PAUSED = "paused"  # stopped by a signal
    DOWN = "down"


@dataclass(frozen=True)
class Health:
    state: State
    detail: str = ""


class NotReady(Exception):
    """A server does not answer as it should yet. The text says why."""


class Service:
    """A server process. Subclasses say how it is configured, started and asked.

    `name` is unique in the stack. `ports` has the number of each port by its use; the clients' port
    is "main". All files of the server are below `dir`.
    """

    ready_timeout = 60.0
    stop_grace = 20.0

    def __init__(self, name: str, root: Path, ports: Mapping[str, int]) -> None:
        self.name = name
        self.ports = dict(ports)
        self.dir = root / name
        self.log = self.dir / f"{name}.log"
        self.pid_file = self.dir / f"{name}.pid.json"

    # The parts that a subclass fills in.

    def command(self) -> list[str]:
        raise NotImplementedError

    def config(self) -> dict[Path, str]:
        """The configuration files: path below `dir` → text."""
        return {}

    def prepare(self) -> None:
        """Create what the first start needs. Called before each start."""

    def probe(self) -> str:
        """Ask the server. Returns a word about its health; raises NotReady or OSError if it
        fails."""
        raise NotImplementedError

    def settle(self) -> None:
        """Called repeatedly when the server runs, until it no longer raises; then the server is
        ready."""
        self.probe()

    def environment(self) -> dict[str, str]:
        return {**os.environ, "LC_ALL": "C.UTF-8"}

    # The interface for other modules.

    @property
    def port(self) -> int:
        return self.ports["main"]

    @property
    def identity(self) -> Identity | None:
        """The running process; None when it is down."""
        known = self._known()
        return known if known is not None and process.is_alive(known) else None

    @property
    def pid(self) -> int | None:
        """The service's process id; None when it is down."""
        identity = self.identity
        return None if identity is None else identity.pid

    def configure(self) -> bool:
        """Write the configuration. Returns whether it differs from the old one."""
        self.dir.mkdir(parents=True, exist_ok=True)
        changed = [write_if_changed(self.dir / path, text) for path, text in self.config().items()]
        return any(changed)

    def start(self) -> None:
        """Start the process if it is not running. Does not wait until it is ready."""
        if self.identity is not None:
            return
        self._end_orphans()
        self.configure()
        self.prepare()
        identity = process.spawn(self.command(), cwd=self.dir, log=self.log, env=self.environment())
        process.save(identity, self.pid_file)

    def wait_ready(
        self, timeout: float | None = None, abandoned: threading.Event | None = None
    ) -> None:
        """Return when the server answers as it should.

        Raises StartFailed when its process ends, after `timeout` seconds (the default is what this
        kind of server needs, and more), or when `abandoned` is set.
        """
        seconds = self.ready_timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        while True:
            if self.identity is None:
                raise self._failure("ended while it started")
            try:
                self.settle()
                if self.identity is not None:  # otherwise another process answered on its port
                    return
            except (NotReady, OSError) as problem:
                if time.monotonic() > deadline:
                    raise self._failure(f"not ready after {seconds:.0f} s ({problem})") from problem
            if abandoned is not None and abandoned.is_set():
                raise self._failure("was not waited for")
            time.sleep(_POLL)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal. Returns when the process is gone (SIGKILL), or when all its threads have
        stopped (SIGSTOP).

        Raises StackError when the server is down.
        """
        identity = self.identity
        if identity is None or not process.send(identity, number):
            raise StackError(f"{self.name} is down: no process to signal.")
        if number == signal.SIGKILL:
            process.wait_gone(identity, timeout=10)
        elif number == signal.SIGSTOP and not process.wait_paused(identity, timeout=10):
            raise StackError(f"{self.name} did not stop within 10 s of SIGSTOP.")

    def stop(self) -> bool:
        """Stop the process and all its children. Returns whether it ended by itself in time."""
        known = self._known()
        gentle = True if known is None else process.stop(known, self.stop_grace)
        self.pid_file.unlink(missing_ok=True)
        return gentle

    def restart(self) -> None:
        self.stop()
        self.start()

    def health(self) -> Health:
        identity = self.identity
        if identity is None:
            return Health(State.DOWN)
        if process.is_paused(identity):
            return Health(State.PAUSED)
        try:
            return Health(State.UP, self.probe())
        except (NotReady, OSError) as problem:
            return Health(State.UNWELL, str(problem))

    def log_tail(self, lines: int = _TAIL_LINES) -> str:
        try:
            text = self.log.read_text(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def _known(self) -> Identity | None:
        """The process in the pid file; None if it works elsewhere, because the directory is a copy
        of a stack that runs."""
        known = process.load(self.pid_file)
        return known if known is not None and process.works_below(known, self.dir) else None

    def _end_orphans(self) -> None:
        """End the children of a server that died by itself: they must not keep its files or
        ports."""
        known = self._known()
        if known is not None:
            process.stop(known, grace=0)
        with contextlib.suppress(FileNotFoundError):
            self.pid_file.unlink()

    def _failure(self, what: str) -> StartFailed:
        return StartFailed(
            f"{self.name} {what}; see {self.log}, mend the cause, and run `pinway stack up` again.",
            self.log,
            self.log_tail(),
        )
