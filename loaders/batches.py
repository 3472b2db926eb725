"""Batches: the keys that a loader loads together. Loads: the awaitables that callers of
`Loader.many` get. A load may need several batches."""

from __future__ import annotations

from asyncio import (
    AbstractEventLoop,
    CancelledError,
    Future,
    InvalidStateError,
    get_running_loop,
)
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextvars import Context
from typing import Any, Protocol

from loaders.single_keys import SingleKeyBatch, settle


class BatchLoader(Protocol):
    """The part of `loaders.base.Loader` that batches and the cache use."""

    has_at_hand: bool

    @property
    def current(self) -> Callable[[], Any]:
        """Returns the span that contains the present work (`datasources.recording`), which a batch
        is recorded in; None if nothing is recorded."""

    @property
    def key_cache(self) -> Any:
        """The loader's `LoaderCache`."""

    @property
    def loop(self) -> AbstractEventLoop: ...

    def dispatch(self, batch: Batch) -> None:
        """Load a batch in a new task."""

    async def load_batch(self, keys: list[Any]) -> Sequence[Any]:
        """Returns a value or an exception for each key, parallel to `keys`."""
        ...

    def at_hand(self, keys: Sequence[Any]) -> dict[Any, Any]:
        """Returns the values that are available without waiting."""
        ...


class Batch:
    """Keys that are loaded together."""

    __slots__ = (
        *("_loader", "_waiters", "asked", "cleared", "done", "first", "keys"),
        *("singles", "slots"),
    )

    def __init__(self, loader: BatchLoader) -> None:
        self._loader: BatchLoader | None = loader
        self.keys: list[Any] = []
        self.first = 0
        self.slots: list[int] | None = None
        """The index of each key's value in `LoaderCache.values`, parallel to `keys`, ascending.
        None: the slots are consecutive, from `first` on."""
        self.asked = False
        """Whether loading has begun or is scheduled."""
        self.done = False
        self.cleared = False
        """Whether the loader was told to forget some of the keys, so that `keys` may have a key
        twice."""
        self.singles: SingleKeyBatch[Any, Any] | None = None
        """The keys that were requested one by one. Their waiters are woken before `_waiters`."""
        self._waiters: dict[Any, list[Future[Any] | Load]] | None = None

    def add(self, keys: list[Any], first: int, slots: list[int] | None = None) -> None:
        """Add keys, with these slots, or, if `slots` is None, with the slots from `first` on. The
        batch owns the list `keys` from now on."""
        if not self.keys:
            self.keys, self.first, self.slots = keys, first, slots
            return
        more = range(first, first + len(keys)) if slots is None else slots
        self.slots = [*self.all_slots(), *more]
        self.keys += keys

    def all_slots(self) -> Sequence[int]:
        """The slots, parallel to `keys`."""
        if self.slots is None:
            return range(self.first, self.first + len(self.keys))
        return self.slots

    def ask(self) -> None:
        """Schedule loading in the third turn of the event loop, unless it is scheduled already."""
        if not self.asked:
            self.asked = True
            assert self._loader is not None
            loop = get_running_loop()
            loop.call_soon(loop.call_soon, self._loader.dispatch, self)

    def load(self) -> Coroutine[Any, Any, None]:
        """Load the batch in the current task. The batch must not be scheduled (`asked`), and no
        caller may add a key any more. If the task is cancelled while others wait, a new task loads
        the batch again."""
        self.asked = True
        assert self._loader is not None
        loading: Coroutine[Any, Any, None] = self._loader.key_cache.load(self._loader, self, True)
        return loading

    def wake(self, waiter: Future[Any] | Load, key: Any) -> None:
        """Wake a waiter when the batch is loaded. Waiters are woken in the order of their keys."""
        waiters = self._waiters
        if waiters is None:
            if not self.asked:
                self.ask()
            self._waiters = {key: [waiter]}
        elif key in waiters:
            waiters[key].append(waiter)
        else:
            waiters[key] = [waiter]

    def forget(self, load: Load) -> None:
        """Remove a load from the waiters."""
        for waiting in (self._waiters or {}).values():
            if load in waiting:
                waiting.remove(load)

    def awaited(self) -> bool:
        """Whether a caller waits for one of the keys."""
        return self.singles is not None or any((self._waiters or {}).values())

    def merge_singles(self) -> None:
        """Merge the waiters of single keys with the other waiters."""
        singles, self.singles = self.singles, None
        if singles is None:
            return
        others = self._waiters or {}
        waiters: dict[Any, list[Future[Any] | Load]] = {}
        for key, futures in zip(singles.keys(), singles.futures(), strict=True):
            waiters[key] = [*futures, *others.pop(key, ())]
        self._waiters = {**others, **waiters}

    def end(self, given: Sequence[Any]) -> None:
        """Wake all waiters in the order of the keys, as aiodataloader does. `given` is parallel to
        `keys`."""
        self.done = self.asked = True
        self._loader = None  # breaks a reference cycle: the loader refers to this batch
        if self._waiters is None:
            if self.singles is not None:
                singles, self.singles = self.singles, None
                singles.end(given)
            return
        self.merge_singles()
        waiters, self._waiters = self._waiters, None
        keys = self.keys
        if len(waiters) == 1:
            keys, given = list(waiters), [given[keys.index(key)] for key in waiters]
        for key, value in zip(keys, given, strict=True):
            for waiter in waiters.pop(key, ()):
                if isinstance(waiter, Load):
                    waiter.batch_done()
                else:
                    settle(waiter, value)


class Load:
    """The awaitable of a column of keys. Awaiting it gives a list parallel to the keys, with a
    value or an exception for each.

    Loading begins when the load is awaited. A load has the interface of asyncio.Future, so that a
    task can wait for it.
    """

    __slots__ = (
        *("_asyncio_future_blocking", "_batches", "_callbacks", "_cancelled", "_keys", "_slots"),
        *("_tell", "_values", "_waits"),
    )

    def __init__(
        self,
        keys: Sequence[Any],
        slots: list[int],
        values: list[Any],
        batches: tuple[Batch, ...],
    ) -> None:
        """`slots` is parallel to `keys`: the index of each key's value in `values`, the list of the
        loader's cache. `batches` are the batches that fill in missing values."""
        self._keys, self._slots, self._values, self._batches = keys, slots, values, batches
        self._asyncio_future_blocking = self._waits = False
        self._callbacks: list[tuple[Callable[[Any], Any], Context | None]] | None = None
        self._cancelled: tuple[Any, ...] | None = None
        """The arguments of the CancelledError to raise."""
        self._tell: Callable[[], None] | None = None

    def missing(self) -> list[Batch]:
        """The batches that are not loaded yet."""
        return [batch for batch in self._batches if not batch.done]

    def only_missing(self) -> Batch | None:
        """The only batch that is not loaded yet; None if there are none or several."""
        only = None
        for batch in self._batches:
            if not batch.done:
                if only is not None:
                    return None
                only = batch
        return only

    def tell(self, callback: Callable[[], None]) -> None:
        """Have the keys loaded. Calls `callback` directly, not through the event loop, as soon as
        the last batch is loaded."""
        self._tell = callback
        self._wait()

    def _wait(self) -> None:
        """Schedule all missing batches at once, then wait for them one after the other."""
        if self._waits:
            return
        self._waits = True
        missing = self.missing()
        for batch in missing:
            batch.ask()
        self._wait_for(missing[0])

    def _wait_for(self, batch: Batch) -> None:
        batch.wake(self, self._one_in(batch)[0])

    def _one_in(self, batch: Batch) -> tuple[Any, int]:
        """Returns a key of the load that is in the batch, and its slot."""
        for key, slot in zip(self._keys, self._slots, strict=True):
            if self._values[slot] is batch:
                return key, slot
        raise LookupError(batch)

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

    def result(self) -> list[Any]:
        """The values, parallel to the keys. Raises InvalidStateError before all batches are loaded,
        and CancelledError after `cancel`."""
        if self._cancelled is not None:
            raise CancelledError(*self._cancelled)
        for batch in self._batches:
            if not batch.done:
                raise InvalidStateError("Result is not set.")
        values = self._values
        return [values[slot] for slot in self._slots]

    def done(self) -> bool:
        if self._cancelled is None:
            for batch in self._batches:
                if not batch.done:
                    return False
        return True

    # -- asyncio.Future's interface

    def __await__(self) -> Generator[Any, None, list[Any]]:
        missing = self.missing()
        if len(missing) == 1:
            self._asyncio_future_blocking = True
            yield self
        else:
            for batch in missing:
                batch.ask()
            one_by_one = [(*self._one_in(batch), batch) for batch in missing]
            for key, slot, batch in one_by_one:
                yield from Load([key], [slot], self._values, (batch,)).__await__()
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
