"""What every loader is: aiodataloader's for a single key, and as cheap for a whole column of them.

As aiodataloader does, a loader gathers the keys asked within two turns of the event loop and loads
them in the third, so that whoever asks meanwhile shares the batch. Who knows that nobody else can
ask (our executor, when all of a request waits for its loaders) has a batch loaded at once.
"""

import asyncio
from asyncio import (
    AbstractEventLoop,
    CancelledError,
    Future,
    InvalidStateError,
    get_running_loop,
)
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextvars import Context
from functools import cached_property
from typing import Any, Generic, TypeVar

from aiodataloader import DataLoader

from datasources.protocols import Stores

K = TypeVar("K")
V = TypeVar("V")


class Batch(Generic[K, V]):
    """Keys that are loaded together, and their values when they are there."""

    asked = False
    """Whether its load has begun, or will without anybody's doing."""
    done = False
    given: Sequence[V | BaseException] = ()
    """The values, in the order of `keys`."""
    _waiters: "dict[K, list[Future[V] | Load[K, V]]] | None" = None

    begun_by: Sequence[K] | None = None
    """The keys that were asked first, if the batch began with just these."""
    repeats = False
    """Whether a key may have been asked twice, as the loader forgot one meanwhile."""

    def __init__(self, loader: "Loader[K, V]", keys: list[K]) -> None:
        self._loader: Loader[K, V] | None = loader
        self.keys = keys

    @cached_property
    def values(self) -> dict[K, V | BaseException]:
        return dict(zip(self.keys, self.given, strict=True))

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
        return any((self._waiters or {}).values())

    def end(self, given: Sequence[V | BaseException]) -> None:
        """Wake who waits, in the order of the keys, as aiodataloader does."""
        self.given, self.done, self.asked = given, True, True
        self._loader = None  # which refers to this batch in turn
        waiters, self._waiters = self._waiters, None
        if waiters is None:
            return
        for key in self.keys if len(waiters) > 1 else waiters:
            if key in waiters:
                value = self.values[key]
                for waiter in waiters[key]:
                    if isinstance(waiter, Load):
                        waiter.batch_done()
                    else:
                        settle(waiter, value)


class Load(Generic[K, V]):
    """Keys asked of a loader at once: awaited, the value or the error of each, in their order.

    Nothing is loaded before somebody waits for it. To asyncio it is a future.
    """

    _asyncio_future_blocking = False
    _cancelled: tuple[Any, ...] | None = None
    """What CancelledError is to be raised with."""
    _waits = False
    _callbacks: list[tuple[Callable[[Any], Any], Context | None]] | None = None
    _tell: Callable[[], None] | None = None

    def __init__(
        self, keys: Sequence[K], batch: Batch[K, V] | None, each: Sequence[Batch[K, V]] = ()
    ) -> None:
        """All keys are in `batch`, or else in `each` their own."""
        self.keys, self.batch, self._each = keys, batch, each
        self._of: Sequence[Batch[K, V]] = list(dict.fromkeys(each)) if each else ()

    def missing(self) -> list[Batch[K, V]]:
        """The batches that are not there yet."""
        if self.batch is not None:
            return [] if self.batch.done else [self.batch]
        return [batch for batch in self._of if not batch.done]

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
            self.batch.wake(self, self.keys[0])
            return
        missing = self.missing()
        for batch in missing:
            batch.ask()
        self._wait_for(missing[0])

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
            return list(map(batch.values.__getitem__, self.keys))
        if self._cancelled is not None:
            raise CancelledError(*self._cancelled)
        if not self.done():
            raise InvalidStateError("Result is not set.")
        return [batch.values[key] for batch, key in zip(self._each, self.keys, strict=True)]

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


class Loader(DataLoader[K, V]):
    """Loads keys asked in one turn of the event loop by one call of `load_batch`.

    A key's value or error is remembered; not so when the batch as a whole failed. Whoever waits has
    a future of their own: one that is cancelled takes nothing from the others.
    """

    _open: Batch[K, V] | None = None
    """The batch that takes keys until its turn comes."""
    has_at_hand = False
    """Whether `at_hand` is worth asking."""

    def __init__(self, stores: Stores) -> None:
        # In place of aiodataloader's, which keeps a future for each key.
        self._stores = stores
        self._batches: dict[K, Batch[K, V]] = {}

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
        batches = self._batches
        fresh = [key for key in keys if key not in batches] if batches else keys
        if fresh and self.has_at_hand and (found := self.at_hand(fresh)):
            ready = Batch(self, list(found))
            ready.end(list(found.values()))
            batches |= dict.fromkeys(found, ready)
            fresh = [key for key in fresh if key not in found]
        if fresh:
            batch = self._open or self._begin()
            added = dict.fromkeys(fresh, batch)
            if not batch.keys and len(added) == len(keys):
                batch.begun_by = keys
            batch.keys += added
            if batches:
                batches |= added
            else:
                self._batches = added
            if len(fresh) == len(keys):
                return Load(keys, batch)
        each = [self._batches[key] for key in keys]
        if each and each.count(each[0]) == len(each):
            return Load(keys, each[0])
        return Load(keys, None, each)

    def load(self, key: K) -> "Future[V]":
        if key is None:
            raise TypeError("load() takes a key, not None")
        batch = self._batches.get(key)
        if batch is None:
            batch = self._open or self._begin()
            batch.keys.append(key)
            self._batches[key] = batch
        future: Future[V] = self.loop.create_future()
        if batch.done:
            settle(future, batch.values[key])
        else:
            batch.wake(future, key)
        return future

    def prime(self, key: K, value: V) -> "Loader[K, V]":
        if key not in self._batches:
            batch = self._batches[key] = Batch(self, [key])
            batch.end([value])
        return self

    def clear(self, key: K) -> "Loader[K, V]":
        batch = self._batches.pop(key, None)
        if batch is not None:
            batch.repeats = True
        return self

    def clear_all(self) -> "Loader[K, V]":
        self._batches.clear()
        if self._open is not None:
            self._open.repeats = True
        return self

    def _begin(self) -> Batch[K, V]:
        """A batch that takes keys until its turn comes."""
        self._open = batch = Batch(self, [])
        return batch

    def dispatch(self, batch: Batch[K, V]) -> None:
        """Load it in a task of its own."""
        if self._open is batch:
            self._open = None
        task = self.loop.create_task(self.load_now(batch))
        self._loading.add(task)
        task.add_done_callback(self._loading.discard)

    async def load_now(self, batch: Batch[K, V], *, here: bool = False) -> None:
        if self._open is batch:
            self._open = None
        if batch.repeats:
            batch.keys = list(dict.fromkeys(batch.keys))
        keys = batch.keys
        try:
            given = await self.load_batch(list(keys))
            if len(given) != len(keys):
                raise ValueError(f"{len(given)} values were loaded for {len(keys)} keys")
        except BaseException as error:
            if here and isinstance(error, CancelledError) and batch.awaited():
                self.dispatch(batch)
                raise
            for key in keys:
                if self._batches.get(key) is batch:
                    del self._batches[key]
            batch.end([error] * len(keys))
            if not isinstance(error, Exception):
                raise
        else:
            batch.end(given)


def settle(future: "Future[Any]", value: Any) -> None:
    """Give it a value or an error, unless it was cancelled."""
    if future.done():
        return
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(value)
