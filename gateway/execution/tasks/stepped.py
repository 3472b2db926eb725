"""Runs the steps of a resolver's coroutine. This is the part of resolver tasks that every request
uses; compiled code (`stepped_in_c.pyx`) replaces it. `resolver_task.py` has the rare cases."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context, copy_context
from typing import Any

from gateway.execution.tasks.column import Column
from gateway.execution.tasks.current import enter, leave
from gateway.execution.tasks.frames import without_frame


class SteppedTask:
    """The task of one coroutine. `ResolverTask` derives from it and handles the rare cases."""

    __slots__ = (
        *("_callbacks", "_context", "_coro", "_fut_waiter", "_loop", "_must_cancel", "_result"),
        *("done_", "index", "sink", "unwanted", "waits"),
    )

    def __init__(
        self, loop: AbstractEventLoop, coro: Coroutine[Any, Any, Any], sink: Column, index: int
    ) -> None:
        """The outcome goes to `sink`, as the value with this index."""
        self._loop, self._coro, self.sink, self.index = loop, coro, sink, index
        self._context = copy_context()
        self._callbacks: list[tuple[Callable[[Any], Any], Context | None]] | None = None
        self._fut_waiter: Any = None
        self._result: Any = None
        self._must_cancel = self.done_ = False
        self.unwanted = False
        """Whether the task was cancelled because its value has no position in the response."""
        self.waits: Any = None
        """The object that the first step awaits. None after `release` has taken it."""

    def first_step(self) -> None:
        """Run the first step. The caller must call `restore_task` afterwards."""
        enter(self._loop, self)
        try:
            waits = self._context.run(self._coro.send, None)
        except StopIteration as stop:
            self._ended_at_once(stop.value)
        except BaseException as raised:
            self._raised(without_frame(raised))
        else:
            if waits is not None:
                self._begun(waits)

    def only_yielded(self) -> bool:
        """Whether the first step only yielded to the event loop, as `asyncio.sleep(0)` does."""
        return self.waits is None and not self.done_

    def next_step(self) -> None:
        """Run the step after a bare yield. The caller must call `restore_task` afterwards."""
        self._context.run(self._wakeup, None)

    def _wakeup(self, future: Any) -> None:
        """Run the next step: the awaited future is done. Must be called in the coroutine's context.

        The coroutine reads the future's result or exception itself, in the future's `__await__`.
        """
        self._fut_waiter = None
        if self._must_cancel:
            self._resume(self._cancelled_at(future))
            return
        loop = self._loop
        enter(loop, self)
        try:
            waits = self._coro.send(None)
        except StopIteration as stop:
            self._stopped(stop.value)
        except BaseException as raised:
            self._raised(without_frame(raised))
        else:
            self._wait(waits)
        finally:
            leave(loop, None)

    def release(self) -> None:
        raise NotImplementedError

    def _begun(self, waits: Any) -> None:
        raise NotImplementedError

    def _cancelled_at(self, future: Any) -> BaseException:
        raise NotImplementedError

    def _ended_at_once(self, value: Any) -> None:
        raise NotImplementedError

    def _raised(self, error: BaseException) -> None:
        raise NotImplementedError

    def _resume(self, error: BaseException | None) -> None:
        raise NotImplementedError

    def _stopped(self, value: Any) -> None:
        raise NotImplementedError

    def _wait(self, waits: Any) -> None:
        raise NotImplementedError


def start_all(
    column: Column, loop: AbstractEventLoop, coros: Sequence[Any], make: type[SteppedTask]
) -> None:
    """Run the first step of each coroutine of a column, and release the tasks to the event loop.
    `coros` is parallel to the column."""
    for i, coro in enumerate(coros):
        task = make(loop, coro, column, i)
        task.first_step()
        if not task.done_:
            column.tasks.append(task)
            task.release()


def changed(context: Context, base: Context | None) -> bool:
    """Whether a context variable was changed in a context since `base`."""
    try:
        return context != base
    except Exception:  # raised by values that can't be compared
        return True
