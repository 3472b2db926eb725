"""The coroutines of one field of an attempt of the fast path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.execution.fused.attempts import Attempt, FieldFetch
from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Completer
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.pending_column import PendingColumn, completing


class PendingCalls(PendingColumn):
    """The coroutines of one field of an attempt.

    Their values are taken all at once. The attempt is given up, and they continue like any
    column's, if a value is unusual, if a coroutine changed its context, or if some end earlier
    although there are fields to be fetched below.
    """

    __slots__ = ("_attempt", "_kept", "_read", "_together")

    def __init__(self, attempt: Attempt, read: FieldFetch, coros: Sequence[Any]) -> None:
        PendingColumn.__init__(self, attempt.run, attempt.positions, _nowhere, len(coros))
        self._attempt: Attempt | None = attempt
        self._read = read
        self._together = read.can_wait
        """Whether values wait unchecked for the last one: nothing depends on them."""
        self._kept: list[tuple[int, Any]] = []
        """The values that were checked, with their indexes."""
        if len(coros) == 1:
            self.start(0, coros[0])
        else:
            self.start_all(coros)
        self._run.back()

    def opened(self) -> bool:
        """Whether coroutines wait. If not, `values` has all values, in order."""
        if not (self.tasks or self._apart):
            self.values, _ = self._take()
            return False
        self._open_now()
        if self.values and not (self._together and self.tasks):
            self._run.has_values(self)
        return True

    def is_for(self, count: int) -> bool:
        """Whether the column has so many objects."""
        return self._total == count

    def move(self, positions: Positions, completer: Completer) -> None:
        """Complete the values at these positions, after the attempt was given up."""
        self._attempt, self._positions, self._then = (
            None,
            positions,
            completing(completer, positions),
        )
        told = bool(self.values) and not self._together
        self._together = False
        self._take_back()
        if self.values and not told:
            self._run.has_values(self)

    def divide(self) -> None:
        """Give the attempt up where only some values still have a position."""
        if self._attempt is not None:
            self._attempt.divide()

    def _take_back(self) -> None:
        for index, value in self._kept:
            self.indexes.append(index)
            self.values.append(value)
        self._kept = []

    def first_or_last(self) -> None:
        if not self._together:
            PendingColumn.first_or_last(self)
        elif not self.left:
            self._run.remove_pending(self)
            self.tasks = []
            self._run.has_values(self)

    def flush(self) -> None:
        attempt = self._attempt
        if attempt is not None:
            if len(self._kept) + len(self.values) == self._total and self._apart is None:
                self._take_back()
                self._run.within(self._resolver_context, self._all_arrived)
                return
            self._run.within(self._resolver_context, self._some_arrived)
            if self._attempt is not None:  # kept, or the objects are others at a second look
                drop(self._take()[0])
                return
        PendingColumn.flush(self)

    def _all_arrived(self) -> None:
        assert self._attempt is not None
        self._attempt.arrived(self._read, self._take()[0])

    def _some_arrived(self) -> None:
        attempt = self._attempt
        assert attempt is not None
        read = self._read
        if (
            self._apart is None
            and not read.has_fields_below
            and attempt.is_usual(read, self.values)
        ):
            self._kept.extend(zip(self.indexes, self.values, strict=True))
            self.indexes, self.values = [], []
        else:
            attempt.give_up()

    def wanted(self, index: int) -> bool:
        return (
            PendingColumn.wanted(self, index) if self._attempt is None else self._attempt.wanted()
        )


def _nowhere(run: Any, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
    """Take no values: those of an attempt are its own."""
    raise AssertionError("values of an attempt are its own")
