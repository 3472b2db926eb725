"""Executes one request: works off the queue of groups, and waits for awaited values.

A request runs in rounds. A round executes the queued groups, breadth first, and starts all
coroutines of their resolvers. When the queue is empty, the round's failures are written as errors
and nulls. The next round begins one turn of the event loop after the first awaited value has
arrived, with all values that have arrived by then. A missing value delays only the fields below it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from types import CoroutineType
from typing import Any, TypeAlias, cast

from graphql.execution.values import VariableValues
from graphql.pyutils import is_awaitable

from gateway.execution.model.positions import FieldPositions, Order, Positions
from gateway.execution.model.selection import Field, Selection
from gateway.execution.run.base_completer import SLICE, BaseCompleter
from gateway.execution.run.errors import late, located
from gateway.execution.run.groups import Group, execute_group
from gateway.execution.run.large import end_failures, flush, in_slices
from gateway.execution.run.sources import Attribute, Call
from gateway.execution.run.waiting import Waiting
from gateway.execution.tasks.current import task_of
from gateway.execution.tasks.frames import without_frame

Again: TypeAlias = Callable[[], bool]
"""Returns whether the step that has just run must run again."""


class Run(Waiting):
    """The execution of one request."""

    __slots__ = ("_again", "_done", "_in_full", "_steps", "_values")

    def __init__(
        self,
        steps: Sequence[Selection],
        context: Any,
        root: Any,
        variables: Mapping[str, Any],
        values: VariableValues | None,
        in_full: Callable[[], VariableValues],
        again: Again | None,
    ) -> None:
        Waiting.__init__(self)
        self._steps, self.context, self.root = steps, context, root
        self.variables = variables
        self._values, self._in_full, self._again = values, in_full, again
        self.loop = asyncio.get_running_loop()
        self.queue, self.waiting, self.loads, self.deferred_free = deque(), set(), [], []
        self.unchecked, self.dropped = [], []
        self.resolved = self.resolver_context = self.next_field_context = self.helpers = None
        self.serial_chain = self.sliced = False
        self.characters = self.objects_made = self.objects_since_rest = 0
        self._done = (0, 0, 0)
        """The number of steps that are done, and the numbers of errors, and of errors that are left
        out, after them."""

    def variable_values(self) -> VariableValues:
        if self._values is None:
            self._values = self._in_full()
        return self._values

    async def execute(self) -> None:
        """Execute all steps: fill `data` and `errors` (section "Executing Operations" of the
        specification)."""
        self._task = task_of(self.loop)
        try:
            for step in self._steps:
                data, errors, left_out = self.data, len(self.errors), len(self.left_out)
                before = (
                    copy_context() if self.next_field_context is None else self.next_field_context
                )
                while True:
                    self.serial_chain, self._latest = len(self._steps) > 1, []
                    first = self._begin_step(step)
                    if first is not None:
                        field, value, positions = first
                        try:
                            value = await value
                        except Exception as error:
                            value = without_frame(error)
                        field.completer.complete(self, [value], positions, {type(value)})
                        del first, value  # large values must not live until the end
                    await self._work()
                    if self._again is None or not self._again():
                        break
                    self.data, self.next_field_context = data, before
                    del self.errors[errors:], self.left_out[left_out:]
                if self.data is None:
                    break
                self._done = (self._done[0] + 1, len(self.errors), len(self.left_out))
            if self._unwanted or self.dropped:
                await self.end_unwanted()
        except BaseException:
            await self._abandon()
            raise
        finally:
            self._task = None

    def cut(self, seconds: float) -> None:
        """Write the response of a mutation that the deadline cancelled. Fields that are done stay;
        the running field and the fields after it are null, each with an error."""
        if self.data is None:
            return
        done, errors, left_out = self._done
        del self.errors[errors:], self.left_out[left_out:]
        left = [field for step in self._steps[done:] for field in step.fields]
        for field in left:
            error = late(seconds, begun=field is left[0])
            self.errors.append(located(error, field, [field.key]))
            if field.nonnull:
                self.data = None
                return
            self.data[field.key] = None

    def _begin_step(self, step: Selection) -> tuple[Field, Any, Positions] | None:
        """Begin a root selection. Returns None if it was queued or is complete.

        If the step has a single field with an awaitable value, returns the field, the awaitable and
        its positions. The caller awaits it in the request's own task, as graphql-core does: all
        later fields, including the next fields of a mutation, see the context variables that it
        sets. If resolvers of an earlier step still run, the value is awaited beside them: a
        cancellation of the request must reach all of them in one turn (`run.waiting._Waiter`).
        """
        field = _only_field(step)
        beside = self.next_field_context is not None or self._unwanted or self.dropped
        if field is None or beside:
            self.queue.append((step, [self.root], None, self.next_field_context))
            return None
        source = cast("Attribute | Call", field.source)
        group = Group(step, [self.root], None)
        group.out = [self.place_root({field.key: None})]
        positions = FieldPositions(group, field, field.nonnull)
        (value,) = source.start(self, field, group.objs, positions)
        if type(value) is CoroutineType or is_awaitable(value):
            return field, value, positions
        field.completer.complete(self, [value], positions, {type(value)})
        return None

    async def _work(self) -> None:
        """Run rounds until nothing is queued or awaited."""
        self._since = self.loop.time()
        while True:
            queue = self.queue
            while queue:
                entry = queue.popleft()
                selection, objs, positions, context = entry
                count = len(objs)
                if count > SLICE or isinstance(selection, BaseCompleter):
                    await in_slices(self, entry)
                elif context is None:
                    execute_group(self, selection, objs, positions)
                else:
                    self.run_in_context(context, execute_group, self, selection, objs, positions)
                self.objects_made += count
                self.objects_since_rest += count
                if self.objects_since_rest > SLICE:
                    await self.rest()
            if self._failures:
                await self._end_failures()
            if self.nulled:
                await self.check_started()
            if self._fatal is not None:
                raise self._fatal
            # An attempt that was given up has queued objects, or recorded failures.
            if queue or self._failures or self.unchecked:
                continue
            if not self._arrivals:
                if not (self.waiting or self.loads):
                    return
                batch = self._only_batch()
                if batch is not None:
                    await batch.load()
                    self._arrivals.append(self.loads.pop())
                else:
                    await self._wait_for_more()
                self._since = self.loop.time()
            arrivals, self._arrivals = self._arrivals, []
            if self.sliced:
                await flush(self, arrivals)
                continue
            for waiting in arrivals:
                waiting.flush()

    async def _end_failures(self) -> None:
        """Write this round's failures as errors and nulls, in response order if one of them can
        propagate.

        graphql-core executes depth first. If several errors make the same position null, it reports
        the first one, and drops errors below a position that is null already. Response order gives
        the same errors.
        """
        failures, self._failures = self._failures, []
        if len(failures) > SLICE:
            await end_failures(self, failures)
            return
        if any(positions.nonnull for positions, _, _ in failures):
            failures.sort(key=Order())
        if self.write_failures(failures):
            self.null_propagated()
            self.discard_unwanted(self.columns())


def _only_field(step: Selection) -> Field | None:
    """The only field of a step, if it is resolved for each object by itself."""
    fields = step.fields
    single = len(fields) == 1 and isinstance(fields[0].source, (Attribute, Call))
    return fields[0] if single else None
