"""Closes awaitables that will never be awaited: their value has no position in the response, or the
request has ended.

An awaitable inside a wrapper's coroutine is not found: wrap an awaitable only where it is started.
"""

from __future__ import annotations

from asyncio import Future, Task
from collections import deque
from collections.abc import ValuesView
from types import CoroutineType
from typing import Any

from gateway.execution.model.state import State


def drop(value: Any, run: State | None = None) -> None:
    """Close the coroutines and cancel the tasks in a resolver's value, also in nested lists.

    Resolvers of other positions may await the same task: `run` cancels it at the end of the
    request. Without `run`, it is cancelled at once. A future that is not a task is not cancelled.
    """
    if type(value) is CoroutineType:
        value.close()
    elif isinstance(value, (list, tuple, deque, ValuesView)):
        for item in value:
            drop(item, run)
    elif isinstance(value, Future):
        value.add_done_callback(observe)
        if isinstance(value, Task):
            if run is None:
                value.cancel()
            else:
                run.dropped.append(value)


def observe(future: Future[Any]) -> None:
    """Retrieve a future's exception, so that asyncio does not log that it was never retrieved."""
    if not future.cancelled():
        future.exception()
