"""An ObjectCache in this process. Its size in bytes is bounded; the least recently used entries are
removed first.

No method gives way to another task before its end, so each is atomic.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from datasources.protocols import Lease
from datasources.topology import Topology

LEASE_SECONDS = 10.0
ENTRY_OVERHEAD = 200  # bytes that CPython needs for an entry in addition to its value


class _Granted(NamedTuple):
    token: str
    expires: float


class MemoryObjectCache:
    """An ObjectCache of at most `max_bytes`. `clock` gives seconds; leases expire by it."""

    def __init__(self, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes, self._clock = max_bytes, clock
        self._values: OrderedDict[int, bytes] = OrderedDict()
        self._bytes = 0
        self._leases: dict[int, _Granted] = {}  # oldest first: all leases have the same lifetime
        self._tokens = count(1)

    @property
    def local(self) -> "MemoryObjectCache":
        return self

    def held(self, ids: Sequence[int]) -> dict[int, bytes]:
        values, found = self._values, {}
        for id in ids:
            value = values.get(id)
            if value is not None:
                values.move_to_end(id)
                found[id] = value
        return found

    def use(self, topology: Topology) -> None:
        """This process needs no server."""

    async def get(self, ids: Sequence[int]) -> dict[int, bytes | Lease]:
        now = self._clock()
        self._expire_leases(now)
        found: dict[int, bytes | Lease] = {}
        for id in ids:
            value = self._values.get(id)
            if value is not None:
                self._values.move_to_end(id)
                found[id] = value
            elif id not in self._leases:
                token = str(next(self._tokens))
                self._leases[id] = _Granted(token, now + LEASE_SECONDS)
                found[id] = Lease(id, token)
        return found

    async def fill(self, values: Sequence[tuple[Lease, bytes]]) -> None:
        self._expire_leases(self._clock())
        for lease, value in values:
            id = lease.key
            assert isinstance(id, int)
            granted = self._leases.get(id)
            if granted is not None and granted.token == lease.token:
                del self._leases[id]
                self._put(id, value)

    async def drop(self, ids: Sequence[int]) -> None:
        for id in ids:
            self._leases.pop(id, None)
            value = self._values.pop(id, None)
            if value is not None:
                self._bytes -= len(value) + ENTRY_OVERHEAD

    async def ping(self) -> None:
        return None

    async def close(self) -> None:
        self._values.clear()
        self._leases.clear()
        self._bytes = 0

    def _put(self, id: int, value: bytes) -> None:
        size = len(value) + ENTRY_OVERHEAD
        if size > self._max_bytes:
            return
        self._values[id] = value
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, evicted = self._values.popitem(last=False)
            self._bytes -= len(evicted) + ENTRY_OVERHEAD

    def _expire_leases(self, now: float) -> None:
        while self._leases:
            id, granted = next(iter(self._leases.items()))
            if granted.expires > now:
                break
            del self._leases[id]
