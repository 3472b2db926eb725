"""Coerces a field's arguments (section "Coercing Field Arguments" of the specification).

graphql-core coerces the arguments for each object. Here constant arguments are coerced once for all
requests, and others once for a request. Objects share the arguments if all values are immutable.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from graphql import (
    GraphQLNonNull,
    ListValueNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    is_required_argument,
)
from graphql.execution.values import get_argument_values
from graphql.pyutils import Undefined
from graphql.utilities.coerce_input_value import coerce_default_value

from gateway.execution.model.selection import Field
from gateway.execution.model.state import State

Convert = Callable[[dict[str, Any]], dict[str, Any]]

_IMMUTABLE = (
    str,
    int,
    float,
    bool,
    type(None),
    Enum,
    bytes,
    uuid.UUID,
    decimal.Decimal,
    datetime.date,
    datetime.time,
    datetime.timedelta,
)


class Arguments:
    """The arguments of one field of an operation.

    `convert` converts coerced arguments to the resolver's arguments. If it only renames arguments,
    `names` has the new name of each.
    """

    def __init__(
        self, field: Field, convert: Convert | None, names: Mapping[str, str] | None = None
    ) -> None:
        self._field, self._convert, self._names = field, convert, names
        self.none = not field.definition.args
        self._constant: dict[str, Any] | None = None
        self._simple: list[tuple[str, Any, str | None, bool]] | None = None
        if self.none:
            return
        given = {a.name.value: a.value for a in field.nodes[0].arguments or ()}
        if not any(map(_has_variable, given.values())):
            try:
                values = self._converted(get_argument_values(field.definition, field.nodes[0]))
            except Exception:
                return  # `of` raises it again for each request
            if shareable(values):
                self._constant = values
            return
        self._simple = self._plan(given)

    @property
    def never_fail(self) -> bool:
        """Whether the arguments are valid in every request."""
        return self.none or self._constant is not None

    def _plan(self, given: dict[str, ValueNode]) -> list[tuple[str, Any, str | None, bool]] | None:
        """For each argument: its name, its default or Undefined, its variable or None, and whether
        its type is non-null. None if the shortcut does not apply: an argument's value is neither a
        variable nor omitted, or a default is mutable."""
        plan: list[tuple[str, Any, str | None, bool]] = []
        for name, argument in self._field.definition.args.items():
            out = argument.out_name or name
            if self._names is not None:
                out = self._names[out]
            node = given.get(name)
            variable = None
            if isinstance(node, VariableNode):
                variable = node.name.value
            elif node is not None:
                return None
            try:
                fixed = coerce_default_value(argument)
            except Exception:
                return None
            if not (fixed is Undefined or isinstance(fixed, _IMMUTABLE)):
                return None
            if variable is None and is_required_argument(argument):
                return None
            plan.append((out, fixed, variable, isinstance(argument.type, GraphQLNonNull)))
        return plan

    def _converted(self, values: dict[str, Any]) -> dict[str, Any]:
        return values if self._convert is None else self._convert(values)

    def of(self, run: State) -> dict[str, Any]:
        """Returns the resolver's arguments for one request. Raises graphql-core's errors if they
        are invalid."""
        if self.none:
            return {}
        if self._constant is not None:
            return self._constant
        if self._simple is not None:
            variables, values = run.variables, {}
            for name, fixed, variable, nonnull in self._simple:
                value = fixed
                if variable is not None:
                    value = variables.get(variable, fixed)
                    if nonnull and (value is None or value is Undefined):
                        break
                if value is not Undefined:
                    values[name] = value
            else:
                return values if self._names is not None else self._converted(values)
        field = self._field
        return self._converted(
            get_argument_values(field.definition, field.nodes[0], run.variable_values())
        )


def shareable(values: dict[str, Any]) -> bool:
    """Whether all values are immutable, so that a resolver can't change the arguments of
    another."""
    return all(isinstance(value, _IMMUTABLE) for value in values.values())


def _has_variable(node: ValueNode) -> bool:
    if isinstance(node, VariableNode):
        return True
    if isinstance(node, ListValueNode):
        return any(map(_has_variable, node.values))
    if isinstance(node, ObjectValueNode):
        return any(_has_variable(field.value) for field in node.fields)
    return False
