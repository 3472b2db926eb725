"""Stores whose calls end a process, or wait for others: the seams between the steps of a write."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from types import SimpleNamespace
from typing import Any

from datasources.protocols import Stores


class Killed(BaseException):
    """The end of a process."""


class Seam:
    """Stores that call a function before or after the n-th call of a kind."""

    def __init__(self, name: str, number: int, do: Callable[[], Awaitable[None]]) -> None:
        self._name, self.left, self._do = name, number, do

    def of(self, stores: Stores, *, after: bool = False) -> Stores:
        shards = stores.shards

        def around(call: Any) -> Any:
            async def called(*args: Any, **kwargs: Any) -> Any:
                self.left -= 1
                if not after and self.left == 0:
                    await self._do()
                result = await call(*args, **kwargs)
                if after and self.left == 0:
                    await self._do()
                return result

            return called

        def seamed(store: Any) -> Any:
            if not hasattr(store, self._name):
                return store
            found = {name: getattr(store, name) for name in dir(store) if name[0] != "_"}
            return SimpleNamespace(**found | {self._name: around(found[self._name])})

        gated: Any = SimpleNamespace(
            objects=seamed(shards.objects),
            mod=seamed(shards.mod),
            mappings=shards.mappings,
            outbox=shards.outbox,
        )
        return stores._replace(shards=gated)


class Steps:
    """Lets the calls of stores pass one at a time, in a random order, and kills some callers after
    their call."""

    def __init__(self, random: Random, kills: float) -> None:
        self._random, self._kills = random, kills
        self._waiting: list[asyncio.Future[None]] = []
        self._passed = asyncio.Event()

    def of(self, stores: Stores) -> Stores:
        shards = stores.shards
        gated: Any = SimpleNamespace(
            objects=_Gated(shards.objects, self),
            mod=_Gated(shards.mod, self),
            mappings=shards.mappings,
            outbox=shards.outbox,
        )
        return stores._replace(shards=gated)

    async def call(self, make: Any) -> Any:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn
        try:
            result = await make()
            if self._random.random() < self._kills:
                raise Killed
            return result
        finally:
            self._passed.set()

    async def run(self, tasks: list[asyncio.Task[Any]]) -> None:
        """Run the tasks to their ends. Calls whose callers were killed in other tasks go on."""
        while True:
            for _ in range(30):  # each task comes to its next call, or to its end
                await asyncio.sleep(0)
            if self._waiting:
                self._passed.clear()
                at = self._random.randrange(len(self._waiting))
                self._waiting.pop(at).set_result(None)
                await self._passed.wait()
            elif all(task.done() for task in tasks):
                return
            else:
                await asyncio.sleep(0.001)


class _Gated:
    def __init__(self, store: Any, steps: Steps) -> None:
        self._store, self._steps = store, steps

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(call):
            return call
        return lambda *args, **kwargs: self._steps.call(lambda: call(*args, **kwargs))
