"""Limits the total cost of the operations of one client that run at the same time.

Each running operation does a part of its work in each turn of the event loop. A hundred expensive
operations at the same time make each turn a hundred parts long, for all clients. So operations of
one client wait for each other, in order, and an operation that costs more than the limit runs
alone. After an expensive operation, its share of the limit stays taken for a while: other clients
have the loop to themselves in this time, even if one client spends all its saved tokens at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

REST = 9e-6
"""Seconds for each unit of cost: about three times as long as the unit takes to run. Several
operations of less than half the limit may run at a time, so each rests as long as an operation of
half the limit."""
DEAR = 500
"""Operations with a lower cost end at once."""


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


class Room:
    """The running operations, by client. `most` is the limit; 0: no limit."""

    def __init__(
        self, most: int, *, later: Callable[[float, Callable[[], None]], Any] = _later
    ) -> None:
        self.most, self._later = most, later
        self._taken: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}

    def enter(self, client: str, cost: int) -> bool:
        """Whether an operation may run now. If not, call `wait`."""
        taken = self._taken.get(client, 0)
        if client in self._waiting or not self._fits(taken, cost):
            return False
        self._taken[client] = taken + cost
        return True

    async def wait(self, client: str, cost: int) -> None:
        """Wait until the operation may run. If the caller is cancelled, it doesn't run."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append((cost, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled():
                self._let_in(client)
            else:
                self.leave(client, cost)
            raise

    def leave(self, client: str, cost: int) -> None:
        """End an operation."""
        if cost >= DEAR and self.most:
            self._later(max(cost, self.most // 2) * REST, lambda: self._free(client, cost))
        else:
            self._free(client, cost)

    def _free(self, client: str, cost: int) -> None:
        left = self._taken[client] - cost
        if left:
            self._taken[client] = left
        else:
            del self._taken[client]
        self._let_in(client)

    def _fits(self, taken: int, cost: int) -> bool:
        return not self.most or not taken or taken + cost <= self.most

    def _let_in(self, client: str) -> None:
        queue = self._waiting.get(client)
        if queue is None:
            return
        taken = self._taken.get(client, 0)
        while queue and (queue[0][1].done() or self._fits(taken, queue[0][0])):
            cost, future = queue.popleft()
            if not future.done():  # it was not cancelled
                taken += cost
                future.set_result(None)
        if taken:
            self._taken[client] = taken
        if not queue:
            del self._waiting[client]
