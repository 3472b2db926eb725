"""Makes a value once for all streams of a process that need it at the same time."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

FRESH = 0.5
"""Seconds for which a value is used. A later reader makes it again: what viewers may see may have
changed."""


class _Making:
    """A value that is being made, or was made. Many readers wait for it: `asyncio.shield` would
    take several times as long for each."""

    __slots__ = ("began", "task", "waiting")

    def __init__(self, began: float, task: asyncio.Task[Any]) -> None:
        self.began, self.task = began, task
        self.waiting: list[asyncio.Future[None]] = []
        task.add_done_callback(self._wake)

    def _wake(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            task.exception()  # all readers may have gone
        for waiter in self.waiting:
            if not waiter.done():
                waiter.set_result(None)


class Shared:
    """The values of one message, by key."""

    __slots__ = ("_clock", "_made")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: dict[Hashable, _Making] = {}

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The value that `make` returns to the first caller with this key. Raises what it raises.
        A caller that is cancelled does not cancel it for others."""
        making = self._made.get(key)
        if making is None or self._clock() - making.began > FRESH:
            making = self._made[key] = _Making(self._clock(), asyncio.create_task(make()))
        if not making.task.done():
            waiter = asyncio.get_running_loop().create_future()
            making.waiting.append(waiter)
            await waiter
        value: T = making.task.result()
        return value
