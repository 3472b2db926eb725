"""One request's execution: groups in the order they are found, and what is waited for.

Work that is ready is done in rounds. A round makes group after group, breadth first, and starts
every coroutine it meets; when nothing is left but waiting, its errors are settled, and the next
round begins one turn of the loop after the first awaited value has arrived, with all that have
arrived by then. What depends on a value that is still missing waits for it alone.
"""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import GraphQLError, located_error
from graphql.execution.values import VariableValues
from graphql.pyutils import is_awaitable

from gateway.execution.groups import SLICE, Group
from gateway.execution.kinds import kinds_of, none_awaited
from gateway.execution.places import Base, Place, some
from gateway.execution.tasks import Light
from resolvers.bulk import checked

if TYPE_CHECKING:
    from gateway.execution.bind import Bulk
    from gateway.execution.collect import Field, Selection
    from gateway.execution.plan import Variant

Complete: TypeAlias = "Callable[[Run, Sequence[Any], Place], None]"
Then: TypeAlias = "Callable[[Run, Sequence[Any], Sequence[int] | None], None]"

BUDGET = 0.004
"""Seconds of work between rests, for responses of thousands of objects."""


class Run:
    """The state of one execution."""

    def __init__(
        self,
        variant: Variant,
        context: Any,
        root: Any,
        variables: Mapping[str, Any],
        values: VariableValues | None,
        inputs: dict[str, Any],
    ) -> None:
        self.variant, self.context, self.root = variant, context, root
        self.variables = variables
        self._values, self._inputs = values, inputs
        self.queue: deque[tuple[Selection, Sequence[Any], Place | None]] = deque()
        self.data: dict[str, Any] | None = {}
        """The response, null when a null climbed to its top."""
        self.errors: list[GraphQLError] = []
        self._failures: list[tuple[Place, int, BaseException]] = []
        self._nulled = False
        self._sinks: list[_Sink] = []
        self._pending: set[Light] = set()
        self._dying: set[Light] = set()
        self._fatal: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._task: Any = None
        self._since = 0.0
        self.made = 0
        self._unrested = 0

    def variable_values(self) -> VariableValues:
        """As graphql-core has them, with where they came from."""
        if self._values is None:
            self._values = self.variant.plan.variables.in_full(self._inputs)
        return self._values

    # -- the whole

    async def execute(self) -> None:
        """Fill `data` and `errors`."""
        self._task = asyncio.current_task()
        try:
            for step in self.variant.steps:
                self.queue.append((step, [self.root], None))
                await self._finish()
                if self.data is None:
                    break
            while self._dying:
                await self._wait()
        except BaseException:
            await self._abandon()
            raise
        finally:
            self._task = None

    async def _finish(self) -> None:
        """Work until nothing is waited for."""
        self._since = self._loop.time()
        while True:
            queue = self.queue
            while queue:
                group = Group(*queue.popleft())
                count = len(group.objs)
                if count > SLICE:
                    await group.run_slowly(self)
                else:
                    group.run(self)
                self.made += count
                self._unrested += count
                if self._unrested > SLICE:
                    await self.rest()
            if self._failures:
                self._settle_failures()
            if self._fatal is not None:
                raise self._fatal
            if not self._sinks:
                if not self._pending:
                    return
                await self._wait()
                self._since = self._loop.time()
            sinks, self._sinks = self._sinks, []
            for sink in sinks:
                sink.flush()

    async def rest(self) -> None:
        """Let others have the loop, if it was held for long."""
        self._unrested = 0
        if self._loop.time() - self._since > BUDGET:
            await asyncio.sleep(0)
            self._since = self._loop.time()

    async def _wait(self) -> None:
        if self._fatal is not None:
            return
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _abandon(self) -> None:
        """Cancel all that is pending, and wait until it has ended."""
        left = self._pending | self._dying
        self._pending, self._dying = set(), left
        for light in list(left):
            light.cancel()
        while self._dying:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            except CancelledError:
                for light in list(self._dying):
                    light.cancel()
            finally:
                self._waiter = None

    def place_root(self, made: dict[str, Any]) -> dict[str, Any]:
        """Put the root's fields into the response."""
        assert self.data is not None
        self.data.update(made)
        return self.data

    # -- awaiting

    def begin(
        self, values: Sequence[Any], place: Place, complete: Complete
    ) -> tuple[Sequence[Any], Sequence[int] | None]:
        """The values that are there at once, and which they are (None: all). The others are
        completed when they are there."""
        kinds = kinds_of(values)
        if none_awaited(kinds):
            return values, None

        def then(run: Run, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
            complete(run, values, place if numbers is None else some(place, numbers))

        return self._begin(values, place, then)

    def settle(self, values: Sequence[Any], place: Place, complete: Complete) -> None:
        """Complete those that are there, and the others when they are."""
        ready, numbers = self.begin(values, place, complete)
        if ready:
            complete(self, ready, place if numbers is None else some(place, numbers))

    def ask(self, values: Sequence[Any], place: Place, then: Then) -> None:
        """Call `then` with those that are there and which they are, and again with the others."""
        ready, numbers = self._begin(values, place, then)
        if ready:
            then(self, ready, numbers)

    def _begin(
        self, values: Sequence[Any], place: Place, then: Then
    ) -> tuple[Sequence[Any], Sequence[int] | None]:
        sink: _Sink | None = None
        for i, value in enumerate(values):
            if type(value) is CoroutineType:
                coro: Any = value
            elif is_awaitable(value):
                coro = _awaited(value)
            else:
                if sink is not None:
                    sink.indexes.append(i)
                    sink.values.append(value)
                continue
            if sink is None:
                sink = _Sink(self, place, then, len(values))
                sink.indexes.extend(range(i))
                sink.values.extend(values[:i])
            self._start(coro, sink, i)
        if sink is None:
            return values, None
        return sink.open()

    def _start(self, coro: Any, sink: _Sink, index: int) -> None:
        light = Light(self._loop, coro, sink, index)
        light.begin(self._task)
        if not light.done_:
            self._pending.add(light)

    def call_bulk(
        self, field: Field, source: Bulk, objs: Sequence[Any], place: Place
    ) -> Sequence[Any] | None:
        """The values, if they are there at once; else they are completed when they are."""
        count = len(objs)
        try:
            values = source.start(self, objs)
        except Exception as error:
            return [error] * count
        if is_awaitable(values):

            def then(run: Run, answers: Sequence[Any], _: Sequence[int] | None) -> None:
                run.settle(self._each(answers[0], count, source), place, field.completer.complete)

            sink = _BulkSink(self, place, then, count)
            coro = values if type(values) is CoroutineType else _awaited(values)
            self._start(coro, sink, 0)
            at_once, _ = sink.open()
            if not at_once:
                return None
            values = at_once[0]
        ready, numbers = self.begin(
            self._each(values, count, source), place, field.completer.complete
        )
        if numbers is None:
            return ready
        field.completer.complete(self, ready, some(place, numbers))
        return None

    def _each(self, values: Any, count: int, source: Bulk) -> Sequence[Any]:
        if isinstance(values, Exception):
            return [values] * count
        try:
            return checked(values, count, source.function)
        except TypeError as error:
            return [error] * count

    # -- errors

    def fail(self, place: Place, i: int, error: BaseException) -> None:
        """A position failed: its value is null, or that of what is above it."""
        if not isinstance(error, Exception):
            if self._fatal is None:
                self._fatal = error
            return
        self._failures.append((place, i, error))

    def _settle_failures(self) -> None:
        """Turn this round's failures into errors and nulls, in the order of the response.

        As graphql-core, which goes depth first: of the errors that make the same position null
        the first is reported, and of those below it only what came before.
        """
        failures, self._failures = self._failures, []
        if any(place.nonnull for place, _, _ in failures):
            failures.sort(key=_order)
        swept = False
        for place, i, error in failures:
            path = self._path(place, i)
            if path is None:
                continue
            base, j = place.base(i)
            self.errors.append(located_error(error, base.field.nodes, path))  # type: ignore[arg-type]
            swept |= self._nullify(base, j)
        if swept:
            self._nulled = True
            for light in list(self._pending):
                sink = light.sink
                assert isinstance(sink, _Sink)
                if not sink.wanted(light.index):
                    self._pending.discard(light)
                    self._dying.add(light)
                    light.cancel()

    def _path(self, place: Place, i: int) -> list[str | int] | None:
        """Where it is; None if it, or what is above it, is null already."""
        if self.data is None:
            return None
        path: list[str | int] = []
        above: Place | None = place
        while above is not None:
            base, i = above.base(i)
            if i in base.dead:
                return None
            path.append(base.step(i)[0])
            above, i = base.above(i)
        path.reverse()
        return path

    def alive(self, place: Place, i: int) -> bool:
        """Whether a position is still part of the response."""
        return not self._nulled or self._path(place, i) is not None

    def _nullify(self, base: Base, i: int) -> bool:
        """Make the nearest position that may be null so. Whether that is one above."""
        climbed = False
        while base.nonnull:
            climbed = True
            above, i = base.above(i)
            if above is None:
                self.data = None
                return True
            base, i = above.base(i)
        base.dead.add(i)
        if climbed:
            base.put(i, None)
        return climbed

    # -- what sinks tell

    def _arrived(self, light: Light, sink: _Sink) -> bool:
        """Whether what arrived is still wanted."""
        if light in self._dying:
            self._dying.discard(light)
            if not self._dying:
                self._wake()
            return False
        self._pending.discard(light)
        return True

    def _has_values(self, sink: _Sink) -> None:
        self._sinks.append(sink)
        self._wake()

    def _ended(self, light: Light, sink: _Sink, error: BaseException) -> None:
        if self._arrived(light, sink) and self._fatal is None:
            self._fatal = error
            self._wake()


class _Sink:
    """Gathers what the coroutines of a column give, until the next round takes it."""

    __slots__ = ("_opened", "_place", "_run", "_then", "indexes", "total", "values")

    def __init__(self, run: Run, place: Place, then: Then, total: int) -> None:
        self._run, self._place, self._then, self.total = run, place, then, total
        self._opened = False
        self.indexes: list[int] = []
        self.values: list[Any] = []

    def arrived(self, light: Light, value: Any) -> None:
        if self._opened:
            if not self._run._arrived(light, self):
                return
            if not self.indexes:
                self._run._has_values(self)
        self.indexes.append(light.index)
        self.values.append(value)

    def ended(self, light: Light, error: BaseException) -> None:
        self._run._ended(light, self, error)

    def open(self) -> tuple[list[Any], list[int] | None]:
        """What ended in its first step; from now on what arrives is for another round."""
        self._opened = True
        return self._take()

    def _take(self) -> tuple[list[Any], list[int] | None]:
        indexes, values = self.indexes, self.values
        self.indexes, self.values = [], []
        if len(indexes) != self.total:
            return values, indexes
        if any(i != index for i, index in enumerate(indexes)):
            ordered = [None] * len(values)
            for index, value in zip(indexes, values, strict=True):
                ordered[index] = value
            values = ordered
        return values, None

    def flush(self) -> None:
        values, numbers = self._take()
        run = self._run
        if run._nulled:
            arrived = range(len(values)) if numbers is None else numbers
            kept = [n for n, index in enumerate(arrived) if self.wanted(index)]
            if len(kept) < len(values):
                numbers, values = [arrived[n] for n in kept], [values[n] for n in kept]
        if values:
            self._then(run, values, numbers)

    def wanted(self, index: int) -> bool:
        return self._run.alive(self._place, index)


class _BulkSink(_Sink):
    """The same for the one coroutine of a bulk resolver."""

    __slots__ = ("_count",)

    def __init__(self, run: Run, place: Place, then: Then, count: int) -> None:
        super().__init__(run, place, then, 1)
        self._count = count

    def wanted(self, index: int) -> bool:
        return any(self._run.alive(self._place, i) for i in range(self._count))


async def _awaited(value: Any) -> Any:
    return await value


def _order(failure: tuple[Place, int, BaseException]) -> list[int]:
    """The failure's place in the response, to sort by."""
    place: Place | None
    place, i, _ = failure
    ranks = []
    while place is not None:
        base, i = place.base(i)
        ranks.append(base.step(i)[1])
        place, i = base.above(i)
    ranks.reverse()
    return ranks
