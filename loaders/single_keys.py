"""The keys of a batch that were requested one by one (`Loader.load`), with a future for each call.

`key_futures.pyx` is the compiled version.
"""

from asyncio import AbstractEventLoop, Future
from collections.abc import Sequence
from itertools import count, filterfalse
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class SingleKeyBatch(Generic[K, V]):
    """The keys of a batch to which only single keys were added."""

    def __init__(self, loop: AbstractEventLoop, slots: dict[K, int], start: int) -> None:
        """`slots` is the loader's `LoaderCache.slots`. New keys get the slots from `start` on."""
        self._loop, self._slots, self._start = loop, slots, start
        self._keys: list[K] = []
        self._futures: list[list[Future[V]]] = []

    def ask(self, key: K) -> "Future[V] | None":
        """The future of a key's value, or None if the key had a slot before this batch."""
        new = self._start + len(self._keys)
        slot = self._slots.setdefault(key, new)
        if slot < self._start:
            return None
        future: Future[V] = self._loop.create_future()
        if slot == new:
            self._keys.append(key)
            self._futures.append([future])
        else:
            self._futures[slot - self._start].append(future)
        return future

    def keys(self) -> list[K]:
        return self._keys

    def futures(self) -> "list[list[Future[V]]]":
        """The futures of each key, in the order of the calls; parallel to `keys()`."""
        return self._futures

    def end(self, given: "Sequence[V | BaseException]") -> None:
        """Settle all futures in the order of the keys. `given` is parallel to `keys()`."""
        for futures, value in zip(self._futures, given, strict=True):
            for future in futures:
                settle(future, value)


def assign_slots(slots: dict[K, int], keys: Sequence[K], start: int) -> tuple[list[int], list[K]]:
    """Returns the slot of each key (parallel to `keys`), and the keys that are new. New keys get
    the slots from `start` on."""
    new = list(filterfalse(slots.__contains__, dict.fromkeys(keys)))
    slots.update(zip(new, count(start), strict=False))
    return list(map(slots.__getitem__, keys)), new


def settle(future: "Future[Any]", value: Any) -> None:
    """Set a future's result or exception, unless the future is done (it was cancelled)."""
    if future.done():
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)
