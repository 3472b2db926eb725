"""The deadlines of requests: cancels a request that takes too long, with one timer for all
requests.

The usual way is `asyncio.timeout` around each request. It starts and stops a timer for each
request, and almost no timer ever fires. All requests have the same timeout, so the oldest request
reaches its deadline first: one timer for the oldest request is enough, at a quarter of the cost.
Resolvers and their stores read the deadline from a context variable.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, CancelledError, Task, get_running_loop
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from gateway.execution.tasks.current import task_of


class Deadlines:
    """The deadlines of the requests of one event loop."""

    def __init__(self, seconds: float, ends: ContextVar[float | None] | None = None) -> None:
        """`ends` is set to a request's deadline while the request runs, in seconds of the event
        loop's clock."""
        self.seconds, self.variable = seconds, ends
        self.running: dict[Deadline, None] = {}
        """The deadlines of running requests, the earliest first."""
        self._loop: AbstractEventLoop | None = None
        self._armed = False

    def begin(self) -> Deadline:
        """Returns a context manager for one request, like `asyncio.timeout`. When the time is up,
        it cancels the code inside and raises TimeoutError. The error is the request's, and never a
        field's."""
        return Deadline(self)

    def add(self, deadline: Deadline, loop: AbstractEventLoop) -> None:
        if loop is not self._loop:
            self._loop, self._armed = loop, False
            self.running.clear()
        self.running[deadline] = None
        if not self._armed:
            self._armed = True
            loop.call_at(deadline.ends, self._sweep)

    def _sweep(self) -> None:
        assert self._loop is not None
        now = self._loop.time()
        for deadline in list(self.running):
            if deadline.ends > now:
                self._loop.call_at(deadline.ends, self._sweep)
                return
            deadline.expire()
            del self.running[deadline]
        self._armed = False


class Deadline:
    """The deadline of one request."""

    __slots__ = ("_all", "_cancelling", "_expired", "_task", "_token", "ends")

    def __init__(self, all_: Deadlines) -> None:
        self._all = all_

    def __enter__(self) -> Deadline:
        loop = get_running_loop()
        task = task_of(loop)
        assert task is not None
        self._task: Task[Any] = task
        self._expired, self._cancelling = False, task.cancelling()
        self.ends = loop.time() + self._all.seconds
        variable = self._all.variable
        self._token: Token[float | None] | None = None
        if variable is not None:
            self._token = variable.set(self.ends)
        self._all.add(self, loop)
        return self

    @property
    def seconds(self) -> float:
        """The request's timeout in seconds."""
        return self._all.seconds

    @property
    def passed(self) -> bool:
        """Whether the deadline cancelled the request, and nothing else did."""
        return self._expired and self._task.cancelling() - 1 <= self._cancelling

    def expire(self) -> None:
        self._expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            assert self._all.variable is not None
            self._all.variable.reset(self._token)
        self._all.running.pop(self, None)
        # As in asyncio.timeout: if something else also cancelled the task, it stays cancelled.
        if (
            self._expired
            and self._task.uncancel() <= self._cancelling
            and kind is not None
            and issubclass(kind, CancelledError)
        ):
            raise TimeoutError from error
