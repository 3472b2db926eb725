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


def drop(value: Any) -> None:
    """Close the coroutines and cancel the tasks in a resolver's value, also in nested lists.

    A future that is not a task is not cancelled, because other callers may share it.
    """
    if type(value) is CoroutineType:
        value.close()
    elif isinstance(value, (list, tuple, deque, ValuesView)):
        for item in value:
            drop(item)
    elif isinstance(value, Future):
        value.add_done_callback(observe)
        if isinstance(value, Task):
            value.cancel()


def observe(future: Future[Any]) -> None:
    """Retrieve a future's exception, so that asyncio does not log that it was never retrieved."""
    if not future.cancelled():
        future.exception()
