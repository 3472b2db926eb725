"""Ends awaitables that nobody is going to await."""

from __future__ import annotations

from asyncio import Future, Task
from collections import deque
from collections.abc import ValuesView
from types import CoroutineType
from typing import Any


def drop(value: Any) -> None:
    """Close the coroutines and cancel the tasks in a resolver's value that has no position.

    A future that is no task may be shared, as a loader's: it is left alone.
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
    """Read a future's error, so that asyncio doesn't complain that nobody did."""
    if not future.cancelled():
        future.exception()
