"""Single keys asked of a loader's open batch, and a future for each who asks.

`promised.pyx` is the same in compiled code.
"""

from asyncio import AbstractEventLoop, Future
from collections.abc import Container, Sequence
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Singles(Generic[K, V]):
    """The keys that are asked one by one, of a batch that no other keys are in."""

    def __init__(self, loop: AbstractEventLoop, *elsewhere: Container[K]) -> None:
        """Keys that are `elsewhere` already are not for this batch."""
        self._loop, self._elsewhere = loop, elsewhere
        self._asked: dict[K, list[Future[V]]] = {}

    def ask(self, key: K) -> "Future[V] | None":
        """What whoever asks for it may await; None if the key is elsewhere."""
        for found in self._elsewhere:
            if key in found:
                return None
        future: Future[V] = self._loop.create_future()
        self._asked.setdefault(key, []).append(future)
        return future

    def by_key(self) -> "dict[K, list[Future[V]]]":
        """Who asked for each key, in the order in which they did."""
        return self._asked

    def keys(self) -> list[K]:
        return list(self._asked)

    def end(self, given: "Sequence[V | BaseException]") -> None:
        """Wake all, in the order of the keys."""
        for futures, value in zip(self._asked.values(), given, strict=True):
            for future in futures:
                settle(future, value)


def settle(future: "Future[Any]", value: Any) -> None:
    """Give it a value or an error, unless it was cancelled."""
    if future.done():
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)
