"""Abstract types and `is_type_of` answered once a class, where the answer hangs on nothing else.

That is known of strawberry's own functions, for objects of plain strawberry types, and of functions
that say so themselves with an attribute `by_class = True`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any
from weakref import WeakKeyDictionary

from graphql import GraphQLAbstractType, GraphQLObjectType, GraphQLSchema
from strawberry.types.cast import TYPE_CAST_ATTRIBUTE

from gateway.execution.kinds import kinds_of

_STRAWBERRY_IS_TYPE_OF = "strawberry.schema.schema_converter"
_STRAWBERRY_RESOLVE_TYPE = {
    ("strawberry.schema.schema_converter", "resolve_type"),
    ("strawberry.types.union", "_resolve_union_type"),
}

_known: WeakKeyDictionary[GraphQLObjectType, set[type]] = WeakKeyDictionary()
_names: WeakKeyDictionary[GraphQLAbstractType, dict[type, str]] = WeakKeyDictionary()


def known_type(type_: GraphQLObjectType, values: Sequence[Any]) -> bool:
    """Whether `is_type_of` is true of all these values, and so of all of their classes."""
    is_type_of = type_.is_type_of
    said = getattr(is_type_of, "by_class", False)
    if not said and (
        getattr(is_type_of, "__module__", "") != _STRAWBERRY_IS_TYPE_OF or _cast(values)
    ):
        return False
    known = _known.get(type_)
    if known is None:
        known = _known[type_] = set()
    kinds = kinds_of(values)
    if kinds <= known:
        return True
    for value in values:
        if type(value) not in known:
            if is_type_of(value, None) is not True:  # type: ignore[misc,arg-type]
                return False
            known.add(type(value))
    return True


def names_by_class(
    schema: GraphQLSchema, type_: GraphQLAbstractType, values: Sequence[Any]
) -> list[str] | None:
    """The name of each value's type; None where a value must be asked itself."""
    resolve = type_.resolve_type
    where = (getattr(resolve, "__module__", ""), getattr(resolve, "__name__", ""))
    if where not in _STRAWBERRY_RESOLVE_TYPE or _cast(values):
        return None
    names = _names.get(type_)
    if names is None:
        names = _names[type_] = {}
    try:
        return [names[type(value)] for value in values]
    except KeyError:
        pass
    for kind in kinds_of(values) - names.keys():
        name = _simple_name(kind)
        found = schema.get_type(name) if name else None
        if not isinstance(found, GraphQLObjectType) or not schema.is_sub_type(type_, found):
            return None
        names[kind] = name
    return [names[type(value)] for value in values]


def _simple_name(kind: type) -> str:
    """The name of the strawberry type that a class is, if nothing generic is about it."""
    own = kind.__dict__.get("__strawberry_definition__")
    if own is None or own.is_interface or own.is_input:
        return ""
    for base in kind.__mro__:
        definition = base.__dict__.get("__strawberry_definition__")
        if definition is not None and (
            definition.is_graphql_generic or definition.concrete_of is not None
        ):
            return ""
    return own.name if own.origin is kind else ""


def _cast(values: Sequence[Any]) -> bool:
    """Whether one of them was cast, with `strawberry.cast`, to a type not its class's."""
    return any(map(hasattr, values, repeat(TYPE_CAST_ATTRIBUTE)))
