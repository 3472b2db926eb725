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
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from datasources.socket_folder import SocketFolder
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
    """Keep `settings.workers` workers running until cancelled. All of them answer operators, too,
    if there is a listener for operators. Raises WorkerFailed when the first worker can't be
    started."""
    with SocketFolder() as folder:
        await _supervise(_Start(settings, listener, operators, folder), sleep)


@dataclass(frozen=True, slots=True)
class _Start:
    """The arguments with which every worker is started. Workers find each other in `folder` (see
    siblings.py)."""

    settings: Settings
    listener: socket.socket
    operators: socket.socket | None
    folder: Path


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
        started = loop.time()
        process = await _start(number, start)
        try:
            log.info("worker %d is process %d", number, process.pid)
            assert process.stdout is not None
            async for line in process.stdout:
                if line == READY:
                    log.info("worker %d (process %d) is ready", number, process.pid)
                    was_ready = True
                    on_ready()
            status = await process.wait()
        finally:
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
