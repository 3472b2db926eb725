"""The cache of a loader: the values of known keys, and the batches that load missing values."""

from __future__ import annotations

from asyncio import CancelledError, Future
from collections.abc import Sequence
from typing import Any

from loaders.batches import Batch, BatchLoader, Load
from loaders.compiled import SingleKeyBatch, assign_slots


class LoaderCache:
    """The cache of one loader."""

    __slots__ = ("open", "pending", "singles", "slots", "values")

    def __init__(self) -> None:
        self.slots: dict[Any, int] = {}
        """The index of each key's value in `values`."""
        self.values: list[Any] = []
        """The value or exception of each slot; the slot of a key that is not loaded yet has its
        Batch. Values of cleared keys stay in the list, because loads may still read them."""
        self.pending: list[Batch] = []
        """The batches that are not loaded yet."""
        self.open: Batch | None = None
        """The batch to which new keys are added, until it is loaded."""
        self.singles: SingleKeyBatch[Any, Any] | None = None
        """The fast case of an open batch to which only single keys were added so far. Neither the
        batch nor `values` has these keys: `_merge_singles` adds them when any other method is
        called."""

    def many(self, loader: BatchLoader, keys: Sequence[Any]) -> Load:
        """The load of these keys. New keys go into the open batch."""
        if self.singles is not None:
            self._merge_singles()
        known = len(self.slots)
        slots, new = assign_slots(self.slots, keys, len(self.values))
        batches: tuple[Batch, ...] = ()
        if new:
            batch = self._add_new(loader, new)
            if batch is not None:
                batches = (batch,)
        if known and len(self.pending) > len(batches):
            batches = self._missing_batches(slots)
        return Load(keys, slots, self.values, batches)

    def single(self, loader: BatchLoader, key: Any) -> Future[Any] | None:
        """The future of one key. Returns None if the key was known, or in a batch, before single
        keys were added: the caller then finds its value or batch in `values`."""
        singles = self.singles
        if singles is None:
            if key in self.slots:
                return None
            batch = self._open_batch(loader)
            batch.ask()
            batch.singles = self.singles = singles = SingleKeyBatch(
                loader.loop, self.slots, len(self.values)
            )
        return singles.ask(key)

    def prime(self, key: Any, value: Any) -> None:
        """Add a value, unless the key has one."""
        if self.singles is not None:
            self._merge_singles()
        if self.slots.setdefault(key, len(self.values)) == len(self.values):
            self.values.append(value)

    def clear(self, key: Any) -> None:
        """Forget a key."""
        if self.singles is not None:
            self._merge_singles()
        slot = self.slots.pop(key, None)
        if slot is not None and type(self.values[slot]) is Batch:
            self.values[slot].cleared = True

    def clear_all(self) -> None:
        if self.singles is not None:
            self._merge_singles()
        for batch in self.pending:
            batch.cleared = True
        self.slots = {}

    async def load(self, loader: BatchLoader, batch: Batch, here: bool = False) -> None:
        """Load a batch. `here` says that this runs in the task of a waiter: if that task is
        cancelled while others wait, a new task loads the batch again."""
        keys = self._begin(batch)
        try:
            above = loader.current()
            if above is None:
                given = await loader.load_batch(list(keys))
            else:
                with above.within("batch", type(loader).__name__) as span:
                    span.notes["keys"] = len(keys)
                    given = await loader.load_batch(list(keys))
            if len(given) != len(keys):
                raise ValueError(f"{len(given)} values were loaded for {len(keys)} keys")
        except BaseException as error:
            if here and isinstance(error, CancelledError) and batch.awaited():
                loader.dispatch(batch)
                raise
            self.fail(batch, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._loaded(batch, keys, given)

    def _begin(self, batch: Batch) -> list[Any]:
        """Close the batch, and return the keys to load, without duplicates."""
        self.close(batch)
        return list(dict.fromkeys(batch.keys)) if batch.cleared else batch.keys

    def _loaded(self, batch: Batch, keys: list[Any], given: Sequence[Any]) -> None:
        if len(keys) < len(batch.keys):  # the batch has a key twice: it was cleared in between
            values = dict(zip(keys, given, strict=True))
            given = [values[key] for key in batch.keys]
        self.end(batch, given)

    def close(self, batch: Batch) -> None:
        """Close a batch: no more keys are added to it."""
        if self.open is not batch:
            return
        singles = self.singles
        if singles is not None:
            if batch.keys:
                self._merge_singles()
            else:
                self._add_to(batch, singles.keys())
                self.singles = None
        self.open = None

    def fail(self, batch: Batch, error: BaseException) -> None:
        """Give the error to all callers of a batch that failed as a whole, and forget its keys, so
        that a later call loads them again."""
        for key, slot in zip(batch.keys, batch.all_slots(), strict=True):
            if self.slots.get(key) == slot:
                del self.slots[key]
        self.end(batch, [error] * len(batch.keys))

    def end(self, batch: Batch, given: Sequence[Any]) -> None:
        """Store the values of a batch, and wake its waiters. `given` is parallel to its keys."""
        self.pending.remove(batch)
        slots, values = batch.slots, self.values
        if slots is None:
            next_slot = batch.first
            for value in given:
                values[next_slot] = value
                next_slot += 1
        else:
            for slot, value in zip(slots, given, strict=True):
                values[slot] = value
        batch.end(given)

    def _add_new(self, loader: BatchLoader, new: list[Any]) -> Batch | None:
        """Add new keys to the open batch, except for keys whose values are available without
        waiting (`at_hand`). The slots of the new keys follow the last value. Returns None if the
        batch got no key."""
        if loader.has_at_hand:
            try:
                at_hand = loader.at_hand(new)
            except BaseException:
                for key in new:
                    del self.slots[key]
                raise
            if at_hand:
                return self._add_except(loader, new, at_hand)
        batch = self._open_batch(loader)
        self._add_to(batch, new)
        return batch

    def _add_except(
        self, loader: BatchLoader, new: list[Any], at_hand: dict[Any, Any]
    ) -> Batch | None:
        self.values += map(at_hand.get, new)
        others = [key for key in new if key not in at_hand]
        if not others:
            return None
        batch = self._open_batch(loader)
        slots = [self.slots[key] for key in others]
        for slot in slots:
            self.values[slot] = batch
        batch.add(others, 0, slots)
        return batch

    def _add_to(self, batch: Batch, keys: list[Any]) -> None:
        start = len(self.values)
        self.values += [batch] * len(keys)
        batch.add(keys, start)

    def _missing_batches(self, slots: list[int]) -> tuple[Batch, ...]:
        """The batches that will fill in the missing values of these slots."""
        found = map(self.values.__getitem__, slots)
        return tuple(dict.fromkeys([value for value in found if type(value) is Batch]))

    def _merge_singles(self) -> None:
        """Add the single keys to the open batch and to `values`."""
        batch, singles, self.singles = self.open, self.singles, None
        assert batch is not None
        assert singles is not None
        self._add_to(batch, singles.keys())
        batch.merge_singles()

    def _open_batch(self, loader: BatchLoader) -> Batch:
        """The open batch, which is made if there is none."""
        batch = self.open
        if batch is None:
            self.open = batch = Batch(loader)
            self.pending.append(batch)
        return batch
