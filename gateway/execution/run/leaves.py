"""Completes scalars and enums: coerces a column of values (section "Result Coercion" of the
specification)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from gateway.execution.model.positions import Positions, some
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import all_plain, classes_of, is_plain
from gateway.execution.run.base_completer import BaseCompleter
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.frames import without_frame

SIMPLE = {str, int, float, bool}
"""Classes whose values can always be encoded as JSON."""
LEAST, GREATEST = -(2**31), 2**31 - 1
NULL = type(None)


class LeafCompleter(BaseCompleter):
    """Completes one scalar or enum type."""

    def __init__(self, field: Field, type_: GraphQLLeafType, nonnull: bool) -> None:
        super().__init__(field, nonnull)
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
        values: Sequence[Any],
        positions: Positions,
        classes: set[type] | None = None,
    ) -> None:
        positions.put_all(self.column(run, values, positions, classes))

    def column(
        self,
        run: State,
        values: Sequence[Any],
        positions: Positions,
        classes: set[type] | None = None,
    ) -> Sequence[Any]:
        """Returns the coerced values, parallel to `values`. A failed value is recorded, and is None
        in the result."""
        made: Sequence[Any]
        try:
            made = self.usual(values, classes_of(values) if classes is None else classes)
        except Exception:  # the loop below finds the unusual value
            awaited: dict[int, Any] = {}
            made = [self._one(run, value, positions, i, awaited) for i, value in enumerate(values)]
            if awaited:
                completer, at = _Awaited(self.field, nonnull=False), some(positions, list(awaited))
                run.complete_later(completer, list(awaited.values()), at)
        run.characters += self.characters(made)
        return made

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

    def _one(
        self, run: State, value: Any, positions: Positions, i: int, awaited: dict[int, Any]
    ) -> Any:
        """Returns the coerced value of position `i`. Returns None for a failure, which is recorded,
        and for an awaitable, which is added to `awaited`."""
        try:
            if isinstance(value, Exception):
                run.fail(positions, i, value)
            elif value is None or value is Undefined:
                if self.nonnull:
                    run.fail(positions, i, self.null_error())
            else:
                coerced = self.coerced_one(value)
                if not is_awaitable(coerced):
                    if type(coerced) not in SIMPLE:
                        _check(coerced)
                    return coerced
                awaited[i] = coerced
        except Exception as error:
            run.fail(positions, i, error)
        return None

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
        if super().fails(value):
            return True
        if value is None or value is Undefined or self._exact is None or is_awaitable(value):
            return False  # a custom scalar or an enum coerces each value once, when it is completed
        try:
            self.coerce(value)
        except Exception:
            return True
        return False

    def written(self) -> tuple[str, Callable[[Any], Any] | None]:
        """Returns the kind of the type for JsonWriter (see `JsonWriter.attribute`), and, for the
        kind "other", the function that coerces a value."""
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


class _Awaited(BaseCompleter):
    """Completes awaitables that a scalar's own function returned. As with graphql-core, their
    results are put into the response unchanged."""

    def complete_present(self, run: State, values: Sequence[Any], positions: Positions) -> None:
        for i, value in enumerate(values):
            try:
                dumps(value)
            except Exception as error:
                run.fail(positions, i, without_frame(error))
            else:
                positions.put(i, value)


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

    def __init__(self, leaf: LeafCompleter) -> None:
        super().__init__()
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
