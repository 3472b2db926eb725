"""The keys that a loader knows: their values, and the batches that bring missing values."""

from __future__ import annotations

from asyncio import CancelledError, Future
from collections.abc import Sequence
from typing import Any

from datasources.recording import current
from loaders.batches import Batch, BatchLoader, Load
from loaders.compiled import SingleKeyBatch, assign_slots


class LoaderCache:
    """The cache of one loader."""

    __slots__ = ("open", "pending", "singles", "slots", "values")

    def __init__(self) -> None:
        self.slots: dict[Any, int] = {}
        """The index in `values` of each key's value."""
        self.values: list[Any] = []
        """Values and errors; the batch of a key that is not loaded yet. Forgotten values stay, for
        the loads that have found them."""
        self.pending: list[Batch] = []
        """The batches that are not loaded yet."""
        self.open: Batch | None = None
        """The batch that takes keys until its turn comes."""
        self.singles: SingleKeyBatch[Any, Any] | None = None
        """The open batch's keys that were asked one by one, if nothing else happened since the
        first of them: the batch and `values` don't know these keys yet."""

    def many(self, loader: BatchLoader, keys: Sequence[Any]) -> Load:
        """The value of each key, in the keys' order."""
        if self.singles is not None:
            self._mix_singles()
        known = len(self.slots)
        slots, new = assign_slots(self.slots, keys, len(self.values))
        batches: tuple[Batch, ...] = ()
        if new:
            batch = self._take(loader, new)
            if batch is not None:
                batches = (batch,)
        if known and len(self.pending) > len(batches):
            batches = self._lacking(slots)
        return Load(keys, slots, self.values, batches)

    def single(self, loader: BatchLoader, key: Any) -> Future[Any] | None:
        """The future of a key asked by itself; None if the key is known, or in a batch already."""
        singles = self.singles
        if singles is None:
            if key in self.slots:
                return None
            batch = self._opened(loader)
            batch.ask()
            batch.singles = self.singles = singles = SingleKeyBatch(
                loader.loop, self.slots, len(self.values)
            )
        return singles.ask(key)

    def prime(self, key: Any, value: Any) -> None:
        """Add a value, unless the key has one."""
        if self.singles is not None:
            self._mix_singles()
        if self.slots.setdefault(key, len(self.values)) == len(self.values):
            self.values.append(value)

    def clear(self, key: Any) -> None:
        """Forget a key."""
        if self.singles is not None:
            self._mix_singles()
        slot = self.slots.pop(key, None)
        if slot is not None and type(self.values[slot]) is Batch:
            self.values[slot].cleared = True

    def clear_all(self) -> None:
        if self.singles is not None:
            self._mix_singles()
        for batch in self.pending:
            batch.cleared = True
        self.slots = {}

    async def load(self, loader: BatchLoader, batch: Batch, here: bool = False) -> None:
        """Load a batch. With `here`, in the task of a waiter: if that is cancelled, another task
        loads the batch for the rest."""
        keys = self._begin(batch)
        try:
            above = current()
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
        """The keys to load."""
        self.close(batch)
        return list(dict.fromkeys(batch.keys)) if batch.cleared else batch.keys

    def _loaded(self, batch: Batch, keys: list[Any], given: Sequence[Any]) -> None:
        if len(keys) < len(batch.keys):  # one that was cleared, and asked again
            values = dict(zip(keys, given, strict=True))
            given = [values[key] for key in batch.keys]
        self.end(batch, given)

    def close(self, batch: Batch) -> None:
        """Close a batch: it takes no more keys."""
        if self.open is not batch:
            return
        singles = self.singles
        if singles is not None:
            if batch.keys:
                self._mix_singles()
            else:
                self._put(batch, singles.keys())
                self.singles = None
        self.open = None

    def fail(self, batch: Batch, error: BaseException) -> None:
        """The batch as a whole failed: its keys can be asked again."""
        for key, slot in zip(batch.keys, batch.slots, strict=True):
            if self.slots.get(key) == slot:
                del self.slots[key]
        self.end(batch, [error] * len(batch.keys))

    def end(self, batch: Batch, given: Sequence[Any]) -> None:
        """The batch's values are there."""
        self.pending.remove(batch)
        slots, values = batch.slots, self.values
        if type(slots) is range:
            first = slots[0]
            values[first : first + len(slots)] = given
        else:
            for slot, value in zip(slots, given, strict=True):
                values[slot] = value
        batch.end(given)

    def _take(self, loader: BatchLoader, new: list[Any]) -> Batch | None:
        """Put new keys, which have the slots after the last value, into the open batch, but for
        keys at hand."""
        if loader.has_at_hand:
            try:
                at_hand = loader.at_hand(new)
            except BaseException:
                for key in new:
                    del self.slots[key]
                raise
            if at_hand:
                return self._take_others(loader, new, at_hand)
        batch = self._opened(loader)
        self._put(batch, new)
        return batch

    def _take_others(
        self, loader: BatchLoader, new: list[Any], at_hand: dict[Any, Any]
    ) -> Batch | None:
        self.values += map(at_hand.get, new)
        others = [key for key in new if key not in at_hand]
        if not others:
            return None
        batch = self._opened(loader)
        slots = [self.slots[key] for key in others]
        for slot in slots:
            self.values[slot] = batch
        batch.add(others, slots)
        return batch

    def _put(self, batch: Batch, keys: list[Any]) -> None:
        start = len(self.values)
        self.values += [batch] * len(keys)
        batch.add(keys, range(start, start + len(keys)))

    def _lacking(self, slots: list[int]) -> tuple[Batch, ...]:
        """The batches that bring the missing values of these slots."""
        found = map(self.values.__getitem__, slots)
        return tuple(dict.fromkeys([value for value in found if type(value) is Batch]))

    def _mix_singles(self) -> None:
        """Merge the open batch's single keys with its other keys."""
        batch, singles, self.singles = self.open, self.singles, None
        assert batch is not None
        assert singles is not None
        self._put(batch, singles.keys())
        batch.mix_singles()

    def _opened(self, loader: BatchLoader) -> Batch:
        """The batch that takes keys until its turn comes."""
        batch = self.open
        if batch is None:
            self.open = batch = Batch(loader)
            self.pending.append(batch)
        return batch
