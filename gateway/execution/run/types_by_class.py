"""Calls `is_type_of` and `resolve_type` once for each class, if the result depends on the class
alone.

This holds for strawberry's own functions with objects of strawberry types, and for functions that
have the attribute `by_class = True`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from graphql import GraphQLAbstractType, GraphQLObjectType, GraphQLSchema

from gateway.execution.model.value_classes import classes_of
from gateway.execution.strawberry_details import (
    is_type_of_by_class,
    resolve_type_by_class,
    simple_name,
)

_known: WeakKeyDictionary[GraphQLObjectType, set[type]] = WeakKeyDictionary()
_names: WeakKeyDictionary[GraphQLAbstractType, dict[type, str]] = WeakKeyDictionary()


def known_type(type_: GraphQLObjectType, values: Sequence[Any]) -> bool:
    """Whether the classes of the values show that `is_type_of` is true for all of them."""
    is_type_of = type_.is_type_of
    said = getattr(is_type_of, "by_class", False)
    if not (said or is_type_of_by_class(is_type_of, values)):
        return False
    known = _known.get(type_)
    if known is None:
        known = _known[type_] = set()
    classes = classes_of(values)
    if classes <= known:
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
    """Returns the name of each value's type, parallel to `values`. Returns None if `resolve_type`
    must be called for each value."""
    if not resolve_type_by_class(type_.resolve_type, values):
        return None
    names = _names.get(type_)
    if names is None:
        names = _names[type_] = {}
    try:
        return [names[type(value)] for value in values]
    except KeyError:
        pass
    for kind in classes_of(values) - names.keys():
        name = simple_name(kind)
        found = schema.get_type(name) if name else None
        if not isinstance(found, GraphQLObjectType) or not schema.is_sub_type(type_, found):
            return None
        names[kind] = name
    return [names[type(value)] for value in values]
