"""The base of all loaders: aiodataloader's interface for a single key, and as cheap for a column of
keys.

As aiodataloader does, a loader gathers the keys of two turns of the event loop and loads them in
the third, so that callers share batches. The executor has a batch loaded at once when everything in
a request waits for loaders: nobody else can add a key.
"""

import asyncio
from asyncio import AbstractEventLoop, Future, get_running_loop
from collections.abc import Awaitable, Coroutine, Sequence
from functools import cached_property
from typing import Any, TypeVar

from aiodataloader import DataLoader

from datasources.protocols import Stores
from loaders.batches import Batch
from loaders.cache import LoaderCache
from loaders.single_keys import settle

K = TypeVar("K")
V = TypeVar("V")


class Loader(DataLoader[K, V]):
    """Loads the keys of one turn of the event loop by one call of `load_batch`.

    A key's value or error is remembered, unless the batch as a whole failed. Each caller has a
    future of its own: cancelling it takes nothing from other callers.
    """

    has_at_hand = False
    """Whether `at_hand` is worth asking."""

    def __init__(self, stores: Stores) -> None:
        # In place of aiodataloader's, which keeps a future for each key.
        self._stores = stores
        self.key_cache = LoaderCache()

    @cached_property
    def loop(self) -> AbstractEventLoop:  # type: ignore[override]
        return get_running_loop()

    @cached_property
    def _loading(self) -> set[asyncio.Task[None]]:
        """The tasks that load batches: the event loop itself keeps no reference to them."""
        return set()

    async def load_batch(self, keys: list[K]) -> Sequence[V | BaseException]:
        """A value or an error for each key, in the keys' order."""
        raise NotImplementedError

    def at_hand(self, keys: Sequence[K]) -> dict[K, V | BaseException]:
        """Values that can be had without a wait: for those `many` need not wait for a batch."""
        return {}

    def many(self, keys: Sequence[K]) -> Awaitable[list[V | BaseException]]:
        """The value or the error of each key, in the keys' order, for whoever awaits it."""
        return self.key_cache.many(self, keys)

    def load(self, key: K) -> "Future[V]":
        if key is None:
            raise TypeError("load() takes a key, not None")
        future = self.key_cache.single(self, key)
        return self._load_elsewhere(key) if future is None else future

    def _load_elsewhere(self, key: K) -> "Future[V]":
        """A key that is known, or in a batch already."""
        future: Future[V] = self.loop.create_future()
        value = self.key_cache.values[self.key_cache.slots[key]]
        if type(value) is Batch:
            value.wake(future, key)
        else:
            settle(future, value)
        return future

    def prime(self, key: K, value: V) -> "Loader[K, V]":
        self.key_cache.prime(key, value)
        return self

    def clear(self, key: K) -> "Loader[K, V]":
        self.key_cache.clear(key)
        return self

    def clear_all(self) -> "Loader[K, V]":
        self.key_cache.clear_all()
        return self

    def dispatch(self, batch: Batch) -> None:
        """Load it in a task of its own."""
        self.key_cache.close(batch)
        task = self.loop.create_task(self.key_cache.load(self, batch))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    def load_here(self, batch: Batch) -> Coroutine[Any, Any, None]:
        """Load it in the current task. If that task is cancelled, it is loaded anew for others."""
        return self.key_cache.load(self, batch, True)
