"""The base of all completers: the steps of completing a value that don't depend on its type, which
are nulls and errors.

Section "Value Completion" of the specification. Error messages are the same as in graphql-core's
`complete_value`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphql.pyutils import Undefined

from gateway.execution.model.positions import Positions, some
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import all_plain, classes_of

SLICE = 256
"""The maximum number of objects made, or values completed, between two reads of the clock."""


class BaseCompleter:
    """The base of all completers."""

    def __init__(self, field: Field, nonnull: bool) -> None:
        self.field, self.nonnull = field, nonnull

    def complete(
        self,
        run: State,
        values: Sequence[Any],
        positions: Positions,
        classes: set[type] | None = None,
    ) -> None:
        """Complete values, and put them at their response positions. No value may be awaitable.
        `positions` is parallel to `values`. `classes` are the values' classes, if known."""
        if not all_plain(classes_of(values) if classes is None else classes):
            values, positions = self.present(run, values, positions)
        if values:
            self.complete_present(run, values, positions)

    def complete_present(self, run: State, values: Sequence[Any], positions: Positions) -> None:
        """Complete values, none of which is null or an exception. There is at least one value."""
        raise NotImplementedError

    def fails(self, value: Any) -> bool:
        """Whether completing this value gives an error, as far as the value alone shows: it is an
        exception, or it is null and the type is non-null."""
        if value is None or value is Undefined:
            return self.nonnull
        return isinstance(value, Exception)

    def null_error(self) -> TypeError:
        field = self.field
        return TypeError(f"Cannot return null for non-nullable field {field.parent}.{field.name}.")

    def present(
        self, run: State, values: Sequence[Any], positions: Positions
    ) -> tuple[Sequence[Any], Positions]:
        """Returns the values that are neither null nor exceptions, and their positions. Exceptions,
        and nulls of a non-null type, are recorded as failures."""
        kept, indexes = [], []
        for i, value in enumerate(values):
            if value is None or value is Undefined:
                if self.nonnull:
                    run.fail(positions, i, self.null_error())
            elif isinstance(value, Exception):
                run.fail(positions, i, value)
            else:
                kept.append(value)
                indexes.append(i)
        return kept, some(positions, indexes)
