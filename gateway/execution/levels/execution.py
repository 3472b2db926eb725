"""Executes one request: works off the queue of new rows, and waits for awaited values.

A request runs in rounds. A round resolves the queued rows, breadth first, and starts all
coroutines of their resolvers. When the queue is empty, the round's failures are written as errors
and nulls. The next round begins one turn of the event loop after the first awaited value has
arrived, with all values that have arrived by then. A missing value delays only the fields below it.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, copy_context
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from graphql import GraphQLError
from graphql.execution.values import VariableValues
from graphql.pyutils import is_awaitable

from gateway.execution.encode import PART, TooLarge
from gateway.execution.levels import slices, writer
from gateway.execution.levels.awaits import NewRows, NewValues
from gateway.execution.levels.failures import MOST_ERRORS, Failures, late, located
from gateway.execution.levels.loads import PendingLoad
from gateway.execution.levels.resolution import complete_in_slices, resolve, resolve_in_slices
from gateway.execution.levels.tables import (
    Column,
    Positions,
    Table,
    cut_loose,
    is_alive,
    new_table,
    rows_from,
    tables_below,
)
from gateway.execution.levels.waits import Turn, Waits, pending_columns
from gateway.execution.levels.writer import BUILT, json_writer
from gateway.execution.model.selection import Selection
from gateway.execution.model.state import State
from gateway.execution.tasks.current import enter, leave, task_of
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.frames import without_frame

if TYPE_CHECKING:
    from gateway.execution.levels.json_writer import TableWriter

Again: TypeAlias = Callable[[], bool]
"""Returns whether the step that has just run must run again."""


class Run(State):
    """The execution of one request: its queue and tables (`roots`), `failures` and `waits`."""

    __slots__ = (
        *("_again", "_begun", "_done", "_in_full", "_since", "_steps", "_task", "_values"),
    )

    def __init__(
        self,
        steps: Sequence[Selection],
        context: Any,
        root: Any,
        variables: Mapping[str, Any],
        values: VariableValues | None,
        in_full: Callable[[], VariableValues],
        again: Again | None,
        most_errors: int = MOST_ERRORS,
    ) -> None:
        self._steps, self.context, self.root = steps, context, root
        self.variables = variables
        self._values, self._in_full, self._again = values, in_full, again
        self.loop = asyncio.get_running_loop()
        self.queue, self.waiting, self.loads = deque(), set(), []
        self.unchecked, self.dropped = [], []
        self.resolver_context = self.next_field_context = None
        self.deferral = self.streamed = None
        self.serial_chain = self.sliced = self.nulled = self.cancelled = False
        self.objects_made = self.objects_since_rest = 0
        self.slice = slices.SLICE
        self.failures, self.waits = Failures(most_errors), Waits()
        self.roots, self.latest, self.garbage = [], [], []
        self._task: Any = None
        self._begun: TableWriter | None = None
        """The writer of a large response that `write_small` has begun."""
        self._since = 0.0
        """The time at which this turn of work began."""
        self._done = (0, 0, 0, 0)
        """The number of steps that are done, and the numbers of errors, of errors that are left
        out, and of streamed lists after them."""

    @property
    def errors(self) -> list[GraphQLError]:
        errors: list[GraphQLError] = self.failures.errors
        return errors

    @property
    def left_out(self) -> list[Exception]:
        left_out: list[Exception] = self.failures.left_out
        return left_out

    def variable_values(self) -> VariableValues:
        if self._values is None:
            self._values = self._in_full()
        return self._values

    async def execute(self) -> None:
        """Execute all steps (section "Executing Operations" of the specification)."""
        self._task = task_of(self.loop)
        failures = self.failures
        try:
            for step in self._steps:
                before = (
                    copy_context() if self.next_field_context is None else self.next_field_context
                )
                while True:
                    self.serial_chain, self.latest = len(self._steps) > 1, []
                    first = self._begin_step(step)
                    if first is not None:
                        column, value = first
                        try:
                            value = await value
                        except Exception as error:
                            value = without_frame(error)
                        column.slot.complete(self, column, range(1), [value], {type(value)})  # type: ignore[attr-defined]
                        del first, value  # large values must not live until the end
                    await self._work()
                    if self._again is None or not self._again():
                        break
                    failures.root_nulled, self.next_field_context = False, before
                    self._go_back()
                if failures.root_nulled:
                    break
                streamed = 0 if self.streamed is None else len(self.streamed)
                errors, left_out = len(failures.errors), len(failures.left_out)
                self._done = (len(self.roots), errors, left_out, streamed)
            if self.waits.unwanted or self.dropped:
                await self.waits.end_unwanted(self)
        except BaseException:
            await self.give_up()
            raise
        finally:
            self._task = None

    def _go_back(self) -> None:
        """Forget the results of the step that is not done."""
        steps, errors, left_out, streamed = self._done
        self._close(self.roots[steps:])
        del self.roots[steps:], self.failures.errors[errors:], self.failures.left_out[left_out:]
        self._forget_streamed(streamed)

    def _forget_streamed(self, first: int = 0) -> None:
        """Close the awaitables in streamed items that will not be completed."""
        if self.streamed is not None:
            drop([items for *_, items in self.streamed[first:]])
            del self.streamed[first:]

    async def go_on(self) -> None:
        """Execute deferred fields, until a deferred fragment is complete or nothing is left."""
        self._task = task_of(self.loop)
        try:
            await self._work()
        except BaseException:
            await self.give_up()
            raise
        finally:
            self._task = None

    async def give_up(self) -> None:
        """Cancel what runs, and wait until it has ended."""
        self._forget_queue()
        self._forget_streamed()
        await self.waits.abandon(self)

    def begin_writing(self) -> None:
        """A turn of work begins, after which the run may rest."""
        self._since = self.loop.time()

    def cut(self, seconds: float) -> None:
        """Write the response of a mutation that the deadline cancelled. Fields that are done stay;
        the running field and the fields after it are null, each with an error."""
        failures = self.failures
        if failures.root_nulled:
            return
        self._go_back()
        for number, step in enumerate(self._steps[self._done[0] :]):
            table = new_table(step.shape, None, 1, (0,))
            self.roots.append(table)
            for column in table.columns:
                field = column.slot.field
                error = late(seconds, begun=not number)
                failures.errors.append(located(error, field, [field.key]))
                if field.nonnull:
                    failures.root_nulled = True
                    return

    def write_small(self, most: int = 0) -> list[bytes] | None:
        """Returns the JSON of the data; None if it is large, or without compiled code: `write`
        writes the rest of it. Raises TooLarge as `write` does."""
        if not BUILT or self.failures.root_nulled or len(self.roots) != 1:
            return None
        root = json_writer.TableWriter(self.roots[0])
        if root.step(writer.AT_ONCE, PART):
            self._begun = root
            return None
        text = root.take()
        if 0 < most < len(text):
            raise TooLarge
        return [text]

    async def write(self, most: int = 0) -> list[bytes]:
        """Returns the JSON of the data, in several parts if it is large. Raises TooLarge if it has
        more than `most` bytes (0: any number)."""
        if self.failures.root_nulled:
            return [b"null"]
        self._since = self.loop.time()
        begun, self._begun = self._begun, None
        return await writer.written(
            self.roots, self.objects_made, self.rest, self.garbage, most, begun
        )

    def close(self) -> None:
        """Break the tables' reference cycles, and free large lists in slices."""
        if self.sliced:
            for table in tables_below(self.roots):
                for column in table.columns:
                    if len(column.values) > slices.SLICE:
                        self.garbage.append(column.values)
            # the caller still uses both for a while
            self.garbage[:0] = [[*self.errors], [*self.left_out]]
        self._close(self.roots)
        if self.garbage:
            sweep(self.loop, self.garbage)

    def _close(self, roots: Sequence[Table]) -> None:
        for table in roots:
            cut_loose(table)

    # -- steps

    def _begin_step(self, step: Selection) -> tuple[Column, Any] | None:
        """Begin a root selection. Returns None if it was queued or is complete.

        If the step has a single field with an awaitable value, returns the field's column and the
        awaitable. The caller awaits it in the request's own task, as graphql-core does: all later
        fields, including the next fields of a mutation, see the context variables that it sets. If
        resolvers of an earlier step still run, the value is awaited beside them: a cancellation of
        the request must reach all of them in one turn (`waits.Waiter`).
        """
        shape = step.shape
        table = new_table(shape, None, 1, (0,))
        self.roots.append(table)
        if table.later is not None:
            table.later.objs.append(self.root)
        beside = self.next_field_context is not None or self.waits.unwanted or self.dropped
        single = len(step.fields) == 1 and len(shape.fetches) == 1 and not shape.fetches[0].bulk
        if beside or not single:
            self.queue.append(NewRows(table, 0, [self.root], self.next_field_context))
            return None
        fetch, column, rows = shape.fetches[0], table.columns[0], rows_from(0, 1)
        (value,) = fetch.source.start(self, fetch.field, [self.root], Positions(column, rows))
        if type(value) is CoroutineType or is_awaitable(value):
            return column, value
        column.slot.complete(self, column, rows, [value], {type(value)})  # type: ignore[attr-defined]
        return None

    async def _work(self) -> None:
        """Run rounds until nothing is queued or awaited."""
        self._since = self.loop.time()
        queue, failures, waits = self.queue, self.failures, self.waits
        while True:
            while queue:
                large = self._work_off()
                if isinstance(large, NewValues):
                    await complete_in_slices(self, large)
                elif large is not None:
                    await resolve_in_slices(self, large)
                if self.objects_since_rest > self.slice:
                    await self.rest()
            if failures.new:
                await self._end_failures()
            if self.nulled:
                await self._check_started()
            if waits.fatal is not None:
                raise waits.fatal
            if queue or failures.new or self.unchecked:
                continue
            if not waits.arrivals:
                if self.deferral is not None and self.deferral.settle():
                    return
                if not (self.waiting or self.loads):
                    return
                batch = waits.only_batch(self)
                if batch is not None:
                    await batch.load()
                    waits.arrivals.append(self.loads.pop())
                else:
                    await waits.for_more(self)
                self._since = self.loop.time()
            arrivals, waits.arrivals = iter(waits.arrivals), []
            try:
                for waiting in arrivals:
                    waiting.flush()
                    if self.sliced:
                        await self.rest()
            except BaseException:
                for waiting in arrivals:
                    drop(waiting.values)
                raise

    def _work_off(self) -> NewRows | NewValues | None:
        """Resolve queued rows, until a rest of the event loop is due. Returns an entry that must be
        worked off in slices."""
        queue, size = self.queue, self.slice
        while queue and self.objects_since_rest <= size:
            entry = queue.popleft()
            if type(entry) is NewValues:
                return entry
            new: NewRows = entry
            table, count = new.table, len(new.objs)
            if table.entry is new:
                table.entry = None
            if count > size:
                return new
            if new.context is None:
                resolve(self, table, new.first, new.objs)
            else:
                self.run_in_context(new.context, resolve, self, table, new.first, new.objs)
            self.count(count)
        return None

    async def _end_failures(self) -> None:
        """Write this round's failures as errors and nulls."""
        failures = self.failures.take()
        if len(failures) <= slices.SLICE:
            propagated = self.failures.write(failures)
        else:
            propagated, garbage = await self.failures.write_in_slices(failures, self.rest)
            self.sliced = True
            self.garbage += garbage
        if propagated:
            self.nulled = True
            for waiting in pending_columns(self):
                self.waits.discard_unwanted(self, [waiting])
                if self.sliced:
                    await self.rest()

    async def _check_started(self) -> None:
        """Discard the tasks and loads that were started below positions that a null had replaced
        before: below a bulk field, whose values arrive together for all objects."""
        started, self.unchecked = self.unchecked, []
        started += [load for load in self.loads if isinstance(load, PendingLoad)]
        for column in started:
            self.waits.discard_unwanted(self, [column])
            if self.sliced:
                await self.rest()

    def _forget_queue(self) -> None:
        """Close the awaitables in queued values that will not be completed."""
        for entry in cast(Any, self.queue):
            if type(entry) is NewValues:
                drop(list(entry.values))
        self.queue.clear()

    async def rest(self) -> None:
        """Yield to the event loop if this run has held it for longer than its budget."""
        self.objects_since_rest = 0
        if self.loop.time() - self._since > slices.BUDGET:
            loads, self.loads = self.loads, []
            for each in loads:
                each.release()
            await Turn(self)
            self._since = self.loop.time()

    def begin_slices(self) -> None:
        self.sliced = True

    # -- reports of tasks

    def has_values(self, waiting: Any) -> None:
        waits: Waits = self.waits
        waits.has_values(waiting)

    def unwanted_ended(self, task: Any) -> None:
        self.waits.unwanted_ended(task)

    def failed_with(self, error: BaseException) -> None:
        self.waits.failed_with(error)

    def alive(self, positions: Any, i: int) -> bool:
        if not self.nulled:
            return True
        if self.failures.root_nulled:
            return False
        at = positions
        return is_alive(at.column, at.rows[i])

    def restore_task(self) -> None:
        if self._task is None:
            leave(self.loop, None)
        else:
            enter(self.loop, self._task)

    def run_in_context(self, context: Context | None, do: Callable[..., None], *given: Any) -> None:
        if context is None:
            do(*given)
            return
        self.resolver_context = context
        try:
            context.run(do, *given)
        finally:
            self.resolver_context = None


def sweep(loop: AbstractEventLoop, garbage: list[list[Any]]) -> None:
    """Free a few slices in each turn of the event loop, the last list's end first."""
    while garbage and not garbage[-1]:
        garbage.pop()
    if garbage:
        del garbage[-1][-slices.SLICE * slices.AT_ONCE :]
        loop.call_soon(sweep, loop, garbage)
