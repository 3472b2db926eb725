"""The awaited values of bulk resolvers, which return coroutines or loads, and the batches that the
run loads for them.

| class | awaits |
| --- | --- |
| `tasks.pending_column.PendingColumn` | awaitables of one field, one for each object |
| `PendingField` | (base class) the field of a bulk resolver |
| `PendingLoad` | the load that a bulk resolver returned |
| `PendingBulk` | the coroutine that a bulk resolver returned, for a `PendingField` |
| `PendingBatch` | a loader's batch, which the run loads itself |
| `fused.pending_calls.PendingCalls` | like PendingColumn, for an attempt of the fast path |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Completer, Field
from gateway.execution.model.state import State
from gateway.execution.run.sources import Bulk
from gateway.execution.tasks.frames import without_frame
from gateway.execution.tasks.pending_column import PendingColumn
from gateway.execution.tasks.resolver_task import ResolverTask
from loaders.batches import Batch, Load
from loaders.bulk import checked


class FieldReceiver:
    """The receiver of fields' values on the fast path, in place of response positions:
    `fused.attempts.Attempt`."""

    __slots__ = ()

    def arrived(self, fetch: Any, values: Sequence[Any]) -> None:
        """Take the values of a field (`PendingField.fetch`), which have arrived."""
        raise NotImplementedError

    def wanted(self) -> bool:
        """Whether any of the attempt's objects is still in the response."""
        raise NotImplementedError


class PendingField:
    """A field whose bulk resolver is awaited. The values go to response positions, or, on the fast
    path, to an attempt, as the values of its `fetch`."""

    __slots__ = (
        "_count",
        "_field",
        "_positions",
        "_resolver_context",
        "_run",
        "_source",
        "attempt",
        "fetch",
    )

    fetch: Any
    attempt: FieldReceiver | None

    def __init__(
        self,
        run: State,
        field: Field,
        source: Bulk,
        positions: Positions | None,
        count: int,
    ) -> None:
        self._begin(run, field, source, positions, count)

    def _begin(
        self, run: State, field: Field, source: Bulk, positions: Positions | None, count: int
    ) -> None:
        self._run, self._field, self._source = run, field, source
        self._positions, self._count = positions, count
        self._resolver_context = run.resolver_context
        self.attempt = self.fetch = None

    def is_for(self, count: int) -> bool:
        """Whether the plain path can take over the values for this number of objects (see
        `State.resolved`)."""
        return True

    def move(self, positions: Positions, completer: Completer) -> None:
        """Complete the values at these positions: the attempt was given up."""
        self._positions, self.attempt, self.fetch = positions, None, None

    def null_propagated(self) -> None:
        """Nothing to do: all values arrive together."""

    def deliver(self, given: Any) -> None:
        """Deliver the resolver's return value (or its exception), in the resolver's context."""
        self._run.run_in_context(
            self._resolver_context,
            self._deliver_values,
            values_for_each(given, self._count, self._source),
        )

    def _deliver_values(self, values: Sequence[Any]) -> None:
        if self.attempt is None or self.fetch is None:
            assert self._positions is not None
            self._run.complete_values(values, self._positions, self._field.completer)
        else:
            self.attempt.arrived(self.fetch, values)

    def wanted(self, _: int) -> bool:
        """Whether any value still has a position in the response."""
        if self.attempt is not None:
            return self.attempt.wanted()
        positions = self._positions
        if positions is None:
            return False
        return True in [self._run.alive(positions, i) for i in range(self._count)]


class PendingLoad(PendingField):
    """A field whose bulk resolver returned a load. No coroutine awaits it: it calls `done`."""

    __slots__ = ("load",)

    left = 1
    tasks = ()
    values = ()

    def __init__(
        self,
        run: State,
        field: Field,
        source: Bulk,
        positions: Positions | None,
        count: int,
        load: Load,
    ) -> None:
        self._begin(run, field, source, positions, count)
        self.load = load

    def release(self) -> None:
        """Schedule the load, which calls `done` when it is loaded."""
        self._run.add_pending(self)
        self.load.tell(self.done)

    def done(self) -> None:
        self._run.remove_pending(self)
        self._run.has_values(self)

    def flush(self) -> None:
        values, attempt = self.load.result(), self.attempt
        if attempt is None or self._resolver_context is not None or len(values) != self._count:
            self.deliver(values)
        else:  # like `deliver`, but without copying the list: nothing else has it
            attempt.arrived(self.fetch, values)

    def forget(self) -> None:
        """Stop waiting: no value of the field has a position in the response."""
        self._run.remove_pending(self)
        self.load.cancel()


class PendingBulk(PendingColumn):
    """The column of one value: a bulk resolver's coroutine. Context variables that the coroutine
    sets are dropped at its end, as if it ran in a loader's task."""

    __slots__ = ("pending",)

    def __init__(self, run: State, pending: PendingField) -> None:
        self._run, self._total, self.pending = run, 1, pending
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
        self.pending.deliver(self.values[0])

    def wanted(self, _: int) -> bool:
        return self.pending.wanted(0)


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
