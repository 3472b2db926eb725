"""The awaited values of a column, gathered until the next round takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.column import Column
from gateway.execution.compiled import start_all
from gateway.execution.dropped import drop
from gateway.execution.goals import Goal, WaitingLoad
from gateway.execution.places import Place, some
from gateway.execution.steps import changed
from gateway.execution.tasks import Light
from loaders.batches import Batch, Load

if TYPE_CHECKING:
    from gateway.execution.attempts import Attempt
    from gateway.execution.complete import Completer
    from gateway.execution.parts import Read
    from gateway.execution.run import Run

Then: TypeAlias = "Callable[[Run, Sequence[Any], Sequence[int] | None], None]"


class Waiting(Column):
    """The coroutines of one column. `then(run, values, numbers)` is called with what has arrived
    (`numbers` are the values' positions, None for all of the column in order).

    Of one that changed its context the value goes on in that context, apart from the others: as
    with graphql-core what hangs on it sees the change, and nothing beside it does.
    """

    __slots__ = ("_ambient", "_apart", "_opened", "_place", "_run", "_then", "_total")

    def __init__(self, run: Run, place: Place, then: Then, total: int) -> None:
        self._run, self._place, self._then, self._total = run, place, then, total
        self._opened = False
        self._ambient = run.ambient
        self._apart: dict[int, Context] | None = None
        """The contexts of those, by their index, that changed theirs."""
        self.base = copy_context()
        self.left = 0
        self.lights, self.indexes, self.values = [], [], []

    def start(self, index: int, awaitable: Any) -> None:
        """Drive an awaitable's first step; the caller makes its own task current again."""
        coro = awaitable if type(awaitable) is CoroutineType else _awaited(awaitable)
        run = self._run
        run.go_on()
        light = Light(run.loop, coro, self, index)
        light.begin()
        if not light.done_:
            self.lights.append(light)
            if isinstance(light.waits, Load):
                run.loads.append(light)
            elif run.waiting or len(self.lights) > 1:
                light.go_on_by_itself()
            else:
                run.lone = light

    def start_all(self, coros: Sequence[Any]) -> None:
        """The same for a whole column of coroutines, each of which goes on by itself."""
        self._run.go_on()
        start_all(self, self._run.loop, coros, Light)

    def _open_now(self) -> None:
        """All have begun: from now on what arrives is for another round."""
        self._opened = True
        self.left = len(self.lights)
        if self.lights:
            self._run.waiting.add(self)

    def open(self) -> tuple[list[Any], list[int] | None]:
        """What ended in its first step; from now on what arrives is for another round."""
        self._open_now()
        apart = self._apart
        if apart is None:
            return self._take()
        common = [n for n, index in enumerate(self.indexes) if index not in apart]
        values, numbers = [self.values[n] for n in common], [self.indexes[n] for n in common]
        self.values = [v for v, i in zip(self.values, self.indexes, strict=True) if i in apart]
        self.indexes = [i for i in self.indexes if i in apart]
        self._run.has_values(self)
        return values, numbers

    def set_apart(self, light: Light) -> None:
        """Its value is to go on in its own context."""
        if self._apart is None:
            self._apart = {}
        self._apart[light.index] = light._context

    def arrived(self, light: Light, value: Any) -> None:
        """A coroutine ended with this value, or raised this Exception."""
        if self._opened:
            if light.unwanted:
                drop(value)
                self._run.unwanted_ended()
                return
            self.left -= 1
            if not (self.left and self.indexes):
                self.first_or_last()
        if changed(light._context, self.base):
            self.set_apart(light)
        self.indexes.append(light.index)
        self.values.append(value)

    def first_or_last(self) -> None:
        """What arrives is the first of this round, or the last of all."""
        if not self.left:
            self._run.waiting.discard(self)
            self.lights = []
        if not self.indexes:
            self._run.has_values(self)

    def ended(self, light: Light, error: BaseException) -> None:
        """A coroutine was cancelled, or raised what is no Exception."""
        if light.unwanted:
            self._run.unwanted_ended()
            return
        if self._opened:
            self.one_less()
        self._run.failed_with(error)

    def one_less(self) -> None:
        """To wait for, without a value."""
        self.left -= 1
        if not self.left:
            self._run.waiting.discard(self)
            self.lights = []

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
        """Go on with what has arrived, as far as the response still has a place for it."""
        apart, self._apart = self._apart, None
        values, numbers = self._take()
        run = self._run
        if run.nulled:
            arrived = range(len(values)) if numbers is None else numbers
            kept = [n for n, index in enumerate(arrived) if self.wanted(index)]
            if len(kept) < len(values):
                drop([v for v, i in zip(values, arrived, strict=True) if not self.wanted(i)])
                numbers, values = [arrived[n] for n in kept], [values[n] for n in kept]
        if apart is not None:
            arrived = range(len(values)) if numbers is None else numbers
            for index, value in zip(arrived, values, strict=True):
                if index in apart:
                    if run.in_line:
                        run.following = apart[index]
                    run.within(apart[index], self._then, run, [value], [index])
            kept = [n for n, index in enumerate(arrived) if index not in apart]
            numbers, values = [arrived[n] for n in kept], [values[n] for n in kept]
        if values:
            run.within(self._ambient, self._then, run, values, numbers)

    def wanted(self, index: int) -> bool:
        return self._run.alive(self._place, index)


class WaitingBulk(Waiting):
    """The same for the one coroutine of a bulk resolver. Its context is its own: it would run
    beside them in a loader's task as well."""

    __slots__ = ("goal",)

    def __init__(self, run: Run, goal: Goal) -> None:
        self._run, self._total, self.goal = run, 1, goal
        self._opened, self.left = False, 0
        self._apart, self.base = None, None
        self.lights, self.indexes, self.values = [], [], []

    def opened(self) -> bool:
        """Whether it waits: else what it gave is there."""
        if self.values:
            return False
        self._open_now()
        return True

    def set_apart(self, light: Light) -> None:
        pass

    def flush(self) -> None:
        self.goal.reach(self.values[0])

    def wanted(self, _: int) -> bool:
        return self.goal.wanted(0)


class WaitingCalls(Waiting):
    """The coroutines of one field of an attempt, for which they are all or nothing: where some end
    earlier on whose values more hangs, or give what isn't as usual, or change their context, the
    attempt is given up, and they go on as any column's."""

    __slots__ = ("_attempt", "_kept", "_read", "_together")

    def __init__(self, attempt: Attempt, read: Read, coros: Sequence[Any]) -> None:
        Waiting.__init__(self, attempt.run, attempt.place, _nowhere, len(coros))
        self._attempt: Attempt | None = attempt
        self._read = read
        self._together = read.patient
        """Whether values wait for the last one without a look at them: nothing hangs on them."""
        self._kept: list[tuple[int, Any]] = []
        """Those that were looked at, by their indexes."""
        if len(coros) == 1:
            self.start(0, coros[0])
        else:
            self.start_all(coros)
        self._run.back()

    def opened(self) -> bool:
        """Whether it waits: else all `values` are there, in order."""
        if not (self.lights or self._apart):
            self.values, _ = self._take()
            return False
        self._open_now()
        if self.values and not (self._together and self.lights):
            self._run.has_values(self)
        return True

    def is_for(self, count: int) -> bool:
        """Whether it is for so many objects."""
        return self._total == count

    def move(self, place: Place, completer: Completer) -> None:
        """From an attempt that was given up to places."""
        self._attempt, self._place, self._then = None, place, completing(completer, place)
        told = bool(self.values) and not self._together
        self._together = False
        self._take_back()
        if self.values and not told:
            self._run.has_values(self)

    def divide(self) -> None:
        """Where some values have no place any more, and others have, let each go its own way."""
        if self._attempt is not None:
            self._attempt.divide()

    def _take_back(self) -> None:
        for index, value in self._kept:
            self.indexes.append(index)
            self.values.append(value)
        self._kept = []

    def first_or_last(self) -> None:
        if not self._together:
            Waiting.first_or_last(self)
        elif not self.left:
            self._run.waiting.discard(self)
            self.lights = []
            self._run.has_values(self)

    def flush(self) -> None:
        attempt = self._attempt
        if attempt is not None:
            if len(self._kept) + len(self.values) == self._total and self._apart is None:
                self._take_back()
                self._run.within(self._ambient, self._all_arrived)
                return
            self._run.within(self._ambient, self._some_arrived)
            if self._attempt is not None:  # kept, or the objects are others at a second look
                drop(self._take()[0])
                return
        Waiting.flush(self)

    def _all_arrived(self) -> None:
        assert self._attempt is not None
        self._attempt.arrived(self._read, self._take()[0])

    def _some_arrived(self) -> None:
        attempt = self._attempt
        assert attempt is not None
        read = self._read
        if self._apart is None and not read.more and attempt.is_usual(read, self.values):
            self._kept.extend(zip(self.indexes, self.values, strict=True))
            self.indexes, self.values = [], []
        else:
            attempt.give_up()

    def wanted(self, index: int) -> bool:
        return Waiting.wanted(self, index) if self._attempt is None else self._attempt.wanted()


class WaitingBatch(Waiting):
    """A loader's batch that is loaded by the run itself; `of` are those that wait for it, and
    nobody tells those of them that are loads."""

    __slots__ = ("_of",)

    def __init__(self, run: Run, batch: Batch, of: Sequence[WaitingLoad | Light]) -> None:
        self._run, self._total, self._opened, self._apart = run, 1, True, None
        self.left, self.indexes, self.values, self._of = 1, [], [], of
        light = Light(self._run.loop, batch.load(), self, 0)
        self.base, self.lights = light._context, [light]
        self._run.waiting.add(self)

    def begin(self) -> Light:
        light: Light = self.lights[0]
        light.begin()
        return light

    def set_apart(self, light: Light) -> None:
        pass

    def first_or_last(self) -> None:
        waiting, self.lights = self._run.waiting, []
        waiting.discard(self)
        for each in self._of:
            if type(each) is WaitingLoad:
                load = each
                if load in waiting and load.load.done():
                    load.done()

    def wanted(self, _: int) -> bool:
        return any(
            each.wanted(0) if isinstance(each, WaitingLoad) else not each.unwanted
            for each in self._of
        )


def completing(completer: Completer, place: Place) -> Then:
    """What has values completed where they belong."""

    def then(run: Run, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
        completer.complete(run, values, place if numbers is None else some(place, numbers))

    return then


def _nowhere(run: Run, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
    """Where the values of an attempt go before it is given up."""
    raise AssertionError("values of an attempt are its own")


async def _awaited(value: Any) -> Any:
    return await value
