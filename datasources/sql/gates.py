"""Bounds how many transactions of this process wait for one row's lock.

A transaction that waits for a row's lock holds a connection. Without a bound, a row that hundreds
want at once (the head of a popular pin's likes) takes every connection to its server, and writers
of other shards there wait behind it. So each list and each object has a gate that lets WIDTH
transactions through at a time. A transaction that finds a gate full gives its connection back,
queues at the gate without a connection, and runs again.

A transaction queues before it begins, in one order of the keys, and never in the middle: so
transactions that hold a gate, or a lock in the database, don't wait for a gate.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Set
from typing import Protocol

from datasources.errors import StoreConflict
from datasources.sql.engine import Contended

WIDTH = 2  # the transaction that has the lock, and the next one
MOST_KEYS = 64  # a transaction that locks more rows at once (a bulk load) passes no gates
WAIT_SECONDS = 5.0

Key = tuple[str, int, int]
"""A shard's database; the code of a mapping, or the negative code of a kind; and the id."""


class Crowded(Contended):
    """A gate is full: run the transaction again when it has queued for these keys."""

    def __init__(self, keys: Set[Key]) -> None:
        super().__init__(f"many writers wait for {min(keys)}")
        self.keys = frozenset(keys)


class Gates:
    """The gates of one process; a gate that nobody holds costs nothing."""

    def __init__(self, width: int = WIDTH) -> None:
        self._width = width
        self._inside: Counter[Key] = Counter()
        self._queues: dict[Key, deque[asyncio.Future[None]]] = {}

    def enter(self, key: Key) -> bool:
        """Pass the gate if it isn't full; whether it was passed."""
        if self._inside[key] >= self._width:
            return False
        self._inside[key] += 1
        return True

    async def wait(self, key: Key) -> None:
        """Pass the gate when it is the caller's turn: first come, first served."""
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
    """The gates that a transaction enters before it locks rows."""

    def enter(self, keys: Iterable[Key]) -> None:
        """Pass the gates of rows that are about to be locked. Raises Crowded."""


class Free:
    """Passes no gates: for transactions that nothing may keep waiting."""

    def enter(self, keys: Iterable[Key]) -> None:
        return


class Turn:
    """The gates that one transaction has passed, until it leaves them all."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self._held: set[Key] = set()

    async def wait(self, keys: Iterable[Key]) -> None:
        """Queue for the gates, without a connection. Raises StoreConflict when it takes too long;
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
