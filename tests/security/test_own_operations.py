"""The default limits refuse none of our own operations: samples, documentation, clients' tests."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import OperationDefinitionNode, get_introspection_query

from gateway.documents.cache import PreparedOperation
from gateway.settings import Settings
from gateway.site.executors import new_executor

ROOT = Path(__file__).parents[2]
LONGEST = {"first": 100, "count": 100}
FRAGMENTS = re.compile(r"\$\{\w+\}")


def operations() -> Iterator[tuple[str, str]]:
    """The place of each operation, and its document."""
    for path in sorted((ROOT / "gateway" / "samples").glob("*.graphql")):
        yield path.name, path.read_text()
    for path in sorted((ROOT / "tests" / "outside" / "node").glob("*.mjs")):
        for number, found in enumerate(re.finditer(r"gql`([^`]+)`", path.read_text())):
            yield f"{path.name} {number}", FRAGMENTS.sub("", found[1])
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, found in enumerate(
            re.finditer(r"```graphql\n(.+?)```", path.read_text(), re.S)
        ):
            yield f"{path.name} {number}", found[1]
    for described in (True, False):
        text = get_introspection_query(
            descriptions=described,
            specified_by_url=True,
            directive_is_repeatable=True,
            schema_description=True,
            input_value_deprecation=True,
        )
        yield f"introspection {described}", text


OPERATIONS = dict(operations())


def test_there_are_operations_of_each_kind() -> None:
    names = " ".join(OPERATIONS)
    for kind in ("home-feed", "apollo.mjs", "urql.mjs", "README.md", "tutorial.md"):
        assert kind in names


@pytest.mark.parametrize("name", OPERATIONS)
def test_it_is_within_the_default_bounds(name: str) -> None:
    executor = new_executor(Settings())
    document = executor.documents.get(OPERATIONS[name])
    assert document.errors == []
    assert document.ast is not None
    for node in document.ast.definitions:
        if isinstance(node, OperationDefinitionNode):
            operation = document.operation(node.name.value if node.name else None)
            assert isinstance(operation, PreparedOperation)
            assert operation.estimate.cost(LONGEST) <= Settings().limits.max_cost
