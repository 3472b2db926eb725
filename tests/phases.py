"""Stores whose calls wait for each other, to count the phases of calls in an answer.

All calls that are made before any of them is answered are one phase: calls in a later phase need an
earlier phase's answers. So the number of phases is the number of round trips in series.
"""

import asyncio
from collections.abc import Awaitable
from types import SimpleNamespace
from typing import Any, TypeVar

from datasources.protocols import Sides, Stores

T = TypeVar("T")
QUIET = 200
"""Turns of the event loop without a new call, after which a phase is complete."""


class Phases:
    """Counts phases. `names`: the calls of each phase so far."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self._running = 0

    def of(self, stores: Stores) -> Stores:
        """The stores, counted."""
        names = ("objects", "mappings", "outbox", "visits", "mod")
        shards: Any = SimpleNamespace(
            **{name: _Counted(getattr(stores.shards, name), name, self) for name in names}
        )
        sides = {
            name: Sides(*(_counted(side, name, self) for side in getattr(stores, name)))
            for name in ("pools", "feeds")
        }
        return stores._replace(
            shards=shards,
            object_cache=_counted(stores.object_cache, "cached objects", self),
            mapping_cache=_counted(stores.mapping_cache, "cached lists", self),
            queue=_counted(stores.queue, "queue", self),
            **sides,
        )

    async def run(self, answer: Awaitable[T]) -> T:
        """The answer. Its phases are added to `names`."""
        task = asyncio.ensure_future(answer)
        while not task.done():
            await self._settle(task)
            if self._waiting:
                self.names.append(sorted(name for name, _ in self._waiting))
                waiting, self._waiting = self._waiting, []
                for _, future in waiting:
                    future.set_result(None)
        return await task

    async def _settle(self, task: "asyncio.Future[Any]") -> None:
        quiet = 0
        while quiet < QUIET and not task.done():
            before = len(self._waiting), self._running
            await asyncio.sleep(0)
            same = before == (len(self._waiting), self._running) and not self._running
            quiet = quiet + 1 if same else 0
            if self._running:  # in a thread
                await asyncio.sleep(0.0005)

    async def call(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((name, future))
        await future
        self._running += 1
        try:
            return await call(*args, **kwargs)
        finally:
            self._running -= 1


class _Counted:
    def __init__(self, store: Any, name: str, phases: Phases) -> None:
        self._store, self._name, self._phases = store, name, phases

    local = None
    """An object cache in this process is counted like one on the network."""

    def __getattr__(self, attribute: str) -> Any:
        call = getattr(self._store, attribute)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def counted(*args: Any, **kwargs: Any) -> Any:
            return await self._phases.call(f"{self._name}.{attribute}", call, *args, **kwargs)

        return counted


def _counted(store: Any, name: str, phases: Phases) -> Any:
    return _Counted(store, name, phases)
