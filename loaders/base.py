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
from loaders.batches import Batch, Load
from loaders.compiled import Singles, place
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
        self._slots: dict[K, int] = {}
        """Where in `_values` that of each key is."""
        self._values: list[Any] = []
        """Values and errors; of a key that is not loaded yet, its batch. What is forgotten stays
        here, for the loads that have found it."""
        self._pending: list[Batch[K, V]] = []
        """The batches that are not loaded yet."""
        self._open: Batch[K, V] | None = None
        """The one that takes keys until its turn comes."""
        self._singles: Singles[K, V] | None = None
        """Its keys that were asked one by one, if nothing else happened since the first of them:
        of these the batch and `_values` don't know yet."""

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
        if self._singles is not None:
            self._mix_singles()
        known = len(self._slots)
        slots, new = place(self._slots, keys, len(self._values))
        batch = self._take(new) if new else None
        batches: Sequence[Batch[K, V]] = () if batch is None else (batch,)
        if known and len(self._pending) > len(batches):
            batches = self._lacking(slots)
        return Load(keys, slots, self._values, batches)

    def _take(self, new: list[K]) -> Batch[K, V] | None:
        """Keys in the slots after the last value: for the open batch, but for those at hand."""
        if self.has_at_hand:
            try:
                at_hand = self.at_hand(new)
            except BaseException:
                for key in new:
                    del self._slots[key]
                raise
            if at_hand:
                return self._take_others(new, at_hand)
        batch = self._open or self._begin()
        self._put(batch, new)
        return batch

    def _take_others(self, new: list[K], at_hand: dict[K, V | BaseException]) -> Batch[K, V] | None:
        self._values += map(at_hand.get, new)
        others = [key for key in new if key not in at_hand]
        if not others:
            return None
        batch = self._open or self._begin()
        slots = [self._slots[key] for key in others]
        for slot in slots:
            self._values[slot] = batch
        batch.add(others, slots)
        return batch

    def _put(self, batch: Batch[K, V], keys: list[K]) -> None:
        start = len(self._values)
        self._values += [batch] * len(keys)
        batch.add(keys, range(start, start + len(keys)))

    def _lacking(self, slots: Sequence[int]) -> Sequence[Batch[K, V]]:
        """The batches that bring what is not in these slots yet."""
        found = map(self._values.__getitem__, slots)
        return list(dict.fromkeys([value for value in found if type(value) is Batch]))

    def load(self, key: K) -> "Future[V]":
        if key is None:
            raise TypeError("load() takes a key, not None")
        singles = self._singles
        if singles is None:
            if key in self._slots:
                return self._load_elsewhere(key)
            singles = self._take_singles()
        future = singles.ask(key)
        return self._load_elsewhere(key) if future is None else future

    def _take_singles(self) -> "Singles[K, V]":
        """Have keys asked one by one in the open batch, as long as that is all that happens."""
        batch = self._open or self._begin()
        batch.ask()
        batch.singles = self._singles = Singles(self.loop, self._slots, len(self._values))
        return self._singles

    def _mix_singles(self) -> None:
        """Have the open batch's single keys among its others."""
        batch, singles, self._singles = self._open, self._singles, None
        assert batch is not None
        assert singles is not None
        self._put(batch, singles.keys())
        batch.mix_singles()

    def _load_elsewhere(self, key: K) -> "Future[V]":
        """A key that is known, or in a batch already."""
        future: Future[V] = self.loop.create_future()
        value = self._values[self._slots[key]]
        if type(value) is Batch:
            value.wake(future, key)
        else:
            settle(future, value)
        return future

    def prime(self, key: K, value: V) -> "Loader[K, V]":
        if self._singles is not None:
            self._mix_singles()
        if self._slots.setdefault(key, len(self._values)) == len(self._values):
            self._values.append(value)
        return self

    def clear(self, key: K) -> "Loader[K, V]":
        if self._singles is not None:
            self._mix_singles()
        slot = self._slots.pop(key, None)
        if slot is not None and type(self._values[slot]) is Batch:
            self._values[slot].cleared = True
        return self

    def clear_all(self) -> "Loader[K, V]":
        if self._singles is not None:
            self._mix_singles()
        for batch in self._pending:
            batch.cleared = True
        self._slots = {}
        return self

    def _begin(self) -> Batch[K, V]:
        """A batch that takes keys until its turn comes."""
        self._open = batch = Batch(self)
        self._pending.append(batch)
        return batch

    def _close(self, batch: Batch[K, V]) -> None:
        """Take no more keys."""
        if self._open is not batch:
            return
        if self._singles is not None:
            if batch.keys:
                self._mix_singles()
            else:
                self._put(batch, self._singles.keys())
                self._singles = None
        self._open = None

    def dispatch(self, batch: Batch[K, V]) -> None:
        """Load it in a task of its own."""
        self._close(batch)
        task = self.loop.create_task(self.load_now(batch))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def load_now(self, batch: Batch[K, V], here: bool = False) -> None:
        self._close(batch)
        keys = list(dict.fromkeys(batch.keys)) if batch.cleared else batch.keys
        try:
            given = await self.load_batch(list(keys))
            if len(given) != len(keys):
                raise ValueError(f"{len(given)} values were loaded for {len(keys)} keys")
        except BaseException as error:
            if here and isinstance(error, CancelledError) and batch.awaited():
                self.dispatch(batch)
                raise
            for key, slot in zip(batch.keys, batch.slots, strict=True):
                if self._slots.get(key) == slot:
                    del self._slots[key]
            self._ended(batch, [error] * len(batch.keys))
            if not isinstance(error, Exception):
                raise
        else:
            if len(keys) < len(batch.keys):  # one that was cleared, and asked again
                values = dict(zip(keys, given, strict=True))
                given = [values[key] for key in batch.keys]
            self._ended(batch, given)

    def _ended(self, batch: Batch[K, V], given: Sequence[V | BaseException]) -> None:
        self._pending.remove(batch)
        slots, values = batch.slots, self._values
        if type(slots) is range:
            values[slots.start : slots.stop] = given
        else:
            for slot, value in zip(slots, given, strict=True):
                values[slot] = value
        batch.end(given)
