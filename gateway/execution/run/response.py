"""What a request's response is so far: its data and errors, and the nulls that climb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from graphql import GraphQLError

from gateway.execution.model.positions import Base, ResponsePositions, mark_dead
from gateway.execution.model.state import State
from gateway.execution.run.errors import located

Failure: TypeAlias = "tuple[ResponsePositions, int, Exception]"
"""A position that failed, and why."""


class Response(State):
    """Positions fail in any order; when their order is known, errors and nulls are made of that."""

    __slots__ = ("_failures", "_fatal", "data", "errors")

    def __init__(self) -> None:
        self.data: dict[str, Any] | None = {}
        """Null when a null climbed to its top."""
        self.errors: list[GraphQLError] = []
        self._failures: list[Failure] = []
        self._fatal: BaseException | None = None
        """What is no Exception, and so ends the request."""
        self.nulled = False

    def place_root(self, made: dict[str, Any]) -> dict[str, Any]:
        """Put the root's fields into the response."""
        assert self.data is not None
        self.data.update(made)
        return self.data

    def fail(self, place: ResponsePositions, i: int, error: Exception) -> None:
        """A position failed: its value is null, or that of what is above it."""
        self._failures.append((place, i, error))

    def settle_failures(self, failures: Sequence[Failure]) -> bool:
        """Those in their order. Whether a null climbed."""
        swept = False
        for place, i, error in failures:
            path = self._path(place, i)
            if path is None:
                continue
            base, j = place.base(i)
            self.errors.append(located(error, base.field, path))
            swept |= self._nullify(base, j)
        self.nulled |= swept
        return swept

    def _path(self, place: ResponsePositions, i: int) -> list[str | int] | None:
        """Where it is; None if it, or what is above it, is null already."""
        if self.data is None:
            return None
        path: list[str | int] = []
        above: ResponsePositions | None = place
        while above is not None:
            base, i = above.base(i)
            if i in base.dead:
                return None
            path.append(base.step(i)[0])
            above, i = base.above(i)
        path.reverse()
        return path

    def alive(self, place: ResponsePositions, i: int) -> bool:
        """Whether a position is still part of the response."""
        return not self.nulled or self._path(place, i) is not None

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
        mark_dead(base, i)
        if climbed:
            base.put(i, None)
        return climbed
