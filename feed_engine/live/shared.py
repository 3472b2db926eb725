"""Makes a value once for all streams of a process that need it at the same time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

FRESH = 0.5
"""Seconds for which a value is used. A later reader makes it again: what viewers may see may have
changed."""


class _Making:
    """A value that the first reader makes. The other readers wait."""

    __slots__ = ("began", "error", "is_made", "value", "waiting")

    def __init__(self, began: float) -> None:
        self.began, self.is_made = began, False
        self.value: Any = None
        self.error: Exception | None = None
        self.waiting: list[asyncio.Future[None]] = []

    def wake(self) -> None:
        for waiter in self.waiting:
            if not waiter.done():
                waiter.set_result(None)

    def result(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


class Shared:
    """The values of one message, by key."""

    __slots__ = ("_clock", "_made")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: dict[Hashable, _Making] = {}

    def has(self, key: Hashable) -> bool:
        """Whether a caller of `get` has begun to make the value. Then `get` only waits for it."""
        making = self._made.get(key)
        return making is not None and self._is_fresh(making)

    def _is_fresh(self, making: _Making) -> bool:
        return self._clock() - making.began <= FRESH

    async def get(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """The value that the first caller's `make` returns for this key. Raises what it raises. If
        the first caller is cancelled, the next one makes the value."""
        while True:
            making = self._made.get(key)
            if making is None or not self._is_fresh(making):
                making = self._made[key] = _Making(self._clock())
                await self._make(key, making, make)
            elif not making.is_made:
                waiter = asyncio.get_running_loop().create_future()
                making.waiting.append(waiter)
                await waiter
            if making.is_made:
                value: T = making.result()
                return value

    async def _make(self, key: Hashable, making: _Making, make: Callable[[], Awaitable[T]]) -> None:
        try:
            making.value = await make()
            making.is_made = True
        except Exception as error:
            making.error, making.is_made = error, True
        finally:
            if not making.is_made and self._made.get(key) is making:
                del self._made[key]
            making.wake()
