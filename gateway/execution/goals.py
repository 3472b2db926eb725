"""What bulk resolvers' values are for, and loads that nobody awaits in a coroutine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from gateway.execution.frames import without_frame
from gateway.execution.places import Place
from loaders.batches import Load
from resolvers.bulk import checked

if TYPE_CHECKING:
    from gateway.execution.attempts import Asked, Attempt
    from gateway.execution.bind import Bulk
    from gateway.execution.collect import Field
    from gateway.execution.run import Run


class Goal:
    """What a bulk resolver's values are for, if they are awaited: a place of each, or a field of an
    attempt at a subtree."""

    __slots__ = ("_ambient", "_count", "_field", "_place", "_run", "_source", "asked", "attempt")

    asked: Asked | None
    attempt: Attempt | None

    def __init__(
        self, run: Run, field: Field, source: Bulk, place: Place | None, count: int
    ) -> None:
        self._run, self._field, self._source = run, field, source
        self._place, self._count, self._ambient = place, count, run.ambient
        self.attempt = self.asked = None

    def move(self, place: Place) -> None:
        """From an attempt that was given up to places."""
        self._place, self.attempt, self.asked = place, None, None

    def reach(self, given: Any) -> None:
        """Go on with what the resolver gave, in its context."""
        self._run.within(self._ambient, self._go_on, each(given, self._count, self._source))

    def _go_on(self, values: Sequence[Any]) -> None:
        if self.attempt is None or self.asked is None:
            assert self._place is not None
            self._run.settle(values, self._place, self._field.completer)
        else:
            self.attempt.arrived(self.asked, values)

    def wanted(self, _: int) -> bool:
        """Whether something hangs on it."""
        if self.attempt is not None:
            return self.attempt.wanted()
        place = self._place
        if place is None:
            return False
        return any(map(self._run.alive, repeat(place), range(self._count)))


class WaitingLoad(Goal):
    """The values of a column that are loaded without a coroutine's doing."""

    __slots__ = ("load",)

    left = 1
    lights = ()
    values = ()

    def __init__(
        self,
        run: Run,
        field: Field,
        source: Bulk,
        place: Place | None,
        count: int,
        load: Load,
    ) -> None:
        # As Goal's, in short: a load is what a page has most of.
        self._run, self._field, self._source = run, field, source
        self._place, self._count, self._ambient = place, count, self._run.ambient
        self.attempt = self.asked = None
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
            attempt.arrived(self.asked, values)  # type: ignore[arg-type]

    def forget(self) -> None:
        """Nothing hangs on it any more."""
        self._run.waiting.discard(self)
        self.load.cancel()


def each(values: Any, count: int, source: Bulk) -> Sequence[Any]:
    """What a bulk resolver gave, or raised, for each object."""
    if type(values) is list and len(values) == count:
        return values[:]  # the resolver may keep the list, and change it
    if isinstance(values, Exception):
        return [values] * count
    try:
        return checked(values, count, source.function)
    except TypeError as error:
        return [without_frame(error)] * count
