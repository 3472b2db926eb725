"""Completes scalars and enums: coerces a column of values (section "Result Coercion" of the
specification)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLLeafType,
    GraphQLScalarType,
    GraphQLString,
)
from graphql.pyutils import Undefined, inspect, is_awaitable

from gateway.execution.encode import dumps
from gateway.execution.levels.awaits import when_ready
from gateway.execution.levels.slot import Slot
from gateway.execution.levels.tables import ID, LEAF, Column, Positions, Rows
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import all_plain, classes_of, is_plain
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.frames import without_frame

SIMPLE = {str, int, float, bool}
"""Classes whose values can always be encoded as JSON."""
LEAST, GREATEST = -(2**31), 2**31 - 1
NULL = type(None)


class LeafSlot(Slot):
    """A scalar or an enum."""

    __slots__ = ("_coerce", "_exact", "_may_be_long", "_names", "type")

    def __init__(self, field: Field, type_: GraphQLLeafType, nonnull: bool) -> None:
        Slot.__init__(self, field, nonnull, ID if type_ is GraphQLID else LEAF)
        self.type = type_
        self._coerce = type_.coerce_output_value
        self._exact = _exact_kind(type_)
        self._may_be_long = self._exact is str or (
            self._exact is None and not isinstance(type_, GraphQLEnumType)
        )
        self._names: dict[Any, str] = {}

    def complete(
        self,
        run: State,
        column: Column,
        rows: Rows,
        values: Sequence[Any],
        classes: set[type] | None = None,
    ) -> None:
        try:
            made = self.usual(values, classes_of(values) if classes is None else classes)
        except Exception:  # the loop below finds the unusual value
            self.complete_each(run, column, rows, values)
        else:
            column.put(rows, made)

    def complete_each(
        self, run: State, column: Column, rows: Iterable[int], values: Iterable[Any]
    ) -> None:
        """Complete values, some of which are null, exceptions, or not what the type expects."""
        awaited: dict[int, Any] = {}
        for row, value in zip(rows, values, strict=True):
            try:
                if isinstance(value, Exception):
                    run.failures.add(column, row, value)
                elif value is None or value is Undefined:
                    if self.nonnull:
                        run.failures.add(column, row, self.null_error())
                else:
                    coerced = self.coerced_one(value)
                    if is_awaitable(coerced):
                        awaited[row] = coerced
                        continue
                    if type(coerced) not in SIMPLE:
                        dumps(coerced)  # raises TypeError
                    column.values[row] = coerced
            except Exception as error:
                run.failures.add(column, row, error)
        if awaited:
            self._put_unchanged(run, column, awaited)

    def _put_unchanged(self, run: State, column: Column, awaited: dict[int, Any]) -> None:
        """Await what a scalar's own function returned. As with graphql-core, the results are put
        into the response unchanged."""
        rows = list(awaited)

        def then(run: State, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
            for n, value in zip(numbers or range(len(rows)), values, strict=True):
                if value is None or value is Undefined:
                    continue
                try:
                    if isinstance(value, Exception):
                        raise value
                    dumps(value)
                except Exception as error:
                    run.failures.add(column, rows[n], without_frame(error))
                else:
                    column.values[rows[n]] = value

        when_ready(run, list(awaited.values()), Positions(column, rows), then)

    def characters(self, values: Sequence[Any]) -> int:
        """Returns the number of characters of the texts among coerced values. Texts of a type
        whose texts are short don't count."""
        return _characters(values) if self._may_be_long else 0

    def usual(self, values: Sequence[Any], classes: set[type]) -> Sequence[Any]:
        """Returns the coerced values. Raises an Exception if a value is unusual."""
        exact = self._exact
        if exact is None:
            return self._coerced(values, classes)
        if self.type is GraphQLID and int in classes:  # ids are often numbers
            values = [str(value) if type(value) is int else value for value in values]
            classes = classes - {int} | {str}
        if classes == {exact} or not classes:
            if self._in_range(values):
                return values
        elif (
            not self.nonnull
            and classes <= {exact, NULL}
            and self._in_range([value for value in values if value is not None])
        ):
            return values
        raise TypeError

    def _in_range(self, values: Sequence[Any]) -> bool:
        if not values:
            return True
        if self._exact is int:
            return bool(min(values) >= LEAST and max(values) <= GREATEST)
        return self._exact is not float or all(map(isfinite, values))

    def _coerced(self, values: Sequence[Any], classes: set[type]) -> list[Any]:
        if isinstance(self.type, GraphQLEnumType):
            names = self._names
            if NULL in classes and not self.nonnull:
                return [None if value is None else names[value] for value in values]
            return [names[value] for value in values]
        coerce = self._coerce
        if all_plain(classes):
            coerced = [coerce(value) for value in values]
        elif not self.nonnull and all_plain(classes - {NULL}):
            coerced = [None if value is None else coerce(value) for value in values]
        else:
            raise TypeError
        try:
            for value, given in zip(coerced, values, strict=True):
                if value is Undefined or (value is None and given is not None):
                    raise TypeError
                if type(value) not in SIMPLE and value is not None:
                    _check(value)
        except Exception:
            drop(coerced)
            raise
        return coerced

    def coerce(self, value: Any) -> Any:
        """Returns the coerced value. Raises graphql-core's errors, and TypeError for a value that
        can't be encoded as JSON."""
        coerced = self.coerced_one(value)
        if type(coerced) not in SIMPLE:
            _check(coerced)
        return coerced

    def coerced_one(self, value: Any) -> Any:
        coerced = self._coerce(value)
        if coerced is None or coerced is Undefined:
            raise TypeError(
                f"Expected `{inspect(self.type)}.coerce_output_value({inspect(value)})` to return "
                f"non-nullable value, returned: {inspect(coerced)}"
            )
        if isinstance(self.type, GraphQLEnumType) and len(self._names) < 1_000:
            with suppress(TypeError):  # the value is unhashable
                self._names[value] = coerced
        return coerced

    def fails(self, value: Any) -> bool:
        if Slot.fails(self, value):
            return True
        if value is None or value is Undefined or self._exact is None or is_awaitable(value):
            return False  # a custom scalar or an enum coerces each value once, when it is completed
        try:
            self.coerce(value)
        except Exception:
            return True
        return False

    def kind_of_leaf(self) -> tuple[str, Callable[[Any], Any] | None]:
        """Returns the kind of the type for `LeafReader.add`, and, for the kind "other", the
        function that coerces a value."""
        if self.type is GraphQLID:
            return "ID", None
        for scalar, kind in _EXACT:
            if kind is self._exact:
                return scalar.name, None
        if isinstance(self.type, GraphQLEnumType):
            return "other", _Names(self).__getitem__
        return "other", self._coerce_plain

    def _coerce_plain(self, value: Any) -> Any:
        if not is_plain(type(value)):
            raise TypeError
        return self.coerce(value)


def _characters(values: Sequence[Any]) -> int:
    """Returns the number of characters of the texts among the values."""
    try:
        return sum(map(len, values))
    except TypeError:
        return sum([len(value) for value in values if type(value) is str])


def _check(coerced: Any) -> None:
    """Raises TypeError if a coerced value is awaitable, or can't be encoded as JSON."""
    if is_awaitable(coerced):
        drop(coerced)
        raise TypeError
    dumps(coerced)


class _Names(dict[Any, str]):
    """The names of an enum's values. A name is added when its value is first coerced."""

    def __init__(self, leaf: LeafSlot) -> None:
        dict.__init__(self)
        self._leaf = leaf

    def __missing__(self, value: Any) -> str:
        if not is_plain(type(value)):
            raise TypeError
        name: str = self._leaf.coerce(value)
        if len(self) < 1_000:
            self[value] = name
        return name


def _exact_kind(type_: GraphQLLeafType) -> type | None:
    """Returns the Python class whose values coerce to themselves; None if there is none."""
    if isinstance(type_, GraphQLScalarType):
        for scalar, kind in _EXACT:
            if type_.coerce_output_value == scalar.coerce_output_value:
                return kind
    return None


_EXACT = (
    (GraphQLString, str),
    (GraphQLID, str),
    (GraphQLInt, int),
    (GraphQLFloat, float),
    (GraphQLBoolean, bool),
)
