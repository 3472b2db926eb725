"""The schema is described throughout, and changes only on purpose."""

from graphql import GraphQLNamedType, GraphQLSchema, build_schema
from graphql.utilities import find_breaking_changes, find_dangerous_changes

from schema.snapshot import PATH, printed


def test_the_schema_is_its_snapshot() -> None:
    before, now = PATH.read_text(), printed()
    if before != now:
        old, new = build_schema(before), build_schema(now)
        breaking = [change.description for change in find_breaking_changes(old, new)]
        risky = [change.description for change in find_dangerous_changes(old, new)]
        raise AssertionError(
            "The schema changed; `python -m schema.snapshot` writes the new snapshot.\n"
            f"Breaks clients: {breaking or 'nothing'}\nMay surprise clients: {risky or 'nothing'}"
        )


def test_every_type_field_argument_and_value_is_described() -> None:
    schema = build_schema(printed())
    missing = [
        name
        for type_ in schema.type_map.values()
        if not type_.name.startswith("__")
        for name, description in described(type_, schema)
        if not description
    ]
    assert not missing


def described(type_: GraphQLNamedType, schema: GraphQLSchema) -> list[tuple[str, str | None]]:
    """All names of a type, each with its description."""
    names: list[tuple[str, str | None]] = [(type_.name, type_.description)]
    for name, field in getattr(type_, "fields", {}).items():
        names.append((f"{type_.name}.{name}", field.description))
        for argument, definition in getattr(field, "args", {}).items():
            names.append((f"{type_.name}.{name}({argument})", definition.description))
    for name, value in getattr(type_, "values", {}).items():
        names.append((f"{type_.name}.{name}", value.description))
    return names
