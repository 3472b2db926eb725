"""The awaited values of bulk resolvers: loads and coroutines, and the batches that the run itself
loads.

| class | awaits |
| --- | --- |
| `tasks.pending_column.PendingColumn` | awaitables of one column, one for each row |
| `PendingLoad` | the load that a bulk resolver returned, without a task |
| `BulkCall` | the coroutine that a bulk resolver returned |
| `PendingBatch` | a loader's batch, which the run loads itself |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.execution.levels.awaits import complete_values
from gateway.execution.levels.sources import Bulk
from gateway.execution.levels.tables import Column, is_alive
from gateway.execution.model.state import State
from gateway.execution.tasks.frames import without_frame
from gateway.execution.tasks.pending_column import PendingColumn
from gateway.execution.tasks.resolver_task import ResolverTask
from loaders.batches import Batch, Load
from loaders.bulk import checked


class PendingLoad:
    """A field whose bulk resolver returned a load, which calls `done`."""

    __slots__ = ("_column", "_resolver_context", "_rows", "_run", "_source", "load")

    left = 1
    tasks = ()
    values = ()

    def __init__(self, run: State, column: Column, rows: range, source: Bulk, load: Load) -> None:
        self._run, self._column, self._rows, self._source = run, column, rows, source
        self._resolver_context = run.resolver_context
        self.load = load

    def release(self) -> None:
        """Schedule the load, which calls `done` when it is loaded."""
        self._run.add_pending(self)
        self.load.tell(self.done)

    def done(self) -> None:
        self._run.remove_pending(self)
        self._run.has_values(self)

    def flush(self) -> None:
        run, rows = self._run, self._rows
        values = self.load.result()  # nothing else has the list
        if len(values) != len(rows):
            values = list(values_for_each(values, len(rows), self._source))
        if self._resolver_context is None:
            complete_values(run, self._column, rows, values)
        else:
            run.run_in_context(
                self._resolver_context, complete_values, run, self._column, rows, values
            )

    def column(self) -> Column:
        """The column of the values."""
        return self._column

    def wanted(self, _: int) -> bool:
        """Whether any value still has a position in the response."""
        return any(is_alive(self._column, row) for row in self._rows)

    def forget(self) -> None:
        """Stop waiting: no value of the field has a position in the response."""
        self._run.remove_pending(self)
        self.load.cancel()


class BulkCall(PendingColumn):
    """The column of one value: a bulk resolver's coroutine. Context variables that the coroutine
    sets are dropped at its end, as if it ran in a loader's task."""

    __slots__ = ("_column", "_rows", "_source")

    def __init__(self, run: State, column: Column, rows: range, source: Bulk) -> None:
        self._run, self._total = run, 1
        self._column, self._rows, self._source = column, rows, source
        self._resolver_context = run.resolver_context
        self._started, self.left = False, 0
        self._changed_contexts, self.base = None, None
        self.tasks, self.indexes, self.values = [], [], []

    def still_waits(self) -> bool:
        """Whether the coroutine is still running. If not, `values` has its result."""
        if self.values:
            return False
        self._mark_started()
        return True

    def keep_context(self, task: ResolverTask) -> None:
        pass

    def flush(self) -> None:
        run: Any = self._run
        values = values_for_each(self.values[0], len(self._rows), self._source)
        run.run_in_context(
            self._resolver_context, complete_values, run, self._column, self._rows, values
        )

    def column(self) -> Column:
        return self._column

    def wanted(self, _: int) -> bool:
        return any(is_alive(self._column, row) for row in self._rows)


class PendingBatch(PendingColumn):
    """A loader's batch that the run itself loads. `of` are the loads and tasks that wait for the
    batch. The batch wakes the tasks; this column calls `done` of the loads."""

    __slots__ = ("_of",)

    def __init__(self, run: State, batch: Batch, of: Sequence[PendingLoad | ResolverTask]) -> None:
        self._run, self._total, self._started, self._changed_contexts = run, 1, True, None
        self.left, self.indexes, self.values, self._of = 1, [], [], of
        task = ResolverTask(self._run.loop, batch.load(), self, 0)
        self.base, self.tasks = task._context, [task]
        self._run.add_pending(self)

    def first_step(self) -> ResolverTask:
        task: ResolverTask = self.tasks[0]
        task.first_step()
        return task

    def keep_context(self, task: ResolverTask) -> None:
        pass

    def notify_run(self) -> None:
        waiting, self.tasks = self._run.waiting, []
        waiting.discard(self)
        for each in self._of:
            if type(each) is PendingLoad:
                load = each
                if load in waiting and load.load.done():
                    load.done()

    def column(self) -> None:
        """None: the loads that wait for the batch have a column."""

    def wanted(self, _: int) -> bool:
        return any(
            each.wanted(0) if isinstance(each, PendingLoad) else not each.unwanted
            for each in self._of
        )


def values_for_each(values: Any, count: int, source: Bulk) -> Sequence[Any]:
    """Returns a value for each object, from the return value or the exception of a bulk
    resolver."""
    if type(values) is list and len(values) == count:
        return values[:]  # a copy: the resolver may change its list later
    if isinstance(values, Exception):
        return [values] * count
    try:
        return checked(values, count, source.function)
    except TypeError as error:
        return [without_frame(error)] * count
