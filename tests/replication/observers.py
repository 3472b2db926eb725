"""Observers of `pinway shards watch` in a test's process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from datasources.replication.observation import Rules
from gateway.operate.failover.observer import watch
from gateway.settings import read_settings
from tests.pairs import Pairs

EVERY = 0.5


class Watched:
    """Observers in this process, and their output."""

    def __init__(self, pairs: Pairs, rules: Rules, *, resumes: bool) -> None:
        self.told: list[str] = []
        self._pairs, self._rules, self._resumes = pairs, rules, resumes
        self._end = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def add(self) -> None:
        settings = read_settings(self._pairs.stack.settings_file)
        self._tasks.append(
            asyncio.create_task(
                watch(
                    settings,
                    self._rules,
                    EVERY,
                    self.told.append,
                    self._end,
                    resumes=self._resumes,
                )
            )
        )

    async def until(self, text: str, times: int = 1) -> None:
        async with asyncio.timeout(300):
            while sum(text in line for line in self.told) < times:
                for task in self._tasks:
                    assert not task.done(), task.exception()
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        self._end.set()
        await asyncio.gather(*self._tasks)


@asynccontextmanager
async def watched(
    pairs: Pairs, rules: Rules, observers: int, *, resumes: bool = False
) -> AsyncIterator[Watched]:
    made = Watched(pairs, rules, resumes=resumes)
    for _ in range(observers):
        made.add()
    try:
        yield made
    finally:
        await made.stop()
