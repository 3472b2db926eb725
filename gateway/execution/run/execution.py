"""Executes one request: works through the queue of groups, and waits for what is awaited.

Work is done in rounds. A round executes group after group, breadth first, and starts every
coroutine that it meets. When nothing is left but waiting, the round's errors are settled. The next
round begins one turn of the event loop after the first awaited value has arrived, with all values
that have arrived by then. Only fields below a missing value wait for it.
"""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context, copy_context
from types import CoroutineType
from typing import Any, TypeAlias

from graphql.execution.values import VariableValues
from graphql.pyutils import is_awaitable

from gateway.execution.model.positions import FieldPositions, Positions, order, ranks, some
from gateway.execution.model.selection import Completer, Field, Selection
from gateway.execution.model.state import Pending, Then
from gateway.execution.model.value_classes import PLAIN, none_awaited
from gateway.execution.run.base_completer import SLICE, BaseCompleter
from gateway.execution.run.errors import late, located
from gateway.execution.run.groups import Group, execute_group
from gateway.execution.run.large import flush, forget, in_slices, settle_failures
from gateway.execution.run.pending import PendingBatch, PendingField, PendingLoad
from gateway.execution.run.response import Response
from gateway.execution.run.sources import Attribute, Call
from gateway.execution.tasks.current import enter, leave, task_of
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.frames import without_frame
from gateway.execution.tasks.pending_column import PendingColumn, completing
from gateway.execution.tasks.resolver_task import ResolverTask
from loaders.batches import Batch

Again: TypeAlias = Callable[[], bool]
"""Asks whether the step that was just run must be run again."""

BUDGET = 0.004
"""The seconds of work between rests, for responses of thousands of objects."""


class Run(Response):
    """The execution of one request."""

    __slots__ = (
        *("_again", "_arrivals", "_done", "_in_full", "_latest", "_since", "_steps", "_task"),
        *("_unwanted", "_values", "_waiter"),
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
    ) -> None:
        Response.__init__(self)
        self._steps, self.context, self.root = steps, context, root
        self.variables = variables
        self._values, self._in_full, self._again = values, in_full, again
        self.loop = asyncio.get_running_loop()
        self.queue, self.waiting, self.loads, self.deferred_free = deque(), set(), [], []
        self.given = self.resolver_context = self.next_field_context = self.only_task = None
        self.serial_chain = self.sliced = False
        self.objects_made = self.objects_since_rest = 0
        self._arrivals: list[Any] = []
        self._latest: list[int] = []
        """The rank of the latest awaitable of the serial chain."""
        self._done = (0, 0)
        """The number of steps that are done, and the number of errors at that time."""
        self._unwanted = 0
        """The number of cancelled coroutines that have not ended yet."""
        self._waiter: asyncio.Future[None] | None = None
        self._task: Any = None
        self._since = 0.0

    def variable_values(self) -> VariableValues:
        """The variables as graphql-core has them, with their sources."""
        if self._values is None:
            self._values = self._in_full()
        return self._values

    # -- the operation

    async def execute(self) -> None:
        """Fill `data` and `errors` (section "Executing Operations" of the specification)."""
        self._task = task_of(self.loop)
        try:
            for step in self._steps:
                data, errors = self.data, len(self.errors)
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
                        del first, value  # which would be kept until the end, and may be large
                    await self._work()
                    if self._again is None or not self._again():
                        break
                    self.data, self.next_field_context = data, before
                    del self.errors[errors:]
                if self.data is None:
                    break
                self._done = (self._done[0] + 1, len(self.errors))
            while self._unwanted:
                await self._wait()
        except BaseException:
            await self._abandon()
            raise
        finally:
            self._task = None

    def cut(self, seconds: float) -> None:
        """Keep the steps that are done in the response. The field that was cut off and the fields
        that were not begun are null, each with an error."""
        if self.data is None:
            return
        done, errors = self._done
        del self.errors[errors:]
        left = [field for step in self._steps[done:] for field in step.fields]
        for field in left:
            error = late(seconds, begun=field is left[0])
            self.errors.append(located(error, field, [field.key]))
            if field.nonnull:
                self.data = None
                return
            self.data[field.key] = None

    def _begin_step(self, step: Selection) -> tuple[Field, Any, Positions] | None:
        """Begin a root selection. A step's only field is awaited in the request's own task: then it
        is returned, with its awaitable and positions. The context variables that it sets are seen
        by all that follows, a mutation's next fields too, as under graphql-core."""
        field = _only_field(step)
        if field is None or self.next_field_context is not None:
            self.queue.append((step, [self.root], None, self.next_field_context))
            return None
        assert isinstance(field.source, Attribute | Call)
        group = Group(step, [self.root], None)
        group.out = [self.place_root({field.key: None})]
        positions = FieldPositions(group, field, field.nonnull)
        (value,) = field.source.start(self, field, group.objs, positions)
        if type(value) is CoroutineType or is_awaitable(value):
            return field, value, positions
        field.completer.complete(self, [value], positions, {type(value)})
        return None

    async def _work(self) -> None:
        """Work until nothing is awaited."""
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
                    self.within(context, execute_group, self, selection, objs, positions)
                self.objects_made += count
                self.objects_since_rest += count
                if self.objects_since_rest > SLICE:
                    await self.rest()
            if self._failures:
                await self._settle_failures()
            if self._fatal is not None:
                raise self._fatal
            if queue or self._failures:  # failures of attempts that were given up just now
                continue
            if not self._arrivals:
                if not (self.waiting or self.loads):
                    self.go_on()
                    return
                batch = self._alone()
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

    def within(self, context: Context | None, do: Callable[..., None], *given: Any) -> None:
        """Call a function, and later whatever follows from it, in a resolver's context."""
        if context is None:
            do(*given)
            return
        self.resolver_context = context
        try:
            context.run(do, *given)
        finally:
            self.resolver_context = None

    def go_on(self) -> None:
        """Have the event loop continue the only task that waits."""
        lone = self.only_task
        if lone is not None:
            self.only_task = None
            lone.go_on_by_itself()

    async def _wait_for_more(self) -> None:
        """Wait until some awaited values have arrived."""
        lone, self.only_task = self.only_task, None
        loads, self.loads = self.loads, []
        if loads:
            tasks = self._ask(loads, lone is None)
            if tasks:
                try:
                    await asyncio.sleep(0)
                except BaseException:
                    for task in tasks:
                        task.go_on_by_itself()
                    raise
                for task in tasks:
                    task.go_on()
                self.back()
        if lone is not None:
            if not loads:
                await lone.carry(self._task)
                return
            lone.go_on_by_itself()
        if self._arrivals:
            return
        if all(isinstance(column, PendingBatch) for column in self.waiting):
            # The callers stopped waiting for these batches: their own deadlines passed.
            self._discard([task for column in self.waiting for task in column.tasks])
        else:
            await self._wait()

    def _alone(self) -> Batch | None:
        """The batch that everything waits for, if there is only one and nobody asked for it."""
        if len(self.loads) == 1 and not (self.waiting or self.only_task or self._unwanted):
            only = self.loads[0]
            if isinstance(only, PendingLoad):
                batch = only.load.lacks()
                if batch is not None and not batch.asked:
                    return batch
        return None

    def _ask(self, loads: list[PendingLoad | ResolverTask], alone: bool) -> list[ResolverTask]:
        """Ask the loaders, or load all batches at once: if loads are all that is awaited, nothing
        of this request can add a key. If all loading coroutines only yield to the event loop, they
        are returned: the caller continues them in the next turn."""
        others = 0
        for column in self.waiting:
            others += column.left
        for load in loads:
            others -= not isinstance(load, PendingLoad)
        if not alone or self._unwanted or others:
            for load in loads:
                load.go_on_by_itself()
            return []
        wanted: dict[Batch, list[PendingLoad | ResolverTask]] = {}
        others_ask = set()
        for load in loads:
            awaited = load.load if isinstance(load, PendingLoad) else load.waits
            for batch in awaited.missing():
                if batch.asked:
                    others_ask.add(load)
                elif batch in wanted:
                    wanted[batch].append(load)
                else:
                    wanted[batch] = [load]
        batches = [PendingBatch(self, batch, of) for batch, of in wanted.items()]
        for load in loads:
            if not isinstance(load, PendingLoad) or load in others_ask:
                load.go_on_by_itself()
            else:  # its batches tell it
                self.waiting.add(load)
        begun = []
        for waiting in batches:
            begun.append(waiting.begin())
        if not begun:
            return []
        self.back()
        for task in begun:
            if not task.makes_way():
                break
        else:
            return begun
        for task in begun:
            if not task.done_:
                task.go_on_by_itself()
        return []

    async def rest(self) -> None:
        """Give way to the event loop if this run held it for long."""
        self.objects_since_rest = 0
        if self.loop.time() - self._since > BUDGET:
            self.go_on()
            loads, self.loads = self.loads, []
            for each in loads:
                each.go_on_by_itself()
            await asyncio.sleep(0)
            self._since = self.loop.time()

    async def _wait(self) -> None:
        if self._fatal is not None:
            return
        self._waiter = self.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _abandon(self) -> None:
        """Cancel everything that is pending, and wait until it has ended."""
        self.go_on()
        for column in self.columns():
            if isinstance(column, PendingLoad):
                column.forget()
        forget(self.queue)
        for waiting in {*self.waiting, *self._arrivals}:
            drop(waiting.values)
        tasks = [task for waiting in self.waiting for task in waiting.tasks]
        self._discard([task for task in tasks if not task.done_])
        while self._unwanted:
            self._waiter = self.loop.create_future()
            try:
                await self._waiter
            except CancelledError:
                for task in tasks:
                    task.cancel()
            finally:
                self._waiter = None

    def _discard(self, tasks: list[ResolverTask]) -> None:
        """Cancel coroutines whose result has no position in the response any more."""
        for task in tasks:
            if not task.unwanted:
                task.unwanted = True
                self._unwanted += 1
                task.sink.one_less()
            task.cancel()

    # -- awaiting

    def begin(
        self,
        values: Sequence[Any],
        positions: Positions,
        completer: Completer,
        classes: set[type] | None = None,
    ) -> tuple[Sequence[Any], Sequence[int] | None, set[type] | None]:
        """Start the awaitables among values. Returns the values that are there at once, their
        numbers (None: all), and their classes if known (`classes`, if given). The other values are
        completed when they arrive."""
        if classes is None:
            classes = set(map(type, values))
        if classes <= PLAIN or (CoroutineType not in classes and none_awaited(classes)):
            return values, None, classes
        return *self._begin(values, positions, completing(completer, positions), classes), None

    def settle(self, values: Sequence[Any], positions: Positions, completer: Completer) -> None:
        """Complete values, those awaited when they arrive."""
        if len(values) > SLICE:
            self.queue.append((completer, values, positions, self.resolver_context))
            return
        ready, numbers, classes = self.begin(values, positions, completer)
        if ready:
            at = positions if numbers is None else some(positions, numbers)
            completer.complete(self, ready, at, classes)

    def ask(self, values: Sequence[Any], positions: Positions, then: Then) -> None:
        """Call `then` with the values that are there, and again with those that arrive later."""
        ready, numbers = self._begin(values, positions, then, set(map(type, values)))
        if ready:
            then(self, ready, numbers)

    def _begin(
        self, values: Sequence[Any], positions: Positions, then: Then, classes: set[type]
    ) -> tuple[Sequence[Any], Sequence[int] | None]:
        if len(values) > 1 and classes == {CoroutineType}:
            self.serial_chain = False
            waiting = PendingColumn(self, positions, then, len(values))
            waiting.start_all(values)
            self.back()
            return waiting.open()
        some_wait: PendingColumn | None = None
        for i, value in enumerate(values):
            if type(value) is CoroutineType or is_awaitable(value):
                if some_wait is None:
                    some_wait = PendingColumn(self, positions, then, len(values))
                    some_wait.indexes.extend(range(i))
                    some_wait.values.extend(values[:i])
                if self.serial_chain:
                    self.extend_chain(positions, 1, i)
                some_wait.start(i, value)
            elif some_wait is not None:
                some_wait.indexes.append(i)
                some_wait.values.append(value)
        if some_wait is None:
            return values, None
        self.back()
        return some_wait.open()

    def extend_chain(self, positions: Positions | None, count: int, i: int = 0) -> None:
        """Note that `count` more values are awaited, `i` the first one: see
        `State.serial_chain`."""
        path, above = ranks(positions, i), self._latest
        self.serial_chain = count == 1 and path[: len(above)] == above
        self._latest = path

    def back(self) -> None:
        """Make the request's task the current one again, after others were."""
        if self._task is None:
            leave(self.loop, None)
        else:
            enter(self.loop, self._task)

    def given_before(
        self, field: Field, objs: Sequence[Any]
    ) -> Sequence[Any] | PendingField | PendingColumn | None:
        """The values that the field's resolver gave for these objects in an attempt that was given
        up, or what waits for them."""
        if self.given is None:
            return None
        found = self.given.get(field)
        if found is None:
            return None
        if isinstance(found, PendingColumn | PendingField):
            fits = found.is_for(len(objs))
        else:
            fits = len(found) == len(objs)
        return self.given.pop(field) if fits else None

    def make_again(
        self,
        selection: Selection,
        objs: Sequence[Any],
        positions: Positions,
        given: dict[Field, Any],
    ) -> None:
        """Make the objects of an attempt that was given up, group by group, with the values of its
        resolvers."""
        queue, self.queue, self.given = self.queue, deque(), given
        try:
            execute_group(self, selection, objs, positions)
            while self.queue:
                entry = below, objs, place_below, _ = self.queue.popleft()
                if len(objs) <= SLICE and not isinstance(below, BaseCompleter):
                    execute_group(self, below, objs, place_below)
                else:
                    queue.append(entry)
        finally:
            self.queue, self.given = queue, None
            for values in given.values():  # given for objects that another reading replaced
                drop(values)

    # -- errors

    async def _settle_failures(self) -> None:
        """Turn this round's failures into errors and nulls, in response order.

        graphql-core goes depth first. Of the errors that null the same position it reports the
        first, and of the errors below a nulled position only those that came before.
        """
        failures, self._failures = self._failures, []
        if len(failures) > SLICE:
            await settle_failures(self, failures)
            return
        if any(positions.nonnull for positions, _, _ in failures):
            failures.sort(key=order)
        if self.settle_failures(failures):
            self.divide()
            self.discard_unwanted(self.columns())

    def columns(self) -> list[Any]:
        """The pending columns, and the loads that the loaders were not told of."""
        return [*self.waiting, *(load for load in self.loads if isinstance(load, PendingLoad))]

    def divide(self) -> None:
        """Tell all pending columns that some positions are gone."""
        for column in self.columns():
            column.divide()

    def discard_unwanted(self, waiting: Iterable[Any]) -> None:
        """Cancel what has no position in the response any more."""
        unwanted = []
        for column in waiting:
            if not isinstance(column, PendingLoad):
                unwanted += [
                    task
                    for task in column.tasks
                    if not (task.done_ or task.unwanted or column.wanted(task.index))
                ]
            elif not column.wanted(0):
                column.forget()
                if column in self.loads:
                    self.loads.remove(column)
        self._discard(unwanted)

    # -- called by pending columns

    def has_values(self, waiting: Pending) -> None:
        self._arrivals.append(waiting)
        self._wake()

    def unwanted_ended(self) -> None:
        self._unwanted -= 1
        if not self._unwanted:
            self._wake()

    def failed_with(self, error: BaseException) -> None:
        """End the request with a BaseException that is no Exception, as graphql-core does."""
        if self._fatal is None:
            self._fatal = error
        self._wake()


def _only_field(step: Selection) -> Field | None:
    """The only field of a step, if it is resolved for each object by itself."""
    fields = step.fields
    apart = len(fields) == 1 and isinstance(fields[0].source, Attribute | Call)
    return fields[0] if apart else None
