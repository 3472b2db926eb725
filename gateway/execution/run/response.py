"""A request's response: its data, its errors, and null propagation (section "Handling Execution
Errors" of the specification)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from graphql import GraphQLError

from gateway.execution.model.positions import Base, Positions, mark_dead
from gateway.execution.model.state import State
from gateway.execution.run.errors import located

Failure: TypeAlias = "tuple[Positions, int, Exception]"
"""A response position that failed, and its error."""


class Response(State):
    """Failures are recorded in any order. When all failures of a round are known, they become
    errors and nulls in response order."""

    __slots__ = ("_failures", "_fatal", "data", "errors")

    def __init__(self) -> None:
        self.data: dict[str, Any] | None = {}
        """None after a null was propagated to the root."""
        self.errors: list[GraphQLError] = []
        self._failures: list[Failure] = []
        self._fatal: BaseException | None = None
        """A BaseException that is no Exception: it ends the request."""
        self.nulled = False

    def place_root(self, made: dict[str, Any]) -> dict[str, Any]:
        """Add root fields to the data, and return the data."""
        assert self.data is not None
        self.data.update(made)
        return self.data

    def fail(self, positions: Positions, i: int, error: Exception) -> None:
        """Record a field error at a position."""
        self._failures.append((positions, i, error))

    def write_failures(self, failures: Sequence[Failure]) -> bool:
        """Write the failures, given in response order, as errors and nulls. Return whether a null
        was propagated."""
        swept = False
        for positions, i, error in failures:
            path = self._path(positions, i)
            if path is None:
                continue
            base, j = positions.base(i)
            self.errors.append(located(error, base.field, path))
            swept |= self._nullify(base, j)
        self.nulled |= swept
        return swept

    def _path(self, positions: Positions, i: int) -> list[str | int] | None:
        """The path of a position; None if the position, or one above it, is null already."""
        if self.data is None:
            return None
        path: list[str | int] = []
        above: Positions | None = positions
        while above is not None:
            base, i = above.base(i)
            if i in base.dead:
                return None
            path.append(base.step(i)[0])
            above, i = base.above(i)
        path.reverse()
        return path

    def alive(self, positions: Positions, i: int) -> bool:
        """Whether a position is still part of the response."""
        return not self.nulled or self._path(positions, i) is not None

    def _nullify(self, base: Base, i: int) -> bool:
        """Null the nearest nullable position, at or above the failed one. Return whether it was
        above."""
        climbed = False
        while base.nonnull:
            climbed = True
            above, i = base.above(i)
            if above is None:
                self.data = None
                return True
            base, i = above.base(i)
        mark_dead(base, i)
        if climbed:
            base.put(i, None)
        return climbed
