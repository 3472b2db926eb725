"""A memcached or a Valkey for one test, which may be stopped, killed, and started again empty."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from tests.pinway_process import free_port
from tests.stopped_process import stop_process


class CacheServer:
    """A server that `run` starts at a port, and ends. It runs inside the block."""

    def __init__(self, run: Callable[[int], AbstractContextManager[int]]) -> None:
        self._run, self._running = run, ExitStack()
        self.port, self._pid = free_port(), 0
        self.turn = asyncio.Lock()
        """Held during a fault of the server."""

    def __enter__(self) -> "CacheServer":
        self._pid = self._running.enter_context(self._run(self.port))
        return self

    def __exit__(self, *raised: object) -> None:
        self._running.close()

    def stop(self) -> None:
        stop_process(self._pid)

    def go_on(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def kill(self) -> None:
        self.__exit__()

    def start(self) -> None:
        self.__enter__()
