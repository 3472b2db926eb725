"""The base of pending columns: the fields that compiled tasks write directly."""

from __future__ import annotations

from contextvars import Context
from typing import Any

from gateway.execution.model.state import State


class Column:
    """The awaited values of a column: the tasks that are running, and the values that have
    arrived."""

    __slots__ = ("_run", "base", "indexes", "left", "tasks", "values")

    _run: State
    """The run that waits for the column, until values have arrived."""

    base: Context | None
    """The context with which all tasks began. A task whose context differs at its end has changed a
    context variable. Comparing unchanged contexts compares two pointers; setting a variable to an
    equal value counts as no change."""
    left: int
    """The number of values that are still awaited. It counts after all tasks have begun."""
    tasks: list[Any]
    """The tasks that did not end in their first step. Empty after all tasks have ended."""
    indexes: list[int]
    """The index in the column of each value that has arrived, parallel to `values`."""
    values: list[Any]
    """The values that have arrived since the last flush."""

    def keep_context(self, task: Any) -> None:
        """Complete a task's value in the task's own context."""
        raise NotImplementedError

    def arrived(self, task: Any, value: Any) -> None:
        """Take the value that a task returned, or the Exception that it raised."""
        raise NotImplementedError

    def notify_run(self) -> None:
        """Tell the run about the value that is added next, which is the first value of this round,
        or the last value of the column."""
        raise NotImplementedError
