"""Runs long work in one thread beside the event loop, the shortest piece first.

Parsing, validating and compiling a new document of the largest size takes 100 ms of pure Python. On
the event loop, it would delay each concurrent request by 100 ms. In a thread, it shares the
interpreter with the loop, in equal parts while both have work: concurrent requests take twice as
long. So the work pauses (`Aside.pause`) when it had to wait for the interpreter.
"""

from __future__ import annotations

import asyncio
import sys
from bisect import insort
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Lock, Thread
from time import monotonic, sleep, thread_time
from typing import Any, TypeVar

from graphql import GraphQLError

from gateway.execution.collector import no_passes

T = TypeVar("T")
TURN = 0.0001
"""The interpreter's switch interval while the thread works, in seconds. The loop waits up to this
long whenever it needs the interpreter back. uvloop needs it once for each readable socket, so that
one turn of the loop may wait many times."""
REST = 2.0
"""The thread rests after its work, for this multiple of the time that the work took. With 2.0, 50
ms of work are followed by a rest of 100 ms, in which requests run undisturbed."""
SLICE = 0.001
"""Seconds of work after which the thread may rest before its piece is done."""
ALONE = 0.8
"""The part of a slice in which the thread runs, at least, while the loop has nothing to do."""
WAITING = 256
"""The maximum number of waiting pieces. If there are more, the longest piece is dropped."""


class Overloaded(Exception):
    """A piece of work was dropped, because too much work waits."""

    @staticmethod
    def error() -> GraphQLError:
        """Returns the error for the client."""
        message = "Too many new documents arrive at once. Send it again."
        return GraphQLError(message, extensions={"code": "UNAVAILABLE"})


class _Piece:
    """One piece of waiting work. Pieces are ordered by length, then by age."""

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
        """Settle the future of the piece. May be called in any thread."""
        with suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class Aside:
    """The thread for long work. The thread is started with the first piece of work, rests after
    each piece, and ends when no work is left."""

    def __init__(
        self,
        waiting: int = WAITING,
        *,
        clock: Callable[[], float] = monotonic,
        ran: Callable[[], float] = thread_time,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        """`ran` is the processor time of the calling thread in seconds."""
        self._most, self._numbers = waiting, count()
        self._clock, self._ran, self._sleep = clock, ran, sleep
        self._since = self._ran_since = 0.0
        """When the current slice began, by both clocks."""
        self._unrested = 0.0
        """Seconds of work in earlier slices, after which the thread has not rested."""
        self._rests_until = 0.0
        self._lock = Lock()
        self._waiting: list[_Piece] = []
        self._running = False
        self._interval = 0.0
        """The interpreter's own switch interval, to be restored when the thread ends."""

    async def do(self, length: int, work: Callable[[], T]) -> T:
        """Run `work` in the thread. Returns its result, or raises its error. `length` is the
        expected duration of the work, in any unit. Raises Overloaded if the work was dropped. Work
        whose caller is cancelled before it began is skipped."""
        piece = _Piece((length, next(self._numbers)), work, asyncio.get_running_loop())
        with self._lock:
            insort(self._waiting, piece)
            dropped = self._waiting.pop() if len(self._waiting) > self._most else None
            begins, self._running = not self._running, True
            if begins:  # the loop waits up to this long whenever it has polled for events
                self._interval = sys.getswitchinterval()
                sys.setswitchinterval(min(self._interval, TURN))
        if dropped is not None:
            dropped.settle(None, Overloaded())
        if begins:
            Thread(target=self._work, name="aside", daemon=True).start()
        result: T = await piece.future
        return result

    def pause(self) -> None:
        """Rest, if the slice is over and the loop had work in it. The work calls this in its
        thread, as often as it can."""
        now = self._clock()
        took = now - self._since
        if took < SLICE:
            return
        self._unrested += took
        if self._ran() - self._ran_since < ALONE * took:
            self._sleep(REST * self._unrested)
            self._unrested = 0.0
        self._begin_slice()

    def _begin_slice(self) -> None:
        self._since, self._ran_since = self._clock(), self._ran()

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
            self._begin_slice()
            try:
                with no_passes(collect=True):  # compiling may leave cycles
                    result = piece.work()
            except BaseException as raised:
                error = raised
            ended = self._clock()
            self._rests_until = ended + REST * (self._unrested + ended - self._since)
            self._unrested = 0.0
            piece.settle(result, error)
            del piece, result, error
