"""Chooses the source that resolves a field: the fastest source with the same result as
graphql-core's resolver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from graphql import default_field_resolver
from graphql.type.introspection import TypeNameMetaFieldDef
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField

from gateway.execution import strawberry_details
from gateway.execution.levels.arguments import Arguments
from gateway.execution.levels.info import same_for_all
from gateway.execution.levels.sources import Attribute, Bulk, Call, Constant
from gateway.execution.model.selection import Field, Source
from gateway.execution.strawberry_details import builds_itself, is_plain_type
from loaders.bulk import Resolver


def source_of(field: Field) -> Source:
    """Returns the fastest source with the same result as the field's graphql-core resolver."""
    definition = field.definition
    if definition is TypeNameMetaFieldDef:
        return Constant(field.parent.name)
    resolve = strawberry_details.resolver_of(definition)
    if resolve is None or resolve is default_field_resolver:
        arguments = Arguments(field, None)
        if not arguments.never_fail:  # wrong arguments are an error, even if nothing reads them
            return _any_source(field, default_field_resolver)
        return Attribute(field.name, True, arguments)
    own = strawberry_details.plain_field(definition, field.operation.schema)
    found = None if own is None else _strawberry_source(field, own)
    return found or _any_source(field, resolve)


def _any_source(field: Field, resolve: Callable[..., Any]) -> Source:
    return Call(resolve, "F(o, info)", Arguments(field, None), _same, same_for_all(resolve, 1))


def _same(info: Any) -> Any:
    return info


def _strawberry_source(field: Field, own: StrawberryField) -> Source | None:
    """Returns a source that calls the resolver of a strawberry field without strawberry's wrapper.
    Returns None if the wrapper may do more than call the resolver."""
    schema = strawberry_details.schema_of(field.operation.schema)
    config, registry = schema.config, schema.schema_converter.scalar_registry
    if own.base_resolver is None:
        if own.default_resolver is not getattr:
            return None
        return Attribute(own.python_name, False, Arguments(field, None))

    names = {config.name_converter.from_argument(a): a.python_name for a in own.arguments}
    plain = all(is_plain_type(argument.type) for argument in own.arguments)

    def convert(values: dict[str, Any]) -> dict[str, Any]:
        if plain:
            return {names[name]: value for name, value in values.items()}
        return convert_arguments(values, own.arguments, registry, config)

    def convert_without_nulls(values: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in convert(values).items() if value is not None}

    metadata: Mapping[Any, Any] = own.metadata or {}
    resolver = metadata.get("resolver")
    if isinstance(resolver, Resolver):
        arguments = Arguments(field, convert_without_nulls)
        if resolver.bulk:
            return Bulk(resolver.call, arguments)
        parts = (["ctx"] if resolver.contextual else []) + (["o"] if resolver.rooted else [])
        return Call(resolver.call, f"F({', '.join(parts)})", arguments, None, True)
    if "bulk" in metadata:
        return Bulk(metadata["bulk"], Arguments(field, convert))
    if any(builds_itself(argument.type) for argument in own.arguments):
        return None
    base = own.base_resolver
    function: Any = base.wrapped_func
    if not isinstance(function, FunctionType):
        return None
    parts = []
    if base.self_parameter:
        parts.append("o")
    if base.parent_parameter:
        parts.append(f"{base.parent_parameter.name}=o")
    if base.root_parameter:
        parts.append(f"{base.root_parameter.name}=o")
    new_info = None
    shared = True
    if base.info_parameter:
        name = base.info_parameter.name
        parts.append(f"{name}=info")
        shared = same_for_all(function, name)
        info_class = config.info_class

        def new_info(info: Any) -> Any:
            return info_class(_raw_info=info, _field=own)

    arguments = Arguments(field, convert, names if plain else None)
    return Call(function, f"F({', '.join(parts)})", arguments, new_info, shared)
