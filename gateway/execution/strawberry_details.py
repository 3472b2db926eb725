"""The private names of strawberry that the executor depends on: change this module when strawberry
changes.

strawberry wraps each resolver, and defines `is_type_of` for its types. If the executor recognizes
strawberry's function, it calls the resolver without the wrapper, with the same result. This was
tested with the versions in `TRIED`; pyproject.toml has the same upper bound. With any other
version, nothing is recognized: strawberry's own functions run, more slowly, after one warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import repeat
from typing import Any

from graphql import GraphQLField, GraphQLInputObjectType, GraphQLSchema
from strawberry import ID
from strawberry.types.base import StrawberryOptional
from strawberry.types.cast import TYPE_CAST_ATTRIBUTE
from strawberry.types.field import StrawberryField

TRIED = ((0, 341), (0, 342))
"""The first version that was tested, and the first version after the tested ones."""
BACK_REFERENCE = "strawberry-definition"
RESOLVERS = {
    f"GraphQLCoreConverter.from_resolver.<locals>.{name}"
    for name in ("_get_basic_result", "_resolver", "_async_resolver")
}
IS_ONE_OF = "Schema._extend_introspection.<locals>._resolve_is_one_of"
IS_TYPE_OF = "strawberry.schema.schema_converter"
RESOLVE_TYPE = {
    ("strawberry.schema.schema_converter", "resolve_type"),
    ("strawberry.types.union", "_resolve_union_type"),
}


def is_known(installed: str) -> bool:
    """Whether this version of strawberry was tested."""
    numbers = tuple(int(part) for part in installed.split(".")[:2] if part.isdigit())
    return TRIED[0] <= numbers < TRIED[1]


KNOWN = is_known(version("strawberry-graphql"))
if not KNOWN:
    logging.getLogger("pinway").warning(
        "strawberry-graphql %s was not tested with this executor: resolvers run through"
        " strawberry's own wrappers, more slowly",
        version("strawberry-graphql"),
    )


def schema_of(schema: GraphQLSchema) -> Any:
    """The strawberry schema from which a schema was made; None if it was made otherwise."""
    return getattr(schema, "_strawberry_schema", None)


def plain_field(definition: GraphQLField, schema: GraphQLSchema) -> StrawberryField | None:
    """The strawberry field of a field whose wrapper only calls the resolver, else None."""
    own = definition.extensions.get(BACK_REFERENCE) if definition.extensions else None
    if (
        KNOWN
        and isinstance(own, StrawberryField)
        and getattr(definition.resolve, "__qualname__", "") in RESOLVERS
        and not own.extensions
        and type(own).get_result is StrawberryField.get_result
        and not _handles_exceptions(schema)
    ):
        return own
    return None


def resolver_of(definition: GraphQLField) -> Callable[..., Any] | None:
    """The field's own resolver. strawberry's `__Type.isOneOf` fails for lists and non-null types,
    so the resolver of the specification takes its place: null for all types but input objects."""
    resolve = definition.resolve
    if getattr(resolve, "__qualname__", "") == IS_ONE_OF:
        return _is_one_of
    return resolve


def _is_one_of(type_: object, info: Any) -> bool | None:
    if not isinstance(type_, GraphQLInputObjectType):
        return None
    own = type_.extensions.get(BACK_REFERENCE)
    return type_.is_one_of if own is None else bool(own.is_one_of)


def _handles_exceptions(schema: GraphQLSchema) -> bool:
    made_from = schema_of(schema)
    return made_from is None or bool(getattr(made_from.schema_converter, "exception_handlers", ()))


def is_plain_type(type_: Any) -> bool:
    """Whether strawberry passes arguments of this type to resolvers as graphql-core coerced
    them."""
    if type(type_) is StrawberryOptional:
        type_ = type_.of_type
    return type_ in (str, int, float, bool, ID)


def builds_itself(type_: Any) -> bool:
    """Whether an input type has a `from_input` of its own, which may read the resolver's info."""
    while hasattr(type_, "of_type"):
        type_ = type_.of_type
    found = getattr(type_, "__strawberry_definition__", None)
    return found is not None and getattr(found, "from_input", None) is not None


def is_type_of_by_class(is_type_of: Callable[..., Any] | None, values: Sequence[Any]) -> bool:
    """Whether `is_type_of` is strawberry's, and its answers depend on the values' classes alone."""
    return KNOWN and getattr(is_type_of, "__module__", "") == IS_TYPE_OF and not _cast(values)


def resolve_type_by_class(resolve: Callable[..., Any] | None, values: Sequence[Any]) -> bool:
    """Whether `resolve_type` is strawberry's, and its answers depend on the values' classes
    alone."""
    name = (getattr(resolve, "__module__", ""), getattr(resolve, "__name__", ""))
    return KNOWN and name in RESOLVE_TYPE and not _cast(values)


def simple_name(kind: type) -> str:
    """The name of the strawberry type that this class defines. Empty if it defines none, or a
    generic type."""
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
    """Whether `strawberry.cast` changed the type of one of the values."""
    return any(map(hasattr, values, repeat(TYPE_CAST_ATTRIBUTE)))
