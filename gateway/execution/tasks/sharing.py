"""Tells which futures a resolver whose value has no position may cancel.

A future does not tell whose it is. A loader or a cache may give it out again after the request, so
a future is cancelled only where it is known to have no other use.
"""

from __future__ import annotations

import gc
from asyncio import Future, Task
from typing import Any

from gateway.execution.tasks.compiled import SteppedTask
from gateway.execution.tasks.dropped import observe

PASSES_ON = "asyncio.futures"
"""The module whose callbacks only pass a cancellation on, to the work of a thread."""

AWAITABLE = ("coroutine", "async_generator", "async_generator_asend")
"""The types of what a wrapper in C, such as a step of an asynchronous generator, refers to. It has
no attribute that tells."""


def awaited_elsewhere(future: Any) -> bool:
    """Whether a task awaits a future, other than resolvers whose values have no position."""
    return any(
        not task.unwanted if isinstance(task, SteppedTask) else isinstance(task, Task)
        for task in map(_listener, _callbacks(future))
    )


def may_cancel(future: Any, coroutine: Any) -> bool:
    """Whether the resolver of `coroutine`, whose value has no position, may cancel the future that
    it awaits.

    A task is cancelled if only such resolvers await it, and so are the work of a thread and what
    `asyncio.gather` awaits. Code of asyncio awaits futures that it made itself: timers, locks,
    queues, streams. Every other future is left alone, because a loader or a cache may have made it.
    """
    if isinstance(future, Task):
        return not awaited_elsewhere(future)
    return _awaited_by_asyncio(coroutine) or (not _has_listeners(future) and _is_free(future))


def release(gathering: Any, dropped: list[Task[Any]]) -> None:
    """Cancel the futures that `asyncio.gather` awaits and that may be cancelled. The tasks among
    them are added to `dropped`."""
    for future in gathering._children:
        if _has_others(future):
            continue
        if isinstance(future, Task):
            dropped.append(future)
        elif hasattr(future, "_children"):
            future.add_done_callback(observe)
            release(future, dropped)
        elif _may_cancel_child(future):
            future.cancel()


def _callbacks(future: Any) -> list[Any]:
    return [callback for callback, _ in getattr(future, "_callbacks", None) or ()]


def _listener(callback: Any) -> Any:
    return getattr(callback, "__self__", None)


def _passes_on(callback: Any) -> bool:
    return getattr(callback, "__module__", "") == PASSES_ON


def _works(future: Any) -> bool:
    """Whether a future is the work of a thread."""
    return any(map(_passes_on, _callbacks(future)))


def _has_listeners(future: Any) -> bool:
    """Whether anything but resolvers whose values have no position waits for a future. A loader of
    strawberry does: if all futures of its batch are cancelled, it loads no later key."""
    return not all(
        _passes_on(callback)
        or (isinstance(task := _listener(callback), SteppedTask) and task.unwanted)
        for callback in _callbacks(future)
    )


def _may_cancel_child(future: Any) -> bool:
    """Whether a future that one call of `asyncio.gather` awaits may be cancelled."""
    return not _has_others(future) and _is_free(future)


def _has_others(gathered: Any) -> bool:
    """Whether anything besides one call of `asyncio.gather` waits for a future."""
    return sum(not _passes_on(callback) for callback in _callbacks(gathered)) > 1


def _is_free(future: Any) -> bool:
    """Whether a future that nothing else waits for may be cancelled."""
    if hasattr(future, "_children"):
        return all(map(_may_cancel_child, future._children))
    return type(future) is not Future or _works(future)


def _awaited_by_asyncio(coroutine: Any) -> bool:
    """Whether the code that awaits a coroutine's future is asyncio's. `wait_for` awaits the future
    of its caller."""
    frame = None
    code = coroutine
    while code is not None:
        frame = _frame(code) or frame
        code = _inner(code)
    if frame is None:
        return False
    module = str(frame.f_globals.get("__name__"))
    return module.startswith("asyncio.") and frame.f_code.co_name != "wait_for"


def _frame(code: Any) -> Any:
    """Returns the frame of a coroutine or generator, or None for something else."""
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        if hasattr(code, name):
            return getattr(code, name)
    return None


def _inner(code: Any) -> Any:
    """Returns what a coroutine or generator awaits; None at the end."""
    for name in ("cr_await", "gi_yieldfrom", "ag_await"):
        if hasattr(code, name):
            return getattr(code, name)
    return next((of for of in gc.get_referents(code) if type(of).__name__ in AWAITABLE), None)
