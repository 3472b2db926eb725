"""Coroutines driven without an asyncio.Task each.

A `Light` runs its coroutine's first step at once, inside the request's own task, and each later
step when the future it waits for is done, just as asyncio.Task does. To the coroutine it is the
current task: `asyncio.timeout`, `TaskGroup`, `current_task().cancel()` and context variables work
as in a task of its own. Most coroutines of a request wait once, or never; a task's creation and
first wake-up through the loop is what is saved.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from asyncio import AbstractEventLoop, CancelledError, tasks
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Protocol

from gateway.execution.frames import without_frame

_names = itertools.count(1)


class Sink(Protocol):
    """What is told when a coroutine has ended, with its value or the exception it raised."""

    def arrived(self, light: Light, value: Any) -> None: ...

    def ended(self, light: Light, error: BaseException) -> None:
        """It was cancelled, or raised what isn't an Exception."""


class Light:
    """Stands for one coroutine where asyncio looks for its task."""

    __slots__ = (
        "__weakref__",
        "_asyncio_future_blocking",
        "_callbacks",
        "_cancels",
        "_context",
        "_coro",
        "_fut_waiter",
        "_loop",
        "_message",
        "_must_cancel",
        "_name",
        "_result",
        "done_",
        "index",
        "sink",
    )

    def __init__(
        self,
        loop: AbstractEventLoop,
        coro: Coroutine[Any, Any, Any],
        sink: Sink,
        index: int,
    ) -> None:
        self._loop, self._coro, self.sink, self.index = loop, coro, sink, index
        self._context = contextvars.copy_context()
        self._fut_waiter: Any = None
        self._must_cancel = False
        self._cancels = 0
        self._message: Any = None
        self._name: str | None = None
        self._callbacks: list[tuple[Callable[[Any], Any], contextvars.Context | None]] | None = None
        self._result: tuple[Any, BaseException | None] | None = None
        self._asyncio_future_blocking = False
        self.done_ = False

    # -- running

    def begin(self, outer: Any) -> None:
        """The first step, from inside the task `outer`, which is the current one before and
        after."""
        swap(self._loop, outer, self)
        try:
            self._context.run(self._step, None)
        finally:
            swap(self._loop, self, outer)

    def _wakeup(self, future: Any) -> None:
        """The future it waited for is done: asyncio calls this in the coroutine's context.

        Its result, or exception, is read inside the coroutine, by the future's own `__await__`.
        """
        loop = self._loop
        swap(loop, None, self)
        try:
            self._step(None)
        finally:
            swap(loop, self, None)

    def _resume(self, error: BaseException | None) -> None:
        """The next turn of the loop, after a bare yield."""
        swap(self._loop, None, self)
        try:
            self._step(error)
        finally:
            swap(self._loop, self, None)
            error = None  # whose traceback holds this frame

    def _step(self, error: BaseException | None) -> None:
        if self.done_:
            return
        if self._must_cancel:
            if not isinstance(error, CancelledError):
                error = self._cancelled()
            self._must_cancel = False
        self._fut_waiter = None
        coro = self._coro
        try:
            waits = coro.send(None) if error is None else coro.throw(error)
        except StopIteration as stop:
            if self._must_cancel:  # cancelled in its last step, as Task has it
                self._must_cancel = False
                cancelled = self._cancelled()
                self._finish(None, cancelled)
                self.sink.ended(self, cancelled)
                return
            self._finish(stop.value, None)
            self.sink.arrived(self, stop.value)
        except Exception as raised:
            without_frame(raised)
            self._finish(None, raised)
            self.sink.arrived(self, raised)
        except BaseException as raised:
            without_frame(raised)
            self._finish(None, raised)
            self.sink.ended(self, raised)
        else:
            self._wait(waits)

    def _wait(self, waits: Any) -> None:
        loop = self._loop
        blocking = getattr(waits, "_asyncio_future_blocking", None)
        if blocking:
            if waits is self:
                self._again(RuntimeError(f"Task cannot await on itself: {self!r}"))
            elif _loop_of(waits) is not loop:
                message = f"Task {self!r} got Future {waits!r} attached to a different loop"
                self._again(RuntimeError(message))
            else:
                waits._asyncio_future_blocking = False
                waits.add_done_callback(self._wakeup, context=self._context)
                self._fut_waiter = waits
                if self._must_cancel and waits.cancel(msg=self._message):
                    self._must_cancel = False
        elif waits is None:
            self._again(None)
        elif blocking is None:
            self._again(RuntimeError(f"Task got bad yield: {waits!r}"))
        else:
            message = f"yield was used instead of yield from in task {self!r} with {waits!r}"
            self._again(RuntimeError(message))

    def _again(self, error: BaseException | None) -> None:
        self._loop.call_soon(self._resume, error, context=self._context)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        self.done_ = True
        self._result = (value, error)
        if self._callbacks is not None:
            for callback, context in self._callbacks:
                self._loop.call_soon(callback, self, context=context)
            self._callbacks = None
        # Neither keeps the other alive once it is over.
        self._coro = None  # type: ignore[assignment]

    def _cancelled(self) -> CancelledError:
        return CancelledError() if self._message is None else CancelledError(self._message)

    # -- asyncio.Task's interface

    def cancel(self, msg: Any = None) -> bool:
        if self.done_:
            return False
        self._cancels += 1
        if self._fut_waiter is not None and self._fut_waiter.cancel(msg=msg):
            return True
        self._must_cancel = True
        self._message = msg
        return True

    def cancelling(self) -> int:
        return self._cancels

    def uncancel(self) -> int:
        if self._cancels > 0:
            self._cancels -= 1
        return self._cancels

    def done(self) -> bool:
        return self.done_

    def cancelled(self) -> bool:
        return self._result is not None and isinstance(self._result[1], CancelledError)

    def result(self) -> Any:
        error = self.exception()
        if error is not None:
            raise error
        assert self._result is not None
        return self._result[0]

    def exception(self) -> BaseException | None:
        if self._result is None:
            raise asyncio.InvalidStateError("Result is not set.")
        error = self._result[1]
        if isinstance(error, CancelledError):
            raise error
        return error

    def add_done_callback(
        self, callback: Callable[[Any], Any], *, context: contextvars.Context | None = None
    ) -> None:
        if self.done_:
            self._loop.call_soon(callback, self, context=context)
        elif self._callbacks is None:
            self._callbacks = [(callback, context)]
        else:
            self._callbacks.append((callback, context))

    def remove_done_callback(self, callback: Callable[[Any], Any]) -> int:
        kept = [entry for entry in self._callbacks or () if entry[0] != callback]
        removed = len(self._callbacks or ()) - len(kept)
        self._callbacks = kept or None
        return removed

    def __await__(self) -> Generator[Any, None, Any]:
        if not self.done_:
            self._asyncio_future_blocking = True
            yield self
        return self.result()

    def get_loop(self) -> AbstractEventLoop:
        return self._loop

    def get_coro(self) -> Coroutine[Any, Any, Any] | None:
        return self._coro

    def get_context(self) -> contextvars.Context:
        return self._context

    def get_name(self) -> str:
        if self._name is None:
            self._name = f"Resolver-{next(_names)}"
        return self._name

    def set_name(self, value: object) -> None:
        self._name = str(value)

    def get_stack(self, *, limit: int | None = None) -> list[Any]:
        frame = getattr(self._coro, "cr_frame", None)
        return [] if frame is None else [frame]

    def print_stack(self, *, limit: int | None = None, file: Any = None) -> None:
        print(f"{self!r}: {self.get_stack(limit=limit)}", file=file)

    def __repr__(self) -> str:
        state = "finished" if self.done_ else "pending"
        return f"<{type(self).__name__} {state} name={self.get_name()!r} coro={self._coro!r}>"


def _loop_of(future: Any) -> Any:
    try:
        return future.get_loop()
    except AttributeError:
        return future._loop


def _make_swap() -> Callable[[AbstractEventLoop, Any, Any], None]:
    swap_current = getattr(tasks, "_swap_current_task", None)
    if swap_current is not None:  # from Python 3.12 on

        def swap(loop: AbstractEventLoop, before: Any, after: Any) -> None:
            swap_current(loop, after)

        return swap

    current: dict[Any, Any] = tasks._current_tasks  # type: ignore[attr-defined]

    def swap_in_dict(loop: AbstractEventLoop, before: Any, after: Any) -> None:
        if after is None:
            current.pop(loop, None)
        else:
            current[loop] = after

    return swap_in_dict


swap = _make_swap()
"""Makes a task (or none) the loop's current one: `swap(loop, before, after)`."""
