"""What is awaited at one place: the coroutines of a column, and what they gave so far."""

from __future__ import annotations

from contextvars import Context
from typing import Any


class Column:
    """The awaited values of a column: those that are waited for, and those that have arrived."""

    __slots__ = ("base", "indexes", "left", "tasks", "values")

    base: Context | None
    """What all had when they began. To compare it with one that wasn't changed is to compare two
    pointers; one in which something was set to what equals it counts as not changed."""
    left: int
    """How many are waited for, once all have begun."""
    tasks: list[Any]
    """Those that did not end in their first step, until all have ended."""
    indexes: list[int]
    values: list[Any]

    def set_apart(self, task: Any) -> None:
        """Its value is to go on in its own context."""
        raise NotImplementedError

    def arrived(self, task: Any, value: Any) -> None:
        """A coroutine ended with this value, or raised this Exception."""
        raise NotImplementedError

    def first_or_last(self) -> None:
        """What arrives is the first of this round, or the last of all."""
        raise NotImplementedError
