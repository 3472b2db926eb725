"""How much the operations of one client may cost together that run at the same time.

Each operation that runs does a piece of its work in each turn of the event loop. A hundred dear
operations at the same time make each turn a hundred pieces long, for everybody. So operations of
one client wait for one another, in their order; an operation dearer than the bound runs alone. The
room of a dear operation stays taken for a while after it: other clients have the loop to themselves
meanwhile, even while one client spends all its saved tokens at once.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

REST = 9e-6
"""Seconds for each unit of cost: about three times as long as the unit takes to run. Several
operations of less than half of the bound may run at a time, so each rests as long as an operation
of half of the bound."""
DEAR = 500
"""Cheaper operations leave at once."""


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


class Room:
    """The operations that run, by client. `most` is the bound; 0: none."""

    def __init__(
        self, most: int, *, later: Callable[[float, Callable[[], None]], Any] = _later
    ) -> None:
        self.most, self._later = most, later
        self._taken: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}

    def enter(self, client: str, cost: int) -> bool:
        """Whether an operation may run now; else `wait` tells when."""
        taken = self._taken.get(client, 0)
        if client in self._waiting or not self._fits(taken, cost):
            return False
        self._taken[client] = taken + cost
        return True

    async def wait(self, client: str, cost: int) -> None:
        """Wait until the operation may run. Cancelled, it doesn't run."""
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
        """The operation ended."""
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
            if not future.done():  # not cancelled
                taken += cost
                future.set_result(None)
        if taken:
            self._taken[client] = taken
        if not queue:
            del self._waiting[client]
