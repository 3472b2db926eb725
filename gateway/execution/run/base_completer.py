"""The beginning of every value's completion: nulls and errors are taken out.

Section "Value Completion" of the specification. The messages are those of graphql-core's
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
"""Objects made, or values completed, between two looks at the clock."""


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
        """Put the completed values, none of them awaitable, at their response positions. `classes`
        are the values' classes, if they are known."""
        if not all_plain(classes_of(values) if classes is None else classes):
            values, positions = self.present(run, values, positions)
        if values:
            self.complete_present(run, values, positions)

    def complete_present(self, run: State, values: Sequence[Any], positions: Positions) -> None:
        """Complete at least one value, none of them null or an error."""
        raise NotImplementedError

    def fails(self, value: Any) -> bool:
        """Whether a value is an error, or is null where null is not allowed, as far as the value
        itself shows."""
        if value is None or value is Undefined:
            return self.nonnull
        return isinstance(value, Exception)

    def null_error(self) -> TypeError:
        field = self.field
        return TypeError(f"Cannot return null for non-nullable field {field.parent}.{field.name}.")

    def present(
        self, run: State, values: Sequence[Any], positions: Positions
    ) -> tuple[Sequence[Any], Positions]:
        """The values that are neither null nor errors, and their positions. Errors are recorded."""
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
