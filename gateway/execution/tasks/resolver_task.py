"""The task of a resolver's coroutine: cancellation, errors, and asyncio.Task's interface.

The usual way is an asyncio.Task for each coroutine. The event loop then runs its first step one
turn later, but most coroutines of a request await once or never. A ResolverTask runs the first step
at once, inside the request's own task. It runs each later step when the awaited future is done, as
asyncio.Task does.

During a step, the ResolverTask is the event loop's current task. `asyncio.timeout`, `TaskGroup`,
`current_task().cancel()` and context variables therefore work as in an asyncio.Task.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import sys
from asyncio import AbstractEventLoop, CancelledError, Future
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Protocol

from gateway.execution.tasks.compiled import SteppedTask
from gateway.execution.tasks.current import enter, leave
from gateway.execution.tasks.dropped import drop, observe
from gateway.execution.tasks.frames import without_frame
from gateway.execution.tasks.sharing import may_cancel, release

_names = itertools.count(1)
FORGIVING = sys.version_info >= (3, 13)
"""Whether `uncancel` also drops a requested cancellation that was not delivered yet. asyncio does
so since Python 3.13."""


class Sink(Protocol):
    """The receiver of the outcomes of tasks: `tasks.pending_column.PendingColumn`."""

    def arrived(self, task: Any, value: Any) -> None:
        """Take the value that a task returned, or the Exception that it raised."""

    def ended(self, task: Any, error: BaseException) -> None:
        """Note that a task was cancelled, or raised a BaseException that is not an Exception."""

    def count_down(self) -> None:
        """Stop waiting for one task."""


class ResolverTask(SteppedTask):
    """The task of one coroutine, with the interface of asyncio.Task."""

    _asyncio_future_blocking = False
    _cancels = 0
    _message: Any = None
    _name: str | None = None
    _error: BaseException | None = None
    sink: Any  # a Column that is also a Sink

    # -- running

    def release(self) -> None:
        """Register a callback with the awaited future, so that the event loop continues the
        coroutine. Must be called in the turn of the first step."""
        waits, self.waits = self.waits, None
        if self._fut_waiter is not None:
            waits.add_done_callback(self._wakeup, context=self._context)
        else:
            wrong = None if waits is None else self._bad_yield(waits)
            self._loop.call_soon(self._resume, wrong, context=self._context)

    def _resume(self, error: BaseException | None) -> None:
        """Continue after a bare yield, or throw an error into the coroutine."""
        if error is None:
            self._wakeup(None)
            return
        enter(self._loop, self)
        try:
            waits = self._coro.throw(error)
        except StopIteration as stop:
            self._stopped(stop.value)
        except BaseException as raised:
            self._raised(without_frame(raised))
        else:
            self._wait(waits)
        finally:
            leave(self._loop, None)
            error = None  # its traceback refers to this frame

    def _wait(self, waits: Any) -> None:
        """Wait for the future that the coroutine yielded."""
        if (type(waits) is not Future or waits._loop is not self._loop) and not self._may_wait(
            waits
        ):
            self._loop.call_soon(self._resume, self._bad_yield(waits), context=self._context)
            return
        waits._asyncio_future_blocking = False
        waits.add_done_callback(self._wakeup, context=self._context)
        self._fut_waiter = waits
        if self._must_cancel and waits.cancel(msg=self._message):
            self._must_cancel = False

    def _may_wait(self, waits: Any) -> bool:
        """Whether a yielded object is a future of this loop that can be awaited."""
        if type(waits) is Future and waits._loop is self._loop:
            return bool(waits._asyncio_future_blocking)
        return bool(
            getattr(waits, "_asyncio_future_blocking", None)
            and waits is not self
            and _loop_of(waits) is self._loop
        )

    def _begun(self, waits: Any) -> None:
        """Note the future that the first step awaits."""
        self.waits = waits
        if self._may_wait(waits):
            waits._asyncio_future_blocking = False  # other tasks may await it in the same turn
            self._fut_waiter = waits
            if self._must_cancel and waits.cancel(msg=self._message):
                self._must_cancel = False

    def _ended_at_once(self, value: Any) -> None:
        """Take the result of a coroutine that ended in its first step."""
        if self._must_cancel:
            self._stopped(value)
            return
        self.done_ = True
        self._coro = None  # type: ignore[assignment]
        self.sink.arrived(self, value)

    def _stopped(self, value: Any) -> None:
        if self._must_cancel:  # the coroutine cancelled its own task in its last step
            drop(value, self.sink._run)
            self._raised(self._cancelled())
        else:
            self._finish(value, None)
            self.sink.arrived(self, value)

    def _raised(self, error: BaseException) -> None:
        self._finish(None, error)
        if isinstance(error, Exception):
            self.sink.arrived(self, error)
        else:
            self.sink.ended(self, error)

    def _bad_yield(self, waits: Any) -> RuntimeError | None:
        """Returns the error for an object that the coroutine must not yield; None for a bare
        yield. The messages are asyncio's."""
        blocking = getattr(waits, "_asyncio_future_blocking", None)
        if waits is None:
            return None
        if waits is self:
            return RuntimeError(f"Task cannot await on itself: {self!r}")
        if blocking is None:
            return RuntimeError(f"Task got bad yield: {waits!r}")
        if not blocking:
            return RuntimeError(f"yield was used instead of yield from in task {self!r}")
        return RuntimeError(f"Task {self!r} got Future {waits!r} attached to a different loop")

    def _finish(self, value: Any, error: BaseException | None) -> None:
        self.done_ = True
        self._coro = None  # type: ignore[assignment]
        if self._callbacks is not None:
            for callback, context in self._callbacks:
                self._loop.call_soon(callback, self, context=context)
            self._callbacks = None
        self._result = value
        if error is not None:
            self._error = error

    def _cancelled(self) -> CancelledError:
        self._must_cancel = False
        return CancelledError() if self._message is None else CancelledError(self._message)

    def _cancelled_at(self, future: Any) -> BaseException:
        """Returns the CancelledError to throw into a coroutine whose awaited future is done. Marks
        the future's exception as retrieved."""
        if future is not None:
            try:
                value = future.result()
                if self.unwanted or self.sink._run.cancelled:
                    drop(value, self.sink._run)
            except CancelledError as error:
                self._must_cancel = False
                return error
            except BaseException:
                pass
        return self._cancelled()

    def stop(self) -> None:
        """Cancel the task, as `cancel` does, but leave the awaited future alone if it may be
        somebody else's: the coroutine then gets the CancelledError, as if it awaited the future
        through `asyncio.shield`."""
        waits = self._fut_waiter
        if waits is None or may_cancel(waits, self._coro):
            self.cancel()
            return
        waits.remove_done_callback(self._wakeup)
        waits.add_done_callback(observe)
        if hasattr(waits, "_children"):
            release(waits, self.sink._run.dropped)
        self._fut_waiter = None
        self._cancels += 1
        self._must_cancel = True
        self._loop.call_soon(self._wakeup, None, context=self._context)

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
            if not self._cancels and FORGIVING:
                self._must_cancel = False
        return self._cancels

    def done(self) -> bool:
        return self.done_

    def cancelled(self) -> bool:
        return isinstance(self._error, CancelledError)

    def result(self) -> Any:
        error = self.exception()
        if error is not None:
            raise error
        return self._result

    def exception(self) -> BaseException | None:
        if not self.done_:
            raise asyncio.InvalidStateError("Result is not set.")
        if isinstance(self._error, CancelledError):
            raise self._error
        return self._error

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
