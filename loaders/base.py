"""What every loader is: aiodataloader's for a single key, and as cheap for a whole column of them.

As aiodataloader does, a loader gathers the keys asked within two turns of the event loop and loads
them in the third, so that whoever asks meanwhile shares the batch. Here a batch, not a key, is what
is waited for: who asks for many keys waits once for each batch that they are in.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from aiodataloader import DataLoader

from datasources.protocols import Stores

K = TypeVar("K")
V = TypeVar("V")


class _Batch(Generic[K, V]):
    """Keys that are loaded together, and their values when they are there."""

    __slots__ = ("done", "keys", "values", "waiters")

    def __init__(self) -> None:
        self.done = False
        self.keys: dict[K, None] = {}
        self.values: dict[K, V | BaseException] = {}
        self.waiters: dict[K, list[Callable[[], None]]] = {}

    @classmethod
    def of(cls, values: dict[K, V | BaseException]) -> "_Batch[K, V]":
        """One whose values are there."""
        batch = cls()
        batch.end(values)
        return batch

    def end(self, values: dict[K, V | BaseException]) -> None:
        """Wake who waits, in the order of the keys, as aiodataloader does."""
        self.values, self.done = values, True
        waiters, self.waiters = self.waiters, {}
        for key in self.keys if len(waiters) > 1 else waiters:
            for wake in waiters.get(key, ()):
                wake()


class Loader(DataLoader[K, V]):
    """Loads keys asked in one turn of the event loop by one call of `load_batch`.

    A key's value or error is remembered; not so when the batch as a whole failed. Whoever waits has
    a future of their own: one that is cancelled takes nothing from the others.
    """

    def __init__(self, stores: Stores) -> None:
        # In place of aiodataloader's, which keeps a future for each key.
        self.loop = asyncio.get_running_loop()
        self._stores = stores
        self._batches: dict[K, _Batch[K, V]] = {}
        self._open: _Batch[K, V] | None = None
        self._loading: set[asyncio.Task[None]] = set()  # which the loop itself may forget

    async def load_batch(self, keys: list[K]) -> Sequence[V | BaseException]:
        """A value or an error for each key, in the keys' order."""
        raise NotImplementedError

    def at_hand(self, keys: Sequence[K]) -> dict[K, V | BaseException]:
        """Values that can be had without a wait: for those `many` need not wait for a batch."""
        return {}

    async def many(self, keys: Sequence[K]) -> list[V | BaseException]:
        """The value or the error of each key, in the keys' order."""
        batches = self._batches
        fresh = [key for key in keys if key not in batches] if batches else keys
        if fresh and (found := self.at_hand(fresh)):
            batches |= dict.fromkeys(found, _Batch.of(found))
            fresh = [key for key in fresh if key not in found]
        if fresh:
            batch = self._open or self._begin()
            added = dict.fromkeys(fresh)
            batch.keys |= added
            batches |= dict.fromkeys(added, batch)
        asked = [batches[key] for key in keys]
        for key, batch in zip(keys, asked, strict=True):
            if not batch.done:
                await self._loaded(batch, key)
        if asked and asked.count(asked[0]) == len(asked):
            values = asked[0].values
            return [values[key] for key in keys]
        return [batch.values[key] for batch, key in zip(asked, keys, strict=True)]

    def load(self, key: K) -> "asyncio.Future[V]":
        if key is None:
            raise TypeError("load() takes a key, not None")
        batch = self._batches.get(key) or self._ask(key)
        future: asyncio.Future[V] = self.loop.create_future()

        def settle() -> None:
            value = batch.values[key]
            if future.done():
                return
            if isinstance(value, BaseException):
                future.set_exception(value)
            else:
                future.set_result(value)

        if batch.done:
            settle()
        else:
            batch.waiters.setdefault(key, []).append(settle)
        return future

    def prime(self, key: K, value: V) -> "Loader[K, V]":
        if key not in self._batches:
            self._batches[key] = _Batch.of({key: value})
        return self

    def clear(self, key: K) -> "Loader[K, V]":
        self._batches.pop(key, None)
        return self

    def clear_all(self) -> "Loader[K, V]":
        self._batches.clear()
        return self

    def _ask(self, key: K) -> _Batch[K, V]:
        """The batch that will hold a key nobody asked for yet."""
        batch = self._open or self._begin()
        batch.keys[key] = None
        self._batches[key] = batch
        return batch

    def _begin(self) -> _Batch[K, V]:
        """A batch that takes keys until its turn comes."""
        batch = self._open = _Batch()
        self.loop.call_soon(self.loop.call_soon, self._dispatch)
        return batch

    def _dispatch(self) -> None:
        batch, self._open = self._open, None
        assert batch is not None
        task = self.loop.create_task(self._load(batch))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def _load(self, batch: _Batch[K, V]) -> None:
        keys = list(batch.keys)
        try:
            values = await self.load_batch(keys)
            batch.end(dict(zip(keys, values, strict=True)))
        except BaseException as error:
            for key in keys:
                if self._batches.get(key) is batch:
                    del self._batches[key]
            batch.end(dict.fromkeys(keys, error))
            if not isinstance(error, Exception):
                raise

    async def _loaded(self, batch: _Batch[K, V], key: K) -> None:
        """Wait for a batch, woken when it is the turn of `key`."""
        future: asyncio.Future[None] = self.loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        batch.waiters.setdefault(key, []).append(wake)
        await future
