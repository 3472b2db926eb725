"""The response of a request: data, errors and null propagation (section "Handling Execution Errors"
of the specification)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from graphql import GraphQLError

from gateway.execution.model.positions import Base, Positions, mark_dead
from gateway.execution.model.state import State
from gateway.execution.run.errors import MOST_ERRORS, located

Failure: TypeAlias = "tuple[Positions, int, Exception]"
"""A response position, and the error of its value."""


class Response(State):
    """A request's response. Failures are recorded in any order (`fail`). At the end of a round they
    are written as errors and nulls (`write_failures`)."""

    __slots__ = ("_failures", "_fatal", "data", "errors", "left_out", "most_errors")

    def __init__(self) -> None:
        self.data: dict[str, Any] | None = {}
        """The data; None after a null was propagated to the root."""
        self.errors: list[GraphQLError] = []
        self.most_errors = MOST_ERRORS
        """The maximum number of errors."""
        self.left_out: list[Exception] = []
        """The exceptions of all further fields, for the log."""
        self._failures: list[Failure] = []
        self._fatal: BaseException | None = None
        """A resolver's BaseException that is not an Exception: it ends the request."""
        self.nulled = False

    def place_root(self, made: dict[str, Any]) -> dict[str, Any]:
        assert self.data is not None
        self.data.update(made)
        return self.data

    def fail(self, positions: Positions, i: int, error: Exception) -> None:
        self._failures.append((positions, i, error))

    def write_failures(self, failures: Sequence[Failure]) -> bool:
        propagated = False
        for positions, i, error in failures:
            path = self._path(positions, i)
            if path is None:
                continue
            base, j = positions.base(i)
            if len(self.errors) < self.most_errors:
                self.errors.append(located(error, base.field, path))
            else:
                self.left_out.append(error)
            propagated |= self._nullify(base, j)
        self.nulled |= propagated
        return propagated

    def _path(self, positions: Positions, i: int) -> list[str | int] | None:
        """The path of a position; None if a null replaced it or a parent of it."""
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
        return not self.nulled or self._path(positions, i) is not None

    def _nullify(self, base: Base, i: int) -> bool:
        """Propagate a null from a failed position to the nearest nullable position. Returns whether
        a parent of the failed position became null."""
        climbed = False
        while base.nonnull:
            climbed = True
            above, i = base.above(i)
            if above is None:
                self.data = None
                return True
            base, i = above.base(i)
        mark_dead(base, i)
        if climbed:  # a failed position itself is None already
            base.put(i, None)
        return climbed
