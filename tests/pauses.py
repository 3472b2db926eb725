"""Stores whose callers stop at a chosen seam until they are told to continue, to force
interleavings.

A seam is before and after each call of a store, and before the commit of a transaction. With
`within`, also before and after each call inside a transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from datasources.protocols import ShardTx, Stores


class Pause:
    """Stops the task that passes the seam number `at`, counted from 0, until `go` is called."""

    def __init__(self, at: int, *, within: bool = False) -> None:
        """`within`: include the calls inside transactions."""
        self._left, self._within = at, within
        self._reached, self._go = asyncio.Event(), asyncio.Event()

    async def seam(self) -> None:
        self._left -= 1
        if self._left == -1:
            self._reached.set()
            await self._go.wait()

    async def reached(self, task: "asyncio.Task[Any]") -> bool:
        """Wait until the task stops at the seam. Returns False if the task ended before."""
        stopped = asyncio.ensure_future(self._reached.wait())
        await asyncio.wait([task, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        return self._reached.is_set()

    def go(self) -> None:
        self._go.set()

    def of(self, stores: Stores) -> Stores:
        """The stores with this pause in their calls."""
        shards = stores.shards
        whole: Any = SimpleNamespace(
            objects=_Objects(shards.objects, self, self._within),
            mappings=_Calls(shards.mappings, self),
            outbox=_Calls(shards.outbox, self),
            visits=shards.visits,
            mod=_Calls(shards.mod, self),
        )
        calls: Any = _Calls(stores.object_cache, self), _Calls(stores.mapping_cache, self)
        return stores._replace(shards=whole, object_cache=calls[0], mapping_cache=calls[1])


class _Calls:
    def __init__(self, store: Any, pause: Pause) -> None:
        self._store, self._pause = store, pause

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def seamed(*args: Any, **kwargs: Any) -> Any:
            await self._pause.seam()
            result = await call(*args, **kwargs)
            await self._pause.seam()
            return result

        return seamed


class _Objects(_Calls):
    def __init__(self, store: Any, pause: Pause, within: bool) -> None:
        super().__init__(store, pause)
        self._within = within

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[Any]]) -> Any:
        async def seamed(tx: ShardTx) -> Any:
            calls: Any = _Calls(tx, self._pause)
            result = await work(calls if self._within else tx)
            await self._pause.seam()
            return result

        await self._pause.seam()
        result = await self._store.transact(shard, seamed)
        await self._pause.seam()
        return result
