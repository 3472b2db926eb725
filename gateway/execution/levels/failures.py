"""The errors of a request, their number, locations and paths, and null propagation (section
"Handling Execution Errors" of the specification)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import TypeAlias

from graphql import GraphQLError, located_error

from gateway.execution.levels import slices
from gateway.execution.levels.tables import Column, Order, path_of
from gateway.execution.model.selection import Field

MOST_ERRORS = 50
"""The maximum number of errors of a response. One more error tells how many are left out. An
operation of 4 kB may fail in ten thousand fields."""

_LOCATED = ("nodes", "source", "positions")
"""If an error has one of these attributes, graphql-core locates the error by it."""

Failure: TypeAlias = tuple[Column, int, Exception]
"""A response position, and the error of its value."""


class Failures:
    """The failures of a request. They are recorded in any order (`add`), and at the end of a round
    written as errors and nulls, in response order if one of them can propagate.

    graphql-core executes depth first. If several errors make the same position null, it reports the
    first one, and drops errors below a position that is null already. Response order gives the same
    errors.
    """

    __slots__ = ("errors", "left_out", "most", "new", "root_nulled")

    def __init__(self, most: int) -> None:
        """`most` is the maximum number of errors."""
        self.new: list[Failure] = []
        """The failures of this round."""
        self.errors: list[GraphQLError] = []
        self.most = most
        self.left_out: list[Exception] = []
        """The exceptions of all further fields, for the log."""
        self.root_nulled = False
        """Whether a null was propagated to the root: the response's data is null."""

    def add(self, column: Column, row: int, error: Exception) -> None:
        self.new.append((column, row, error))

    def take(self) -> list[Failure]:
        """Returns the failures of this round, and begins the next one."""
        failures, self.new = self.new, []
        return failures

    def write(self, failures: list[Failure]) -> bool:
        """Write a round's failures. Returns whether a null was propagated to a parent."""
        if _may_propagate(failures):
            failures.sort(key=Order())
        return self._write(failures)

    async def write_in_slices(
        self, failures: list[Failure], rest: Callable[[], Awaitable[None]]
    ) -> tuple[bool, list[list[object]]]:
        """Write thousands of failures, with rests of the event loop. Returns also the lists that
        are to be freed in slices."""
        ordered: Iterable[Failure] = failures
        garbage: list[list[object]] = [[*failures]]
        size = slices.SLICE
        starts = range(0, len(failures), size)
        propagates = False
        for start in starts:
            propagates = propagates or _may_propagate(failures[start : start + size])
            await rest()
        if propagates:
            ranked, order = [], Order()
            for number, start in enumerate(starts):
                part = failures[start : start + size]
                ranked.append(sorted((order(one), number, n) for n, one in enumerate(part)))
                await rest()
            garbage += [[*part] for part in ranked]
            garbage.append([*order.known.items()])
            ordered = (failures[number * size + n] for _, number, n in merge(*ranked))
        propagated, left = False, iter(ordered)
        while part := list(islice(left, slices.SLICE)):
            propagated |= self._write(part)
            await rest()
        return propagated, garbage

    def _write(self, failures: Sequence[Failure]) -> bool:
        propagated = False
        for column, row, error in failures:
            path = None if self.root_nulled else path_of(column, row)
            if path is None:
                continue
            if len(self.errors) < self.most:
                self.errors.append(located(error, column.slot.field, path))
            else:
                self.left_out.append(error)
            propagated |= self._propagate(column, row)
        return propagated

    def _propagate(self, column: Column, row: int) -> bool:
        """Propagate a null from a failed position to the nearest nullable position. Returns whether
        a parent of the failed position became null."""
        climbed = False
        while column.slot.nonnull:
            climbed = True
            above, row = column.above(row)
            if above is None:
                self.root_nulled = True
                return True
            column = above
        column.nullify(row)
        return climbed


def _may_propagate(failures: Sequence[Failure]) -> bool:
    return any(column.slot.nonnull for column, _, _ in failures)


def located(error: Exception, field: Field, path: list[str | int]) -> GraphQLError:
    """Returns a resolver's error as a GraphQLError with the field's locations and this path."""
    if isinstance(error, GraphQLError):
        if error.path is not None:
            return error
        if error.nodes or (error.source and error.positions):
            found = error
        elif error.source or error.positions:
            return located_error(error, field.nodes, path)
        else:
            found = field.in_document
        message = error.message
    else:
        found = field.in_document
        try:
            for name in _LOCATED:
                if getattr(error, name, None):
                    return located_error(error, field.nodes, path)
            message = str(error.message if hasattr(error, "message") else error)
        except Exception:  # raised by __str__ or a property of the error
            message = f"{type(error).__name__} (its text can't be made)"
    made = GraphQLError(message, path=path, original_error=error)
    made.nodes = found.nodes and list(found.nodes)
    made.locations = found.locations and list(found.locations)
    made.source, made.positions = found.source, found.positions
    return made


def left_out(count: int) -> GraphQLError:
    """Returns the last error of a response with more than `MOST_ERRORS` errors: `count` of them are
    left out."""
    number = "One more error is" if count == 1 else f"{count:,} more errors are"
    return GraphQLError(
        f"{number} left out: the answer shows the first ones. The data has a null for each.",
        extensions={"code": "TOO_MANY_ERRORS", "leftOut": count},
    )


def late(seconds: float, *, begun: bool) -> GraphQLError:
    """Returns the error of a mutation's root field that was running (`begun`) or had not begun when
    the deadline passed."""
    if begun:
        message = (
            f"The operation took longer than {seconds:g} s and was cut in this field: it may be "
            "done or not. Send it again with the same idempotencyKey."
        )
    else:
        message = (
            f"The operation took longer than {seconds:g} s: this field was not begun, and nothing "
            "of it is done."
        )
    return GraphQLError(message, extensions={"code": "TIMEOUT"})
