"""The base of all loaders: aiodataloader's interface for single keys, and `many` for a column of
keys, which needs no future for each key.

Like aiodataloader, a loader collects keys for two turns of the event loop and loads them in the
third turn, so that callers share batches. If everything in a request waits for loaders, no caller
can add a key: the executor then loads the batches at once.
"""

import asyncio
from asyncio import AbstractEventLoop, Future, get_running_loop
from collections.abc import Awaitable, Sequence
from functools import cached_property
from typing import TypeVar

from aiodataloader import DataLoader

from datasources import recording
from datasources.protocols import Stores
from loaders.batches import Batch
from loaders.cache import LoaderCache
from loaders.single_keys import settle

K = TypeVar("K")
V = TypeVar("V")


class Loader(DataLoader[K, V]):
    """Loads keys in batches, each with one call of `load_batch`.

    The loader keeps each key's value or error, but keeps nothing of a batch that failed as a whole.
    Each caller gets its own future, so a caller that cancels its future affects no other caller.
    """

    has_at_hand = False
    """Whether the loader implements `at_hand`."""

    def __init__(self, stores: Stores) -> None:
        # aiodataloader's own __init__ is not called: it sets up a cache with a future for each key.
        self._stores = stores
        self.key_cache = LoaderCache()

    @cached_property
    def loop(self) -> AbstractEventLoop:  # type: ignore[override]
        return get_running_loop()

    @cached_property
    def _loading(self) -> set[asyncio.Task[None]]:
        """The tasks that load batches. The event loop keeps only weak references to tasks."""
        return set()

    current = staticmethod(recording.current)

    async def load_batch(self, keys: list[K]) -> Sequence[V | BaseException]:
        """Returns a value or an exception for each key, parallel to `keys`. An exception that it
        raises fails the whole batch."""
        raise NotImplementedError

    def at_hand(self, keys: Sequence[K]) -> dict[K, V | BaseException]:
        """Returns the values that are available without waiting, such as values in a cache of this
        process. `many` puts these keys into no batch."""
        return {}

    def many(self, keys: Sequence[K]) -> Awaitable[list[V | BaseException]]:
        """Returns an awaitable of a list parallel to `keys`: the value or the exception of each
        key. Loading begins when a caller awaits it."""
        return self.key_cache.many(self, keys)

    def load(self, key: K) -> "Future[V]":
        if key is None:
            raise TypeError("load() takes a key, not None")
        future = self.key_cache.single(self, key)
        return self._load_elsewhere(key) if future is None else future

    def _load_elsewhere(self, key: K) -> "Future[V]":
        """A future for a key whose value is known, or which is already in a batch."""
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
        """Load a batch in a new task."""
        self.key_cache.close(batch)
        task = self.loop.create_task(self.key_cache.load(self, batch))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)
