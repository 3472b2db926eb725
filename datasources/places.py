"""The places of a pool of connections, and how many of them are taken."""

import asyncio
from typing import Literal, NamedTuple


class PoolState(NamedTuple):
    """A pool as it is now: its name, connections in use and at most, and callers that wait."""

    name: str
    in_use: int
    most: int
    waiting: int


class Places(asyncio.Semaphore):
    """A semaphore that tells how many places are taken, and how many callers wait for one."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most
        self.in_use = self.waiting = 0

    async def acquire(self) -> Literal[True]:
        self.waiting += 1
        try:
            await super().acquire()
        finally:
            self.waiting -= 1
        self.in_use += 1
        return True

    def release(self) -> None:
        self.in_use -= 1
        super().release()

    def state(self, name: str) -> PoolState:
        return PoolState(name, self.in_use, self.most, self.waiting)
