"""Bounds how often something is done."""

import asyncio
import time
from collections.abc import Awaitable, Callable


class Pace:
    """Turns that begin at least some seconds after each other."""

    __slots__ = ("_clock", "_next", "_seconds", "_sleep")

    def __init__(
        self,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._seconds, self._clock, self._sleep = seconds, clock, sleep
        self._next = clock()

    async def turn(self) -> None:
        """Wait until the next turn may begin, and begin it."""
        while (left := self._next - self._clock()) > 0:
            await self._sleep(left)
        self._next = self._clock() + self._seconds
