"""Coerces a request's variables (section "Coercing Variable Values" of the specification).
Variables of built-in scalar types are coerced here; graphql-core coerces all others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import isfinite
from typing import Any, cast

from graphql import (
    GraphQLBoolean,
    GraphQLError,
    GraphQLFloat,
    GraphQLID,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    VariableDefinitionNode,
    type_from_ast,
)
from graphql.execution.values import VariableValues, get_variable_values
from graphql.pyutils import Undefined

MAX_ERRORS = 50
"""The maximum number of errors: graphql-core's default."""

_SHOWN = 10
"""The number of fields of an input object that graphql-core's errors show at most."""

_KINDS: tuple[tuple[GraphQLScalarType, type], ...] = (
    (GraphQLInt, int),
    (GraphQLFloat, float),
    (GraphQLString, str),
    (GraphQLBoolean, bool),
    (GraphQLID, str),
)


class Variables:
    """The variables that an operation declares."""

    def __init__(
        self, schema: GraphQLSchema, definitions: tuple[VariableDefinitionNode, ...]
    ) -> None:
        self._schema, self._definitions = schema, definitions
        typed = ((each.variable.name.value, each.type) for each in definitions)
        types = ((name, type_from_ast(schema, type_)) for name, type_ in typed)
        self._types = {name: cast(GraphQLInputType, type_) for name, type_ in types}
        self._simple = self._plan()

    def _plan(self) -> list[tuple[str, type, bool, Any]] | None:
        """For each variable: its name, the class of its values, whether it is non-null, its default
        or Undefined. None if a variable's type is not a built-in scalar."""
        simple = []
        for definition in self._definitions:
            type_ = type_from_ast(self._schema, definition.type)
            nonnull = isinstance(type_, GraphQLNonNull)
            named = type_.of_type if isinstance(type_, GraphQLNonNull) else type_
            kind = next((kind for scalar, kind in _KINDS if named is scalar), None)
            if kind is None:
                return None
            name, default = definition.variable.name.value, Undefined
            if definition.default_value is not None:
                found = get_variable_values(self._schema, [definition], {})
                if isinstance(found, list):
                    return None
                default = found.coerced[name]
            simple.append((name, kind, nonnull, default))
        return simple

    def coerce(
        self, inputs: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], VariableValues | None, list[GraphQLError]]:
        """Returns the coerced values, graphql-core's VariableValues if it coerced them (else None),
        and the errors. If there are errors, the values are empty."""
        if self._simple is not None:
            values: dict[str, Any] = {}
            for name, kind, nonnull, default in self._simple:
                value: Any = inputs.get(name, Undefined)
                if value is Undefined:
                    if default is not Undefined:
                        values[name] = default
                    elif nonnull:
                        break
                elif value is None:
                    if nonnull:
                        break
                    values[name] = None
                elif not _fits(value, kind):
                    break
                else:
                    values[name] = value
            else:
                return values, None, []
        found = get_variable_values(
            self._schema, self._definitions, self._pruned(inputs), max_errors=MAX_ERRORS
        )
        if isinstance(found, list):
            for error in found:
                _drop_traceback(error)
            return {}, None, found
        return found.coerced, found, []

    def _pruned(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the inputs without the unknown fields for which there is no error any more."""
        pruned = dict(inputs)
        try:
            for name, type_ in self._types.items():
                if name in pruned:
                    pruned[name] = _pruned(pruned[name], type_)
        except RecursionError:
            return dict(inputs)  # graphql-core says that the values are nested too deeply
        return pruned

    def in_full(self, inputs: Mapping[str, Any]) -> VariableValues:
        """Returns graphql-core's VariableValues for inputs that were coerced without an error."""
        found = get_variable_values(
            self._schema, self._definitions, dict(inputs), max_errors=MAX_ERRORS
        )
        assert not isinstance(found, list)
        return found


def _drop_traceback(error: BaseException | None) -> None:
    """Drop the tracebacks of an error and its causes. graphql-core's frames refer to the list of
    errors: a cycle of references, with the document in it."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__ or getattr(error, "original_error", None)


def _pruned(value: Any, type_: GraphQLInputType) -> Any:
    """Returns the value with fewer unknown fields in its input objects: the fields that
    graphql-core reports before it reaches `MAX_ERRORS`, and the last fields, which it shows.

    graphql-core copies an input object for each of its errors. Without a bound, an object of 10,000
    unknown fields takes that many steps 50 times.
    """
    while isinstance(type_, GraphQLNonNull):
        type_ = type_.of_type
    if isinstance(type_, GraphQLList) and isinstance(value, list):
        return [_pruned(item, type_.of_type) for item in value]
    if isinstance(type_, GraphQLList):
        return _pruned(value, type_.of_type)
    if not isinstance(type_, GraphQLInputObjectType) or not isinstance(value, dict):
        return value
    fields, names = type_.fields, list(value)
    unknown = {*islice((name for name in names if name not in fields), MAX_ERRORS + 1)}
    unknown.update(names[-_SHOWN:])
    return {
        name: _pruned(value[name], fields[name].type) if name in fields else value[name]
        for name in names
        if name in fields or name in unknown
    }


def _fits(value: Any, kind: type) -> bool:
    if type(value) is not kind:  # isinstance would accept a bool as an int
        return False
    if isinstance(value, int) and kind is int:
        return -(2**31) <= value < 2**31
    return not isinstance(value, float) or isfinite(value)
