"""Keys that a loader loads together, and what those who asked for them await."""

from asyncio import (
    AbstractEventLoop,
    CancelledError,
    Future,
    InvalidStateError,
    get_running_loop,
)
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from loaders.singles import settle

if TYPE_CHECKING:
    from loaders.base import Loader
    from loaders.singles import Singles

K = TypeVar("K")
V = TypeVar("V")


class Batch(Generic[K, V]):
    """Keys that are loaded together, and their values when they are there."""

    __slots__ = (
        *("_loader", "_values", "_waiters", "asked", "begun_by", "done", "forgotten", "given"),
        *("keys", "remembered", "singles"),
    )

    def __init__(self, loader: "Loader[K, V]", keys: list[K]) -> None:
        self._loader: Loader[K, V] | None = loader
        self.keys = keys
        self.asked = False
        """Whether its load has begun, or will without anybody's doing."""
        self.done = False
        self.given: Sequence[V | BaseException] = ()
        """The values, in the order of `keys`."""
        self._values: dict[K, V | BaseException] | None = None
        self._waiters: dict[K, list[Future[V] | Load[K, V]]] | None = None
        self.begun_by: Sequence[K] | None = None
        """The keys that were asked first, if the batch began with just these."""
        self.forgotten: set[K] | None = None
        """Keys of which the loader is not to remember the values: it was told so meanwhile. They
        may have been asked again, of this batch or another."""
        self.remembered = False
        """Whether the loader has all its values."""
        self.singles: Singles[K, V] | None = None
        """Keys that were asked one by one, and who waits for them before all of `_waiters`."""

    @property
    def values(self) -> "dict[K, V | BaseException]":
        if self._values is None:
            self._values = dict(zip(self.keys, self.given, strict=True))
        return self._values

    def forget_values(self, keys: Iterable[K]) -> None:
        self.forgotten = {*(self.forgotten or ()), *keys}

    def ask(self) -> None:
        """Have it loaded when its turn comes, if that isn't so yet."""
        if not self.asked:
            self.asked = True
            assert self._loader is not None
            loop = get_running_loop()
            loop.call_soon(loop.call_soon, self._loader.dispatch, self)

    def load(self) -> Coroutine[Any, Any, None]:
        """Load it as part of the current task: for one that nobody asked, nor can add a key to.
        If the task is cancelled, it is loaded anew for whoever else waits."""
        self.asked = True
        assert self._loader is not None
        return self._loader.load_now(self, here=True)

    def wake(self, waiter: "Future[V] | Load[K, V]", key: K) -> None:
        """Tell it when the batch is there, in its key's turn."""
        waiters = self._waiters
        if waiters is None:
            if not self.asked:
                self.ask()
            self._waiters = {key: [waiter]}
        elif key in waiters:
            waiters[key].append(waiter)
        else:
            waiters[key] = [waiter]

    def forget(self, load: "Load[K, V]") -> None:
        for waiting in (self._waiters or {}).values():
            if load in waiting:
                waiting.remove(load)

    def awaited(self) -> bool:
        """Whether it has been promised to somebody."""
        return self.singles is not None or any((self._waiters or {}).values())

    def mix_singles(self) -> None:
        """Have who waits for them among the others."""
        singles, self.singles = self.singles, None
        if singles is None:
            return
        others, waiters = self._waiters or {}, dict[K, "list[Future[V] | Load[K, V]]"]()
        for key, futures in singles.by_key().items():
            waiters[key] = [*futures, *others.pop(key, ())]
        self._waiters = {**others, **waiters}

    def end(self, given: Sequence[V | BaseException]) -> None:
        """Wake who waits, in the order of the keys, as aiodataloader does."""
        self.given, self.done, self.asked = given, True, True
        self._loader = None  # which refers to this batch in turn
        if self._waiters is None:
            if self.singles is not None:
                singles, self.singles = self.singles, None
                singles.end(given)
            return
        self.mix_singles()
        waiters, self._waiters = self._waiters, None
        keys = self.keys
        if len(waiters) == 1:
            keys, given = list(waiters), [given[keys.index(key)] for key in waiters]
        for key, value in zip(keys, given, strict=True):
            for waiter in waiters.get(key, ()):
                if isinstance(waiter, Load):
                    waiter.batch_done()
                else:
                    settle(waiter, value)


class Load(Generic[K, V]):
    """Keys asked of a loader at once: awaited, the value or the error of each, in their order.

    Nothing is loaded before somebody waits for it. To asyncio it is a future.
    """

    __slots__ = (
        *("_asyncio_future_blocking", "_callbacks", "_cancelled", "_each", "_of", "_tell"),
        *("_waits", "batch", "keys"),
    )

    def __init__(
        self, keys: Sequence[K], batch: Batch[K, V] | None, each: Sequence[Batch[K, V]] = ()
    ) -> None:
        """All keys are in `batch`, or else in `each` their own."""
        self.keys, self.batch, self._each = keys, batch, each
        self._of: Sequence[Batch[K, V]] = list(dict.fromkeys(each)) if each else ()
        """Those, each once."""
        self._asyncio_future_blocking = self._waits = False
        self._callbacks: list[tuple[Callable[[Any], Any], Context | None]] | None = None
        self._cancelled: tuple[Any, ...] | None = None
        """What CancelledError is to be raised with."""
        self._tell: Callable[[], None] | None = None

    def missing(self) -> list[Batch[K, V]]:
        """The batches that are not there yet."""
        if self.batch is not None:
            return [] if self.batch.done else [self.batch]
        return [batch for batch in self._of if not batch.done]

    def lacks(self) -> Batch[K, V] | None:
        """The only batch that is not there yet, if it is the only one."""
        if self.batch is not None:
            return None if self.batch.done else self.batch
        missing = self.missing()
        return missing[0] if len(missing) == 1 else None

    def tell(self, callback: Callable[[], None]) -> None:
        """Have one that isn't done loaded, and `callback` called in the moment that it is."""
        self._tell = callback
        self._wait()

    def _wait(self) -> None:
        """For one batch after the other, though all are asked at once."""
        if self._waits:
            return
        self._waits = True
        if self.batch is not None:
            self.batch.wake(self, self._first())
            return
        missing = self.missing()
        for batch in missing:
            batch.ask()
        self._wait_for(missing[0])

    def _first(self) -> K:
        """One of its keys that is in `batch`."""
        return self.keys[0]

    def _wait_for(self, batch: Batch[K, V]) -> None:
        batch.wake(self, self.keys[self._each.index(batch)])

    def batch_done(self) -> None:
        missing = self.missing()
        if missing:
            self._wait_for(missing[0])
        else:
            self._ended()

    def _ended(self) -> None:
        if self._tell is not None:
            self._tell()
        callbacks, self._callbacks = self._callbacks, None
        for callback, context in callbacks or ():
            get_running_loop().call_soon(callback, self, context=context)

    def result(self) -> list[V | BaseException]:
        """Raises InvalidStateError, and CancelledError."""
        batch = self.batch
        if batch is not None and batch.done and self._cancelled is None:
            if batch.begun_by is self.keys and len(batch.keys) == len(self.keys):
                return list(batch.given)
            return list(map(self._values(batch).__getitem__, self.keys))
        if self._cancelled is not None:
            raise CancelledError(*self._cancelled)
        if not self.done():
            raise InvalidStateError("Result is not set.")
        return [batch.values[key] for batch, key in zip(self._each, self.keys, strict=True)]

    def _values(self, batch: Batch[K, V]) -> "dict[K, V | BaseException]":
        return batch.values

    def done(self) -> bool:
        if self._cancelled is not None:
            return True
        return self.batch.done if self.batch is not None else not self.missing()

    # -- asyncio.Future's interface

    def __await__(self) -> Generator[Any, None, list[V | BaseException]]:
        if self.batch is None:
            for batch in (missing := self.missing()):
                batch.ask()
            for batch in missing:
                yield from Load([self.keys[self._each.index(batch)]], batch).__await__()
        elif not self.batch.done:
            self._asyncio_future_blocking = True
            yield self
        return self.result()

    def get_loop(self) -> AbstractEventLoop:
        return get_running_loop()

    def add_done_callback(
        self, callback: Callable[[Any], Any], *, context: Context | None = None
    ) -> None:
        if self.done():
            get_running_loop().call_soon(callback, self, context=context)
            return
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append((callback, context))
        self._wait()

    def remove_done_callback(self, callback: Callable[[Any], Any]) -> int:
        callbacks = self._callbacks or []
        self._callbacks = [entry for entry in callbacks if entry[0] != callback]
        return len(callbacks) - len(self._callbacks)

    def cancel(self, msg: Any = None) -> bool:
        if self.done():
            return False
        self._cancelled = () if msg is None else (msg,)
        self._tell = None
        if self._waits:
            for batch in self.missing():
                batch.forget(self)
        self._ended()
        return True

    def cancelled(self) -> bool:
        return self._cancelled is not None

    def exception(self) -> None:
        self.result()


class LoadOfRest(Load[K, V]):
    """Keys of which some have values already, and the others are in one batch."""

    __slots__ = ("_fresh", "_known", "_loader")

    def __init__(
        self, keys: Sequence[K], batch: Batch[K, V], loader: "Loader[K, V]", fresh: K
    ) -> None:
        """`fresh` is one of those in the batch."""
        super().__init__(keys, batch)
        self._loader, self._known, self._fresh = loader, loader.known(), fresh

    def _first(self) -> K:
        return self._fresh

    def _values(self, batch: Batch[K, V]) -> "dict[K, V | BaseException]":
        if batch.remembered and self._loader.known() is self._known:
            return self._known  # with the batch's
        return {**self._known, **batch.values}
