"""Several worker processes on one port: starts them, restarts dead workers, and stops them all.

The workers share the listening socket, so when a worker dies, another worker takes the connections
that are waiting. Each worker gets its settings on its standard input, and reports on its standard
output when it answers. A worker whose input ends has lost its supervisor, and stops.

uvicorn's own supervisor is not enough. It starts all workers at once, so each of them reports a
wrong setting. It doesn't know when a worker is ready. And it restarts a worker that always dies at
once without a growing delay.
"""

import asyncio
import logging
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from datasources.errors import ConfigError
from datasources.socket_folder import SocketFolder
from gateway.documents.trusted import TrustedDocuments
from gateway.http.persisted import manifests
from gateway.server.reloading import reloading
from gateway.settings import Settings

log = logging.getLogger("pinway.workers")

READY = b"ready\n"
STOP_SECONDS = 20.0  # requests get five seconds, then stores are closed
STEADY_SECONDS = 10.0  # seconds; a worker that lived this long is restarted at once
LONGEST_DELAY = 10.0


class WorkerFailed(Exception):
    """A worker ended before it was ready, after it reported the reason itself."""


async def supervise(
    settings: Settings,
    listener: socket.socket,
    operators: socket.socket | None = None,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Keep `http.workers` workers running until cancelled. All of them answer operators, too,
    if there is a listener for operators. Raises WorkerFailed when the first worker can't be
    started."""
    with SocketFolder() as folder:
        start = _Start(settings, listener, operators, folder)
        async with _passing_hang_ups(start) if settings.http.trusted_documents else nullcontext():
            await _supervise(start, sleep)


@dataclass(frozen=True, slots=True)
class _Start:
    """The arguments with which every worker is started. Workers find each other in `folder` (see
    siblings.py)."""

    settings: Settings
    listener: socket.socket
    operators: socket.socket | None
    folder: Path
    hang_ups: "_HangUps" = field(default_factory=lambda: _HangUps())


class _HangUps:
    """Passes SIGHUP to the workers that are ready: a worker that starts has no handler yet, and
    would end. A worker that becomes ready later gets the signal then, because it may have read
    the manifests before they changed."""

    def __init__(self) -> None:
        self._ready: set[Process] = set()
        self._count = 0

    @property
    def count(self) -> int:
        """The number of signals so far."""
        return self._count

    def ready(self, process: Process, before: int) -> None:
        """The worker is ready; there had been `before` signals when it was started."""
        self._ready.add(process)
        if self._count > before:
            _hang_up(process)

    def ended(self, process: Process) -> None:
        self._ready.discard(process)

    def send(self) -> None:
        self._count += 1
        for process in self._ready:
            _hang_up(process)


def _hang_up(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGHUP)


@asynccontextmanager
async def _passing_hang_ups(start: _Start) -> AsyncIterator[None]:
    """Pass SIGHUP to the workers if the trusted documents can be read. The first worker reports at
    the start that they can't."""
    try:
        trusted = TrustedDocuments(manifests(start.settings))
    except ConfigError:
        yield
        return
    async with reloading(trusted, start.hang_ups.send):
        yield


async def _supervise(start: _Start, sleep: Callable[[float], Awaitable[None]]) -> None:
    ready = asyncio.Event()
    first = asyncio.create_task(_keep(1, start, ready.set, sleep))
    tasks = [first]
    try:
        # The first worker tries the settings and the stores alone, so that an error is reported
        # once.
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({first, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if ready.is_set():
            tasks += [
                asyncio.create_task(_keep(number, start, lambda: None, sleep))
                for number in range(2, start.settings.http.workers + 1)
            ]
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            # a second cancellation would interrupt its wait for the worker
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _keep(
    number: int,
    start: _Start,
    on_ready: Callable[[], None],
    sleep: Callable[[float], Awaitable[None]],
) -> None:
    """Run one worker, and restart it whenever it ends; after growing delays if it ends early
    repeatedly."""
    loop = asyncio.get_running_loop()
    was_ready, early = False, 0
    while True:
        started, hang_ups = loop.time(), start.hang_ups.count
        process = await _start(number, start)
        try:
            log.info("worker %d is process %d", number, process.pid)
            assert process.stdout is not None
            async for line in process.stdout:
                if line == READY:
                    log.info("worker %d (process %d) is ready", number, process.pid)
                    was_ready = True
                    start.hang_ups.ready(process, hang_ups)
                    on_ready()
            status = await process.wait()
        finally:
            start.hang_ups.ended(process)
            await _stop(process)
        if number == 1 and not was_ready:
            raise WorkerFailed
        early = 0 if loop.time() - started > STEADY_SECONDS else early + 1
        delay = min(0.5 * 2 ** (early - 1), LONGEST_DELAY) if early > 1 else 0.0
        log.log(
            logging.ERROR if status else logging.INFO,  # 0: somebody stopped it to restart it
            "worker %d (process %d) ended with status %d; it starts again in %.1f s",
            *(number, process.pid, status, delay),
        )
        await sleep(delay)


async def _start(number: int, start: _Start) -> Process:
    listeners = [start.listener, *([start.operators] if start.operators else [])]
    descriptors = [listener.fileno() for listener in listeners]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pinway.worker", str(number), str(start.folder)),
        *map(str, descriptors),
        stdin=PIPE,
        stdout=PIPE,
        pass_fds=descriptors,
        process_group=0,  # Ctrl-C in a terminal reaches the supervisor only
    )
    assert process.stdin is not None
    process.stdin.write(start.settings.model_dump_json().encode() + b"\n")
    return process


async def _stop(process: Process) -> None:
    """End a worker, by force if it takes too long."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        log.error("process %d does not stop: it is killed", process.pid)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
