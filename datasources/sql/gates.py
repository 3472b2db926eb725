"""Limits how many transactions of this process wait for the lock of one row.

A transaction that waits for a row's lock occupies a connection. Without a limit, a row that
hundreds of transactions need at once (the head of a popular pin's likes) occupies all connections
to its server, and writers of other shards there have to wait. So each list and each object has a
gate that lets WIDTH transactions through at a time. A transaction that finds a gate full releases
its connection, queues at the gate without a connection, and runs again.

A transaction queues before it begins, in one order of the keys, and never in the middle. So
transactions that hold a gate, or a lock in the database, don't wait for a gate.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Set
from typing import Protocol

from datasources.errors import StoreConflict
from datasources.sql.engine import Contended

WIDTH = 2  # the transaction that has the lock, and the next one
MOST_KEYS = 64  # a transaction that locks more rows at once (a bulk load) uses no gates
WAIT_SECONDS = 5.0

Key = tuple[str, int, int]
"""A shard's database; the code of a mapping, or the negative code of a kind; and the id."""


class Crowded(Contended):
    """A gate is full: queue for these keys, then run the transaction again."""

    def __init__(self, keys: Set[Key]) -> None:
        super().__init__(f"many writers wait for {min(keys)}")
        self.keys = frozenset(keys)


class Gates:
    """The gates of one process. A gate that nobody holds takes no memory."""

    def __init__(self, width: int = WIDTH) -> None:
        self._width = width
        self._inside: Counter[Key] = Counter()
        self._queues: dict[Key, deque[asyncio.Future[None]]] = {}

    def enter(self, key: Key) -> bool:
        """Pass the gate if it isn't full. Returns whether it was passed."""
        if self._inside[key] >= self._width:
            return False
        self._inside[key] += 1
        return True

    async def wait(self, key: Key) -> None:
        """Pass the gate in turn: first come, first served."""
        if self.enter(key):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._queues.setdefault(key, deque())
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave(key)
            raise

    def leave(self, key: Key) -> None:
        """Let the next transaction through."""
        queue = self._queues.get(key)
        while queue:
            turn = queue.popleft()
            if not queue:
                del self._queues[key]
            if not turn.cancelled():
                turn.set_result(None)  # the next waiter takes the free place
                return
        self._inside[key] -= 1
        if not self._inside[key]:
            del self._inside[key]


class Entered(Protocol):
    """The gates that a transaction passes before it locks rows."""

    def enter(self, keys: Iterable[Key]) -> None:
        """Pass the gates of rows that will be locked. Raises Crowded."""


class Free:
    """Passes no gates: for transactions that must not wait."""

    def enter(self, keys: Iterable[Key]) -> None:
        return


class Turn:
    """The gates that one transaction has passed, until it leaves all of them."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self._held: set[Key] = set()

    async def wait(self, keys: Iterable[Key]) -> None:
        """Queue for the gates, without a connection. Raises StoreConflict when that takes too long;
        the gates that were passed must be left in that case, too."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                for key in sorted(keys):
                    await self._gates.wait(key)
                    self._held.add(key)
        except TimeoutError:
            raise StoreConflict(
                f"{key}: too many writers wait for it; gave up after {WAIT_SECONDS} s"
            ) from None

    def enter(self, keys: Iterable[Key]) -> None:
        asked = [key for key in keys if key not in self._held]
        if len(asked) > MOST_KEYS:
            return
        full = {key for key in asked if not self._pass(key)}
        if full:
            raise Crowded(full)

    def leave(self) -> None:
        while self._held:
            self._gates.leave(self._held.pop())

    def _pass(self, key: Key) -> bool:
        if passed := self._gates.enter(key):
            self._held.add(key)
        return passed
