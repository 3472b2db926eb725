"""Ends asynchronous tests whose time is over (`pytest-timeout`), and fails tests that leave their
task cancelled.

pytest-timeout raises its failure from a signal, mostly while the event loop waits. So the failure
leaves the loop, but the test's coroutine stays suspended there. The tests of a session share a
loop, so it would continue during a later test, and raise its errors there.

They share a task, too. `asyncio.TaskGroup` of Python 3.11 and 3.12 leaves its parent task with a
requested cancellation after an error, so `Task.cancelling` tells a later test, or the code that it
calls, of a cancellation that nobody requested.
"""

import asyncio
import functools
import inspect
from collections.abc import Generator
from typing import Any

import pytest

GRACE = 30.0
"""Seconds for a test to leave its contexts after its time is over."""


class Ending:
    """An asynchronous test function that can be ended after its failure has left the event loop."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._task: asyncio.Task[Any] | None = None
        self._ended = asyncio.Event()
        self._overdue = False

    async def run(self, arguments: dict[str, Any]) -> None:
        """Run the test. Exceptions after its time is over are ignored."""
        if self._overdue:  # before its first step
            return
        task = self._task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        try:
            await self._function(**arguments)
            left = task.cancelling() - before
            assert not left, f"{left} cancellations of the test's task are left (Task.uncancel)"
        except BaseException as error:
            if not self._overdue:
                raise
            if isinstance(error, asyncio.CancelledError):
                task.uncancel()
        finally:
            self._task = None
            self._ended.set()

    def end(self) -> None:
        """Cancel the test if it is still suspended in the event loop, or has not begun."""
        self._overdue = True
        if self._task is None:
            return
        self._task.cancel()
        ended = asyncio.wait_for(self._ended.wait(), GRACE)
        self._task.get_loop().run_until_complete(ended)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Run a test, and leave nothing of it in the event loop."""
    function = pyfuncitem.obj
    if not inspect.iscoroutinefunction(function):
        return (yield)
    ending = Ending(function)

    @functools.wraps(function)
    async def run(**arguments: Any) -> None:
        await ending.run(arguments)

    pyfuncitem.obj = run
    try:
        return (yield)
    finally:
        pyfuncitem.obj = function
        ending.end()
