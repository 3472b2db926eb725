"""What every loader is: aiodataloader's for a single key, and as cheap for a whole column of them.

As aiodataloader does, a loader gathers the keys asked within two turns of the event loop and loads
them in the third, so that whoever asks meanwhile shares the batch. Who knows that nobody else can
ask (our executor, when all of a request waits for its loaders) has a batch loaded at once.
"""

import asyncio
from asyncio import AbstractEventLoop, CancelledError, Future, get_running_loop
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

from aiodataloader import DataLoader

from datasources.protocols import Stores
from loaders.batches import Batch, Load, LoadOfRest
from loaders.compiled import Singles
from loaders.singles import settle

K = TypeVar("K")
V = TypeVar("V")


class Loader(DataLoader[K, V]):
    """Loads keys asked in one turn of the event loop by one call of `load_batch`.

    A key's value or error is remembered; not so when the batch as a whole failed. Whoever waits has
    a future of their own: one that is cancelled takes nothing from the others.
    """

    has_at_hand = False
    """Whether `at_hand` is worth asking."""

    def __init__(self, stores: Stores) -> None:
        # In place of aiodataloader's, which keeps a future for each key.
        self._stores = stores
        self._open: Batch[K, V] | None = None
        """The batch that takes keys until its turn comes."""
        self._singles: Singles[K, V] | None = None
        """Its keys that were asked one by one, if nothing else happened since the first of them."""
        self._values: dict[K, V | BaseException] = {}
        self._held = False
        """Whether a load looks into them, too: then nothing is taken out of that dict."""
        self._pending: dict[K, Batch[K, V]] = {}
        """Where each key is that is not loaded yet, and is to be remembered."""
        self._begun: Batch[K, V] | None = None
        """A batch that is all that is pending, and whose keys are not in there yet."""
        self._ended: list[Batch[K, V]] = []
        """Batches that are loaded, whose values are not in there yet."""

    @cached_property
    def loop(self) -> AbstractEventLoop:  # type: ignore[override]
        return get_running_loop()

    @cached_property
    def _loading(self) -> set[asyncio.Task[None]]:
        """Which the loop itself may forget."""
        return set()

    async def load_batch(self, keys: list[K]) -> Sequence[V | BaseException]:
        """A value or an error for each key, in the keys' order."""
        raise NotImplementedError

    def at_hand(self, keys: Sequence[K]) -> dict[K, V | BaseException]:
        """Values that can be had without a wait: for those `many` need not wait for a batch."""
        return {}

    def many(self, keys: Sequence[K]) -> Load[K, V]:
        """The value or the error of each key, in the keys' order, for whoever awaits it."""
        if keys and not (self._values or self._ended or self.has_at_hand or self._asked()):
            return Load(keys, self._begin_with(keys))
        values, pending = self.known(), self._pending_keys()
        fresh = [key for key in keys if key not in values]
        others = bool(pending) and not pending.keys().isdisjoint(fresh)
        new = [key for key in fresh if key not in pending] if others else fresh
        if new and self.has_at_hand and (found := self.at_hand(new)):
            values.update(found)
            fresh = [key for key in fresh if key not in found]
            new = [key for key in new if key not in found]
        if not fresh:
            return Load(keys, _ready(self, keys, values))
        if new:
            batch = self._add(new) if self._asked() else self._begin_with(new)
            if len(new) == len(keys):
                return Load(keys, batch)
            if not others:
                self._held = True
                return LoadOfRest(keys, batch, self, fresh[0])
        ready = _ready(self, [key for key in keys if key in values], values)
        each = [pending.get(key, ready) for key in keys]
        if each.count(each[0]) == len(each):
            return Load(keys, each[0])
        return Load(keys, None, each)

    def _asked(self) -> bool:
        """Whether something was asked that is not loaded yet."""
        return self._open is not None or self._begun is not None or bool(self._pending)

    def _begin_with(self, keys: Sequence[K]) -> Batch[K, V]:
        """Keys that are new, where no others are asked: nobody need look them up yet."""
        once = _once(keys)
        self._open = self._begun = batch = Batch(self, once)
        if len(once) == len(keys):
            batch.begun_by = keys
        return batch

    def _add(self, keys: Sequence[K]) -> Batch[K, V]:
        """Keys that are new, to the batch that takes them."""
        batch = self._open or self._begin()
        once = _once(keys)
        batch.keys += once
        self._pending.update(dict.fromkeys(once, batch))
        return batch

    def load(self, key: K) -> "Future[V]":
        if key is None:
            raise TypeError("load() takes a key, not None")
        singles = self._singles
        if singles is None:
            if key in self._pending_keys() or key in self.known():
                return self._load_elsewhere(key)
            singles = self._take_singles()
        future = singles.ask(key)
        return self._load_elsewhere(key) if future is None else future

    def _take_singles(self) -> "Singles[K, V]":
        """Have keys asked one by one in the open batch, as long as that is all that happens."""
        batch = self._open or self._begin()
        batch.ask()
        elsewhere = (keys for keys in (self._values, self._pending) if keys)
        batch.singles = self._singles = Singles(self.loop, *elsewhere)
        return self._singles

    def _load_elsewhere(self, key: K) -> "Future[V]":
        """A key that is known, or in a batch already."""
        future: Future[V] = self.loop.create_future()
        if key in self._values:
            settle(future, self._values[key])
        else:
            self._pending[key].wake(future, key)
        return future

    def prime(self, key: K, value: V) -> "Loader[K, V]":
        if key not in self._pending_keys():
            self.known().setdefault(key, value)
        return self

    def clear(self, key: K) -> "Loader[K, V]":
        batch = self._pending_keys().pop(key, None)
        if batch is not None:
            batch.forget_values([key])
        elif key in self.known():
            if self._held:
                self._values, self._held = dict(self._values), False
            del self._values[key]
        return self

    def clear_all(self) -> "Loader[K, V]":
        for batch in set(self._pending_keys().values()):
            batch.forget_values(batch.keys)
        self._pending, self._values, self._ended = {}, {}, []
        return self

    def _pending_keys(self) -> dict[K, Batch[K, V]]:
        if self._singles is not None:
            self._mix_singles()
        begun = self._begun
        if begun is not None:
            self._begun = None
            self._pending = dict.fromkeys(begun.keys, begun)
        return self._pending

    def _mix_singles(self) -> None:
        """Have the open batch's single keys among its others."""
        batch, self._singles = self._open, None
        assert batch is not None
        assert batch.singles is not None
        keys = batch.singles.keys()
        batch.keys += keys
        batch.mix_singles()
        self._pending.update(dict.fromkeys(keys, batch))

    def known(self) -> dict[K, V | BaseException]:
        """What was loaded."""
        for batch in self._ended:
            if self._values:
                self._values.update(zip(batch.keys, batch.given, strict=True))
            else:
                self._values, self._held = batch.values, True
        self._ended.clear()
        return self._values

    def _begin(self) -> Batch[K, V]:
        """A batch that takes keys until its turn comes."""
        self._pending_keys()
        self._open = batch = Batch(self, [])
        return batch

    def dispatch(self, batch: Batch[K, V]) -> None:
        """Load it in a task of its own."""
        self._close(batch)
        task = self.loop.create_task(self.load_now(batch))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    def _close(self, batch: Batch[K, V]) -> None:
        """Take no more keys."""
        if self._open is not batch:
            return
        if self._singles is not None:
            if batch.keys or self._pending:
                self._mix_singles()
            else:
                batch.keys, self._begun, self._singles = self._singles.keys(), batch, None
        self._open = None

    async def load_now(self, batch: Batch[K, V], *, here: bool = False) -> None:
        self._close(batch)
        if batch.forgotten:
            batch.keys = _once(batch.keys)
        keys = batch.keys
        try:
            given = await self.load_batch(list(keys))
            if len(given) != len(keys):
                raise ValueError(f"{len(given)} values were loaded for {len(keys)} keys")
        except BaseException as error:
            if here and isinstance(error, CancelledError) and batch.awaited():
                self.dispatch(batch)
                raise
            self._no_more_pending(batch)
            batch.end([error] * len(keys))
            if not isinstance(error, Exception):
                raise
        else:
            if batch.forgotten:
                pending, values = self._pending_keys(), self.known()
                for key, value in zip(keys, given, strict=True):
                    if pending.get(key) is batch:
                        values[key] = value
            else:
                if self._singles is not None:
                    self._mix_singles()
                self._ended.append(batch)
                batch.remembered = True
            self._no_more_pending(batch)
            batch.end(given)

    def _no_more_pending(self, batch: Batch[K, V]) -> None:
        if self._begun is batch:
            self._begun = None
            return
        pending = self._pending
        for key in batch.keys:
            if pending.get(key) is batch:
                del pending[key]


def _ready(
    loader: Loader[K, V], keys: Sequence[K], values: dict[K, V | BaseException]
) -> Batch[K, V]:
    """A batch of keys whose values are known."""
    batch = Batch(loader, list(keys))
    batch.begun_by = keys
    batch.end(list(map(values.__getitem__, keys)))
    return batch


def _once(keys: Sequence[Any]) -> list[Any]:
    """In their order, each once."""
    return list(keys) if len(set(keys)) == len(keys) else list(dict.fromkeys(keys))
