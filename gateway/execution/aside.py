"""Work that takes long and must not hold up the event loop, done by one thread, shortest first.

A new document of the largest size takes a tenth of a second to parse, validate and compile, in pure
Python. Beside the loop that costs requests in flight a few milliseconds, as the interpreter changes
threads; on the loop it would cost each of them all of it.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, TypeVar

from graphql import GraphQLError

T = TypeVar("T")
TURN = 0.0001
"""Seconds that the thread has the interpreter for, where the loop asks for it. uvloop asks anew for
each socket that can be read, so that a turn of the loop takes many of them."""
REST = 2.0
"""The thread rests after a piece of work, as a multiple of the time that the piece took: other
requests have the interpreter to themselves meanwhile."""
WAITING = 256
"""Pieces of work that may wait; the longest makes room for one more."""


class Overloaded(Exception):
    """Too much other work waits."""

    @staticmethod
    def error() -> GraphQLError:
        """The error that the client is told."""
        message = "Too many new documents arrive at once. Send it again."
        return GraphQLError(message, extensions={"code": "UNAVAILABLE"})


class _Piece:
    """Work to be done, ordered by its length and then by its age."""

    __slots__ = ("future", "loop", "order", "work")

    def __init__(
        self,
        order: tuple[int, int],
        work: Callable[[], Any],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.order, self.work, self.loop = order, work, loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def __lt__(self, other: _Piece) -> bool:
        return self.order < other.order

    def settle(self, result: Any, error: BaseException | None) -> None:
        """Tell who waits. In any thread."""
        with suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


@contextmanager
def _collected_after() -> Iterator[None]:
    """Have no pass of the collector meanwhile, and one over what is new then. Validation leaves
    megabytes in cycles: a pass in between would take them for long-lived objects (`collector`)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
            gc.collect(0)


class Aside:
    """A thread that lives while there is work, and rests after each piece before the next one."""

    def __init__(
        self,
        waiting: int = WAITING,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        self._most, self._numbers = waiting, count()
        self._clock, self._sleep = clock, sleep
        self._rests_until = 0.0
        self._lock = Lock()
        self._waiting: list[_Piece] = []
        self._running = False
        self._interval = 0.0
        """The interpreter's own, while the thread works."""

    async def do(self, length: int, work: Callable[[], T]) -> T:
        """The result of `work`, or its error. `length` says about how long the work takes, in any
        unit. Raises Overloaded. Work that is cancelled before it began is never done."""
        piece = _Piece((length, next(self._numbers)), work, asyncio.get_running_loop())
        with self._lock:
            insort(self._waiting, piece)
            dropped = self._waiting.pop() if len(self._waiting) > self._most else None
            begins, self._running = not self._running, True
            if begins:  # the loop waits this long for its turn whenever it looked for events
                self._interval = sys.getswitchinterval()
                sys.setswitchinterval(min(self._interval, TURN))
        if dropped is not None:
            dropped.settle(None, Overloaded())
        if begins:
            Thread(target=self._work, name="aside", daemon=True).start()
        result: T = await piece.future
        return result

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    sys.setswitchinterval(self._interval)
                    self._running = False
                    return
            rest = self._rests_until - self._clock()
            if rest > 0:
                self._sleep(rest)
            with self._lock:
                piece = self._waiting.pop(0)
            if piece.future.done():
                continue
            result: Any = None
            error: BaseException | None = None
            began = self._clock()
            try:
                with _collected_after():
                    result = piece.work()
            except BaseException as raised:
                error = raised
            ended = self._clock()
            self._rests_until = ended + REST * (ended - began)
            piece.settle(result, error)
            del piece, result, error
