"""What bulk resolvers' values are for, and loads that nobody awaits in a coroutine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gateway.execution.frames import without_frame
from gateway.execution.places import Place
from loaders.batches import Load
from resolvers.bulk import checked

if TYPE_CHECKING:
    from gateway.execution.attempts import Attempt
    from gateway.execution.bind import Bulk
    from gateway.execution.collect import Field
    from gateway.execution.run import Run
    from gateway.execution.subtrees import Bulked
    from gateway.execution.tasks import Light


class Goal:
    """What a bulk resolver's values are for, if they are awaited: a place of each, or a part of an
    attempt at a subtree."""

    __slots__ = ("_ambient", "_count", "_field", "_place", "_run", "_source", "attempt", "part")

    attempt: Attempt | None
    part: Bulked | None

    def __init__(
        self, run: Run, field: Field, source: Bulk, place: Place | None, count: int
    ) -> None:
        self._run, self._field, self._source = run, field, source
        self._place, self._count, self._ambient = place, count, run.ambient
        self.attempt = self.part = None

    def move(self, place: Place) -> None:
        """From an attempt that was given up to places."""
        self._place, self.attempt, self.part = place, None, None

    def reach(self, given: Any) -> None:
        """Go on with what the resolver gave."""
        values = each(given, self._count, self._source)
        run, attempt, part = self._run, self.attempt, self.part
        if attempt is None or part is None:
            run.within(self._ambient, run.settle, values, self._place, self._field.completer)
        else:
            run.within(self._ambient, attempt.arrived, part, values)

    def wanted(self, _: int) -> bool:
        """Whether something hangs on it."""
        if self.attempt is not None:
            return self.attempt.wanted()
        place = self._place
        return place is not None and any(self._run.alive(place, i) for i in range(self._count))


class WaitingLoad(Goal):
    """The values of a column that are loaded without a coroutine's doing."""

    __slots__ = ("load",)

    left = 1
    lights: tuple[Light, ...] = ()
    values: tuple[Any, ...] = ()

    def __init__(
        self,
        run: Run,
        field: Field,
        source: Bulk,
        place: Place | None,
        count: int,
        load: Load[Any, Any],
    ) -> None:
        # As Goal's, in short: a load is what a page has most of.
        self._run, self._field, self._source = run, field, source
        self._place, self._count, self._ambient = place, count, run.ambient
        self.attempt = self.part = None
        self.load = load

    def go_on_by_itself(self) -> None:
        """Be told when it is there."""
        self._run.waiting.add(self)
        self.load.tell(self.done)

    def done(self) -> None:
        self._run.waiting.discard(self)
        self._run.has_values(self)

    def flush(self) -> None:
        values, attempt = self.load.result(), self.attempt
        if attempt is None or self._ambient is not None or len(values) != self._count:
            self.reach(values)
        else:  # as `reach` does it, in short
            attempt.arrived(self.part, values)  # type: ignore[arg-type]

    def forget(self) -> None:
        """Nothing hangs on it any more."""
        self._run.waiting.discard(self)
        self.load.cancel()


def each(values: Any, count: int, source: Bulk) -> Sequence[Any]:
    """What a bulk resolver gave, or raised, for each object."""
    if type(values) is list and len(values) == count:
        return values
    if isinstance(values, Exception):
        return [values] * count
    try:
        return checked(values, count, source.function)
    except TypeError as error:
        return [without_frame(error)] * count
