"""The base of the types of columns: the steps of completing a value that don't depend on its type,
which are nulls and errors (section "Value Completion" of the specification).

Error messages are the same as in graphql-core's `complete_value`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphql.pyutils import Undefined

from gateway.execution.levels.tables import Column, Rows, Typed
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import PLAIN, all_plain, classes_of


class Slot(Typed):
    """The type of a column's values, and how they are completed."""

    __slots__ = ()

    def __init__(self, field: Field, nonnull: bool, kind: int) -> None:
        self.field, self.nonnull, self.kind = field, nonnull, kind

    def complete(
        self,
        run: State,
        column: Column,
        rows: Rows,
        values: Sequence[Any],
        classes: set[type] | None = None,
    ) -> None:
        """Complete values, and put them at these rows of the column. No value may be awaitable.
        `classes` are the values' classes, if known."""
        if classes is None:
            classes = classes_of(values)
        if not (classes <= PLAIN or all_plain(classes)):
            rows, values = self.present(run, column, rows, values)
            if not values:
                return
        self.complete_present(run, column, rows, values)

    def complete_present(
        self, run: State, column: Column, rows: Rows, values: Sequence[Any]
    ) -> None:
        """Complete values, none of which is null or an exception. There is at least one value."""
        raise NotImplementedError

    def fails(self, value: Any) -> bool:
        """Whether completing this value gives an error, as far as the value alone shows: it is an
        exception, or it is null and the type is non-null."""
        if value is None or value is Undefined:
            return bool(self.nonnull)
        return isinstance(value, Exception)

    def null_error(self) -> TypeError:
        field = self.field
        return TypeError(f"Cannot return null for non-nullable field {field.parent}.{field.name}.")

    def present(
        self, run: State, column: Column, rows: Rows, values: Sequence[Any]
    ) -> tuple[Rows, Sequence[Any]]:
        """Returns the values that are neither null nor exceptions, and their rows. Exceptions, and
        nulls of a non-null type, are recorded as failures."""
        kept, places = [], []
        for row, value in zip(rows, values, strict=True):
            if value is None or value is Undefined:
                if self.nonnull:
                    run.failures.add(column, row, self.null_error())
            elif isinstance(value, Exception):
                run.failures.add(column, row, value)
            else:
                kept.append(value)
                places.append(row)
        return places, kept
