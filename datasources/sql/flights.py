"""Single flight: equal reads of shards that wait at the same time share one statement.

Without it, a thousand requests for a popular pin send a thousand equal statements while its cache
is away. The plain way, to join a read that is running, would break linearizability: the running
read may have seen the shard before a write that was acknowledged before the later read began. So a
read joins only a read that has not begun.

    first read of a key    begins at once
    reads during it        wait together for one further read, which begins when the first ends, or
                           after LONGEST_WAIT: a server that hangs must not double their time

So each answer is of a moment after its read began, as without sharing. A reader that holds a
cache's lease took it before its read began, so it may fill the entry with a shared answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context, copy_context
from typing import Any, Generic, TypeVar

from datasources.staleness import Collecting, Stale, mark

T = TypeVar("T")
LONGEST_WAIT = 0.05
"""Seconds that a read waits at most for the end of an equal read before it begins."""


class _Flight(Generic[T]):
    """A read that waits to begin, or has begun, for all of its waiters. `context`: the context
    variables of the first waiter."""

    def __init__(self, call: Callable[[], Awaitable[T]]) -> None:
        self.call, self.context = call, copy_context()
        self.task: asyncio.Task[None] | None = None
        self.waiters = 0
        self._landed: asyncio.Future[tuple[T, Stale]] = asyncio.get_running_loop().create_future()

    async def answer(self) -> T:
        """The answer, which all waiters share. It marks the shards that were read from slaves for
        each waiter. When the last waiter is cancelled, so is the read."""
        self.waiters += 1
        try:
            answer, stale = await asyncio.shield(self._landed)
        finally:
            self.waiters -= 1
            if not self.waiters and self.task is not None:
                self.task.cancel()
        for shard, since in stale.items():
            mark({shard}, since)
        return answer

    async def fly(self) -> None:
        try:
            with Collecting() as stale:
                answer = await self.call()
        except Exception as error:
            self._landed.set_exception(error)
        except BaseException:
            self._landed.cancel()
            raise
        else:
            self._landed.set_result((answer, stale))


class _Turn:
    """The time in which a read of a key runs. `following`: the next read, for which all equal reads
    that come meanwhile wait."""

    def __init__(self) -> None:
        self.following: _Flight[Any] | None = None
        self.limit: asyncio.TimerHandle | None = None


class Flights:
    """The reads of one store that run or wait."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def read(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        """The answer of `call`, or of another call with an equal key that begins after this
        method was called. The caller must not change the answer. Raises the errors of `call`."""
        turn = self._turns.get(key)
        if turn is None:
            turn = self._turns[key] = _Turn()
            try:
                return await call()
            finally:
                self._end(key, turn)
        flight: _Flight[T] | None = turn.following
        if flight is None:
            flight = turn.following = _Flight(call)
            loop = asyncio.get_running_loop()
            turn.limit = loop.call_later(LONGEST_WAIT, self._end, key, turn, context=Context())
        return await flight.answer()

    def _end(self, key: Hashable, turn: _Turn) -> None:
        """End a turn, because its read has ended or has taken too long. The next turn begins if a
        read waits."""
        if self._turns.get(key) is not turn:
            return
        del self._turns[key]
        if turn.limit is not None:
            turn.limit.cancel()
        flight = turn.following
        if flight is not None and flight.waiters:
            following = self._turns[key] = _Turn()
            flight.task = asyncio.get_running_loop().create_task(
                flight.fly(), name="a shared read of shards", context=flight.context
            )
            flight.task.add_done_callback(lambda _: self._end(key, following))
