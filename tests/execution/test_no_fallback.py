"""All known operations on Pinway's schema are compiled: graphql-core runs none of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from graphql import (
    GraphQLSyntaxError,
    OperationDefinitionNode,
    OperationType,
    get_introspection_query,
    parse,
    validate,
)

from schema import schema
from tests.execution.comparing import new_engine

HERE = Path(__file__).resolve().parents[2]


def texts() -> Iterator[str]:
    for path in sorted((HERE / "gateway" / "samples").glob("*.graphql")):
        yield path.read_text()
    for path in sorted((HERE / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{" in node.value:
                yield node.value
    for path in sorted((HERE / "tests" / "outside" / "node").glob("*.*js")):
        yield from path.read_text().split("`")[1::2]
    yield get_introspection_query()
    # The introspection query of GraphiQL.
    yield get_introspection_query(
        specified_by_url=True,
        schema_description=True,
        input_value_deprecation=True,
        directive_is_repeatable=True,
        one_of=True,
    )


def operations() -> list[tuple[str, str | None]]:
    found = {}
    for text in texts():
        if not text.lstrip().startswith(("{", "query", "mutation", "fragment", "#")):
            continue
        try:
            document = parse(text)
        except GraphQLSyntaxError:
            continue
        if validate(schema._schema, document):
            continue
        for definition in document.definitions:
            if (
                isinstance(definition, OperationDefinitionNode)
                and definition.operation is not OperationType.SUBSCRIPTION
            ):
                found[text, definition.name.value if definition.name else None] = None
    return list(found)


def test_none_of_our_operations_falls_back() -> None:
    found = operations()
    assert len(found) > 60
    engine = new_engine(schema._schema)
    fallen = [
        (text, reason)
        for text, name in found
        if (reason := engine.compile(parse(text), name).fallback) is not None
    ]
    assert not fallen
