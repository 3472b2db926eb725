"""Limits the total cost of the operations of one client that run at the same time.

Each running operation does a part of its work in each turn of the event loop. A hundred expensive
operations at the same time make each turn a hundred parts long, for all clients. So operations of
one client wait for each other, in order, and an operation that costs more than the limit runs
alone. After an expensive operation, its share of the limit stays taken for a while: other clients
have the loop to themselves in this time, even if one client spends all its saved tokens at once.

The operations of an address and of its networks wait for each other, too, at a higher limit: one
address may have many viewers, and one network many addresses.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from gateway.http.peers import Unit

REST = 9e-6
"""Seconds for each unit of cost: about three times as long as the unit takes to run. Several
operations of less than half the limit may run at a time, so each rests as long as an operation of
half the limit."""
DEAR = 500
"""Operations with a lower cost end at once."""


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


class Room:
    """The running operations, by client. `most` is the limit for a client; 0: no limit.

    An operation is in one or several units (`gateway.http.peers.Unit`): its client, then larger
    ones. A larger unit has several times the limit. There, an operation counts as `most` at most,
    because a more expensive one runs alone for its client: several clients may run one each.
    """

    def __init__(
        self, most: int, *, later: Callable[[float, Callable[[], None]], Any] = _later
    ) -> None:
        self.most, self._later = most, later
        self._taken: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[Unit, int, asyncio.Future[None]]]] = {}

    def enter(self, units: Sequence[Unit], cost: int) -> bool:
        """Whether an operation may run now. If not, call `wait`."""
        if not self.most:
            return True
        for unit in units:
            if unit.name in self._waiting or not self._fits(unit, self._counted(unit, cost)):
                return False
        for unit in units:
            self._take(unit, self._counted(unit, cost))
        return True

    async def wait(self, units: Sequence[Unit], cost: int) -> None:
        """Wait until the operation may run: in the line of its client first, then in the lines of
        larger units. If the caller is cancelled, it doesn't run."""
        entered: list[Unit] = []
        try:
            for unit in units:
                await self._enter_one(unit, self._counted(unit, cost))
                entered.append(unit)
        except asyncio.CancelledError:
            for unit in entered:
                self._free(unit, self._counted(unit, cost))
            raise

    def leave(self, units: Sequence[Unit], cost: int) -> None:
        """End an operation."""
        if not self.most:
            return
        if cost >= DEAR:
            self._later(max(cost, self.most // 2) * REST, lambda: self._leave(units, cost))
        else:
            self._leave(units, cost)

    def _leave(self, units: Sequence[Unit], cost: int) -> None:
        for unit in units:
            self._free(unit, self._counted(unit, cost))

    def _counted(self, unit: Unit, cost: int) -> int:
        return cost if unit.times == 1 else min(cost, self.most)

    async def _enter_one(self, unit: Unit, cost: int) -> None:
        if unit.name not in self._waiting and self._fits(unit, cost):
            self._take(unit, cost)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(unit.name, deque()).append((unit, cost, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled():
                self._let_in(unit.name)
            else:
                self._free(unit, cost)
            raise

    def _take(self, unit: Unit, cost: int) -> None:
        self._taken[unit.name] = self._taken.get(unit.name, 0) + cost

    def _free(self, unit: Unit, cost: int) -> None:
        left = self._taken.pop(unit.name, 0) - cost
        if left > 0:
            self._taken[unit.name] = left
        self._let_in(unit.name)

    def _fits(self, unit: Unit, cost: int) -> bool:
        taken = self._taken.get(unit.name, 0)
        return not taken or taken + cost <= self.most * unit.times

    def _let_in(self, name: str) -> None:
        queue = self._waiting.get(name)
        if queue is None:
            return
        while queue and (queue[0][2].done() or self._fits(*queue[0][:2])):
            unit, cost, future = queue.popleft()
            if not future.done():  # it was not cancelled
                self._take(unit, cost)
                future.set_result(None)
        if not queue:
            del self._waiting[name]
