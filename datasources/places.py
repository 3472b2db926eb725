"""The places of a connection pool: how many are taken, and how many callers wait."""

import asyncio
from typing import Literal, NamedTuple


class PoolState(NamedTuple):
    """The present state of a pool: its name, connections in use, their limit, and waiting
    callers."""

    name: str
    in_use: int
    most: int
    waiting: int


class Places(asyncio.Semaphore):
    """A semaphore that knows how many places are taken, and how many callers wait for a place."""

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
