"""The lengths of the lists that introspection returns, so that introspection is charged.

An operation may request the whole schema thirty times, under aliases. That reads nothing, but makes
thousands of values each time. Each list below a type or a field counts as long as such lists are on
average, so all types together cost as much as the response has values.
"""

from typing import Any

from graphql import GraphQLSchema, is_abstract_type


def lengths(schema: GraphQLSchema) -> dict[tuple[str, str], float]:
    """The length of each list of the introspection types, by the names of type and field."""
    types: list[Any] = list(schema.type_map.values())
    fields = [field for type_ in types for field in _fields(type_).values()]
    outputs = [field for field in fields if hasattr(field, "args")]
    arguments = sum(len(field.args) for field in outputs)
    values = sum(len(getattr(type_, "values", ())) for type_ in types)
    interfaces = sum(len(getattr(type_, "interfaces", ())) for type_ in types)
    possible = sum(len(schema.get_possible_types(t)) for t in types if is_abstract_type(t))
    directives = schema.directives
    return {
        ("__Schema", "types"): float(len(types)),
        ("__Schema", "directives"): float(len(directives)),
        ("__Type", "fields"): len(outputs) / len(types),
        ("__Type", "inputFields"): (len(fields) - len(outputs)) / len(types),
        ("__Type", "enumValues"): values / len(types),
        ("__Type", "interfaces"): interfaces / len(types),
        ("__Type", "possibleTypes"): possible / len(types),
        ("__Field", "args"): arguments / max(len(outputs), 1),
        ("__Directive", "args"): sum(len(d.args) for d in directives) / max(len(directives), 1),
    }


def _fields(type_: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(type_, "fields", {})
    return found
