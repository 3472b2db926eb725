"""The whole set of servers in one directory: started, stopped and watched together."""

import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.stack import class_archive, install, layout, ports, process
from deploy.stack.errors import StackError
from deploy.stack.files import write_if_changed
from deploy.stack.secrets import Secrets, load_or_make
from deploy.stack.service import Health, Service, State

Progress = Callable[[str], None]
_HEADER = "# Written by `pinway stack up`, which overwrites it when a port changes.\n"


@dataclass(frozen=True)
class Row:
    """One line of `status`: a server's port, process and health."""

    name: str
    port: int
    pid: int | None
    health: Health


class Stack:
    """The servers whose data is below `dir`. The first `up` fixes `shards` and `mod_shards`.

    `servers` is the number of MariaDB masters, each with a slave. It may grow: new masters have no
    shards yet (see `pinway shards add`).
    """

    def __init__(
        self, dir: Path, shards: int = 64, mod_shards: int = 16, servers: int | None = None
    ) -> None:
        self.dir = dir.absolute()
        self.shards = shards
        self.mod_shards = mod_shards
        self.servers = servers or layout.PAIRS
        self._asked = servers
        self._with_shards = self.servers
        self.settings_file = self.dir / "pinway.toml"
        self.topology_file = self.dir / "topology.json"
        self._state_file = self.dir / "stack.json"
        self._services: dict[str, Service] = {}
        if self.exists:
            self._load()

    @classmethod
    def open(cls, dir: Path) -> "Stack":
        """The stack that is in `dir`, with any number of shards. Raises StackError if there is
        none."""
        try:
            state = json.loads((dir / "stack.json").read_text())
            shards, mod_shards = int(state["shards"]), int(state["mod_shards"])
        except FileNotFoundError:
            raise StackError(f"no stack in {dir}: start one with `pinway stack up`.") from None
        except (ValueError, KeyError, TypeError) as problem:
            raise _damaged(dir / "stack.json", problem) from problem
        return cls(dir, shards, mod_shards)

    @property
    def exists(self) -> bool:
        """Whether `up` has created a stack here."""
        return self._state_file.exists()

    @property
    def services(self) -> dict[str, Service]:
        """Name → server. Raises StackError before the first `up`."""
        if not self._services:
            raise StackError(f"no stack in {self.dir}: start one with `pinway stack up`.")
        return self._services

    @property
    def settings(self) -> dict[str, str]:
        """The keys and values of `pinway.toml`."""
        return layout.settings(self.dir, self._ports(), self.secrets)

    @property
    def secrets(self) -> Secrets:
        """All passwords, including passwords that gateways don't need."""
        return load_or_make(self._secrets_file)

    def up(self, progress: Progress = lambda _: None, *, set_up_only: bool = False) -> None:
        """Install what is missing, then start what is down and wait until all servers are ready.

        With `set_up_only`, it only installs and writes files, and starts nothing. Raises
        StackError.
        """
        process.require_linux()
        with self._locked():
            install.ensure(progress)
            class_archive.ensure(progress)
            self._assign_ports()
            self._write_settings()
            if set_up_only:
                progress(f"set up in {self.dir}")
                return
            self._start_all(progress)

    def down(self, progress: Progress = lambda _: None) -> None:
        """Stop every server with its children; data stays. Does nothing when all are down."""
        process.require_linux()
        if not self.exists:
            return
        with self._locked():
            # Thrift servers first: without their cluster they would only wait.
            front = [s for s in self.services.values() if s.name.endswith("-thrift")]
            back = [s for s in self.services.values() if s not in front]
            for group in (front, back):
                with ThreadPoolExecutor(len(group)) as pool:
                    list(pool.map(lambda service: _stop(service, progress), group))

    def status(self) -> list[Row]:
        """The state of each server, all asked at once. Raises StackError before the first `up`."""
        process.require_linux()
        services = list(self.services.values())
        with ThreadPoolExecutor(len(services)) as pool:
            healths = list(pool.map(lambda service: service.health(), services))
        return [
            Row(service.name, service.port, service.pid, health)
            for service, health in zip(services, healths, strict=True)
        ]

    @property
    def _secrets_file(self) -> Path:
        return self.dir / "secrets.json"

    def _ports(self) -> dict[str, int]:
        return {
            f"{service.name}/{use}": port
            for service in self.services.values()
            for use, port in service.ports.items()
        }

    def _load(self) -> None:
        try:
            state = json.loads(self._state_file.read_text())
            known = {str(name): int(port) for name, port in state["ports"].items()}
            made_for = int(state["shards"]), int(state["mod_shards"])
            built, self._with_shards = _servers(state)
            services = layout.build(self.dir, known, load_or_make(self._secrets_file), built)
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise _damaged(self._state_file, problem) from problem
        if made_for != (self.shards, self.mod_shards):
            raise StackError(
                f"the stack in {self.dir} was made for {made_for[0]} shards and {made_for[1]} mod "
                f"shards, not {self.shards} and {self.mod_shards}: choose another directory."
            )
        if self._asked is not None and self._asked < built:
            raise StackError(
                f"the stack in {self.dir} has {built} masters, not {self._asked}: they may have "
                f"shards; ask for {built} or more."
            )
        self.servers = self._asked or built
        self._services = services

    def _assign_ports(self) -> None:
        if self.exists:
            self._load()
        running = {s.name for s in self._services.values() if s.identity is not None}
        kept = self._ports() if self._services else {}
        in_use = {name: port for name, port in kept.items() if name.split("/")[0] in running}
        chosen = ports.pick(layout.port_names(self.servers), kept, in_use)
        state = {
            "shards": self.shards,
            "mod_shards": self.mod_shards,
            "servers": [self.servers, self._with_shards],
            "ports": chosen,
        }
        write_if_changed(self._state_file, json.dumps(state, indent=2) + "\n")
        secrets = load_or_make(self._secrets_file)
        self._services = layout.build(self.dir, chosen, secrets, self.servers)

    def _write_settings(self) -> None:
        write_if_changed(self.settings_file, _HEADER + layout.to_toml(self.settings), secret=True)
        epoch = 0
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
            epoch = int(json.loads(self.topology_file.read_text())["epoch"])
        # If it differs, a gateway with an older topology must see that this one is newer.
        same = layout.topology(
            self._ports(),
            self.shards,
            self.mod_shards,
            epoch,
            count=self.servers,
            over=self._with_shards,
        )
        with contextlib.suppress(FileNotFoundError, ValueError):
            if json.loads(self.topology_file.read_text()) == same:
                return
        text = json.dumps({**same, "epoch": epoch + 1}, indent=2) + "\n"
        write_if_changed(self.topology_file, text)

    def _start_all(self, progress: Progress) -> None:
        services = list(self.services.values())
        abandoned = threading.Event()
        done = 0
        # Each server has a thread, which mostly waits.
        with ThreadPoolExecutor(len(services)) as pool:
            tasks = {pool.submit(_start, service, abandoned): service for service in services}
            try:
                for task in as_completed(tasks):
                    word = task.result()
                    done += 1
                    progress(f"[{done:2}/{len(services)}] {tasks[task].name} {word}")
            # Also on Ctrl-C: started servers stay, and nobody waits for them.
            except BaseException:
                abandoned.set()
                raise

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Allow only one `up` or `down` at a time in this directory."""
        try:
            self.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise StackError(f"cannot write to {self.dir} ({problem.strerror}).") from problem
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _servers(state: dict[str, Any]) -> tuple[int, int]:
    """The pairs of MariaDB servers, and the number of pairs that got shards at first."""
    built, with_shards = state.get("servers", (layout.PAIRS, layout.PAIRS))
    return int(built), int(with_shards)


def _damaged(file: Path, problem: Exception) -> StackError:
    return StackError(
        f"{file} is damaged ({problem!r}): end its servers, then delete {file.parent}."
    )


def _start(service: Service, abandoned: threading.Event) -> str:
    began = time.monotonic()
    running = service.identity is not None
    if running and service.configure():
        service.stop()  # The next start must not reuse ports that other processes have taken since.
        running = False
    if running and service.health().state is State.UP:
        return "already runs"
    service.start()
    service.wait_ready(abandoned=abandoned)
    return f"ready after {time.monotonic() - began:.1f} s, port {service.port}"


def _stop(service: Service, progress: Progress) -> None:
    if service.pid is None:
        service.stop()
        return
    ended = service.stop()
    progress(f"{service.name} stopped" if ended else f"{service.name} would not end: killed")
