"""The awaited values of one field on the fast path, whose resolver is a coroutine function."""

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

    The attempt takes the values all together, or, if no fields are to be fetched below them, in the
    parts in which they arrive. If a value is unusual, or a coroutine changed a context variable,
    the attempt is given up. The coroutines then continue as a PendingColumn of the plain path.
    """

    __slots__ = ("_attempt", "_fetch", "_taken", "_taken_indexes")

    def __init__(self, attempt: Attempt, fetch: FieldFetch, coros: Sequence[Any]) -> None:
        PendingColumn.__init__(self, attempt.run, attempt.positions, _never_called, len(coros))
        self._attempt: Attempt | None = attempt
        self._fetch = fetch
        self._taken: list[Any] = []
        """The values that the attempt has taken in parts, with their indexes."""
        self._taken_indexes: list[int] = []
        if len(coros) == 1:
            self.start(0, coros[0])
        else:
            self.start_all(coros)
        self._run.restore_task()

    def still_waits(self) -> bool:
        """Whether coroutines are still running. If not, `values` has all values, in order."""
        if not (self.tasks or self._changed_contexts):
            self.values, _ = self._take()
            return False
        self._mark_started()
        if self.values:
            self._run.has_values(self)
        return True

    def is_for(self, count: int) -> bool:
        """Whether the column has this number of objects."""
        return self._total == count

    def move(
        self, positions: Positions, completer: Completer
    ) -> tuple[Sequence[Any], Sequence[int]]:
        self._attempt, self._positions = None, positions
        self._then = completing(completer, positions)
        return self._taken, self._taken_indexes

    def null_propagated(self) -> None:
        """Give the attempt up if only some of its objects are still in the response."""
        if self._attempt is not None:
            self._attempt.null_propagated()

    def flush(self) -> None:
        attempt = self._attempt
        if attempt is not None:
            self._run.run_in_context(self._resolver_context, self._give_to, attempt)
            if self._attempt is attempt or not self.values:  # taken, or the attempt is over
                drop(self._take()[0], self._run)
                return
        PendingColumn.flush(self)

    def _give_to(self, attempt: Attempt) -> None:
        fetch, total = self._fetch, self._total
        if self._changed_contexts is not None:
            attempt.give_up()
        elif len(self.values) == total:
            attempt.arrived(fetch, self._take()[0])
        elif fetch.in_parts and fetch.output.accepts(self.values):
            values, indexes = self.values, self.indexes
            self.values, self.indexes = [], []
            self._taken += values
            self._taken_indexes += indexes
            attempt.take_part(fetch, values, indexes, total)
            if len(self._taken) == total and self._attempt is not None:
                self._attempt = None  # which refers to this column: a cycle
                attempt.all_parts_taken()
        else:
            attempt.give_up()

    def wanted(self, index: int) -> bool:
        return (
            PendingColumn.wanted(self, index) if self._attempt is None else self._attempt.wanted()
        )


def _never_called(run: Any, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
    """Never called: an attempt takes the values itself."""
    raise AssertionError("an attempt takes its values itself")
