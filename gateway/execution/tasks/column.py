"""The base of pending columns, with the fields that compiled code writes."""

from __future__ import annotations

from contextvars import Context
from typing import Any


class Column:
    """The awaited values of a column: those that are waited for, and those that have arrived."""

    __slots__ = ("base", "indexes", "left", "tasks", "values")

    base: Context | None
    """The context of all tasks when they began. Comparing it with an unchanged one compares two
    pointers; a context with a variable set to an equal value counts as unchanged."""
    left: int
    """The number of awaited values, once all tasks have begun."""
    tasks: list[Any]
    """The tasks that did not end in their first step, until all have ended."""
    indexes: list[int]
    values: list[Any]

    def set_apart(self, task: Any) -> None:
        """Complete a task's value in the task's own context."""
        raise NotImplementedError

    def arrived(self, task: Any, value: Any) -> None:
        """A coroutine ended with this value, or raised this Exception."""
        raise NotImplementedError

    def first_or_last(self) -> None:
        """Note that the next value is the first of this round, or the last of all."""
        raise NotImplementedError
