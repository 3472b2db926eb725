"""The awaited values of a column: starts their tasks, and collects the values for the next
round."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context, copy_context
from types import CoroutineType
from typing import Any

from gateway.execution.model.state import State, Then
from gateway.execution.tasks.column import Column
from gateway.execution.tasks.compiled import start_all
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.resolver_task import ResolverTask
from gateway.execution.tasks.stepped import changed
from loaders.batches import Load


class PendingColumn(Column):
    """The tasks of one column. `then(run, values, indexes)` is called with the values that have
    arrived, and the index of each in the column (None: the whole column in order).

    If a task changed a context variable, its value is completed in the task's own context. As with
    graphql-core, the fields below see the change, and no other field does.
    """

    __slots__ = (
        "_changed_contexts",
        "_positions",
        "_resolver_context",
        "_started",
        "_then",
        "_total",
    )

    def __init__(self, run: State, positions: Any, then: Then, total: int) -> None:
        """`positions` are the positions of the column's values: `levels.tables.Positions`."""
        self._run, self._positions, self._then, self._total = run, positions, then, total
        self._started = False
        self._resolver_context = run.resolver_context
        self._changed_contexts: dict[int, Context] | None = None
        """The contexts of tasks that changed a context variable, by index."""
        self.base = copy_context()
        self.left = 0
        self.tasks, self.indexes, self.values = [], [], []

    def start(self, index: int, awaitable: Any) -> None:
        """Run an awaitable's first step. The caller must call `restore_task` afterwards."""
        coro = awaitable if type(awaitable) is CoroutineType else _awaited(awaitable)
        run = self._run
        task = ResolverTask(run.loop, coro, self, index)
        task.first_step()
        if not task.done_:
            self.tasks.append(task)
            if isinstance(task.waits, Load):
                run.hold_back(task)
            else:
                task.release()

    def start_all(self, coros: Sequence[Any]) -> None:
        """Run the first step of each coroutine, and release the tasks to the event loop. `coros` is
        the whole column."""
        start_all(self, self._run.loop, coros, ResolverTask)

    def _mark_started(self) -> None:
        """Note that all tasks have begun: values that arrive from now on are for a later round."""
        self._started = True
        self.left = len(self.tasks)
        if self.tasks:
            self._run.add_pending(self)

    def take_ready(self) -> tuple[list[Any], list[int] | None]:
        """Returns the values that arrived in the first steps, and their indexes (None: the whole
        column in order). Values that arrive later are for a later round."""
        self._mark_started()
        contexts = self._changed_contexts
        if contexts is None:
            return self._take()
        common = [n for n, index in enumerate(self.indexes) if index not in contexts]
        values, numbers = [self.values[n] for n in common], [self.indexes[n] for n in common]
        self.values = [v for v, i in zip(self.values, self.indexes, strict=True) if i in contexts]
        self.indexes = [i for i in self.indexes if i in contexts]
        self._run.has_values(self)
        return values, numbers

    def keep_context(self, task: ResolverTask) -> None:
        """Complete a task's value in the task's own context."""
        if self._changed_contexts is None:
            self._changed_contexts = {}
        self._changed_contexts[task.index] = task._context

    def arrived(self, task: ResolverTask, value: Any) -> None:
        """Take the value that a task returned, or the Exception that it raised."""
        if self._started:
            if task.unwanted:
                drop(value, self._run)
                self._run.unwanted_ended(task)
                return
            self.left -= 1
            if not (self.left and self.indexes):
                self.notify_run()
        if changed(task._context, self.base):
            self.keep_context(task)
        self.indexes.append(task.index)
        self.values.append(value)

    def notify_run(self) -> None:
        """Tell the run about the value that is added next, which is the first value of this round,
        or the last value of the column."""
        if not self.left:
            self._run.remove_pending(self)
            self.tasks = []
        if not self.indexes:
            self._run.has_values(self)

    def ended(self, task: ResolverTask, error: BaseException) -> None:
        """Note that a task was cancelled, or raised a BaseException that is not an Exception."""
        if task.unwanted:
            self._run.unwanted_ended(task)
            return
        if self._started:
            self.count_down()
        self._run.failed_with(error)

    def count_down(self) -> None:
        """Stop waiting for a task that gives no value."""
        self.left -= 1
        if not self.left:
            self._run.remove_pending(self)
            self.tasks = []

    def _take(self) -> tuple[list[Any], list[int] | None]:
        indexes, values = self.indexes, self.values
        self.indexes, self.values = [], []
        if len(indexes) != self._total:
            return values, indexes
        if self._total > 1 and indexes != list(range(self._total)):
            ordered = [None] * len(values)
            for index, value in zip(indexes, values, strict=True):
                ordered[index] = value
            values = ordered
        return values, None

    def flush(self) -> None:
        """Complete the arrived values that still have a position in the response."""
        contexts, self._changed_contexts = self._changed_contexts, None
        values, numbers = self._take()
        run = self._run
        if run.nulled:
            arrived = range(len(values)) if numbers is None else numbers
            kept = [n for n, index in enumerate(arrived) if self.wanted(index)]
            if len(kept) < len(values):
                drop([v for v, i in zip(values, arrived, strict=True) if not self.wanted(i)], run)
                numbers, values = [arrived[n] for n in kept], [values[n] for n in kept]
        if contexts is not None:
            arrived = range(len(values)) if numbers is None else numbers
            for index, value in zip(arrived, values, strict=True):
                if index in contexts:
                    if run.serial_chain:
                        run.next_field_context = contexts[index]
                    run.run_in_context(contexts[index], self._then, run, [value], [index])
            kept = [n for n, index in enumerate(arrived) if index not in contexts]
            numbers, values = [arrived[n] for n in kept], [values[n] for n in kept]
        if values:
            run.run_in_context(self._resolver_context, self._then, run, values, numbers)

    def column(self) -> Any:
        """The column of the values: a `levels.tables.Column`."""
        return self._positions.column

    def wanted(self, index: int) -> bool:
        return self._run.alive(self._positions, index)


async def _awaited(value: Any) -> Any:
    return await value
