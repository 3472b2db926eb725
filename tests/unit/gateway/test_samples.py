"""The sample operations of GraphiQL fit the schema, and name only ids that the server fills in."""

import json
import re
from pathlib import Path

import pytest
from graphql import GraphQLSchema, OperationDefinitionNode, build_schema, parse, validate
from graphql.execution.values import get_variable_values

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((ROOT / "gateway" / "samples").glob("*.graphql"))
PLACEHOLDERS = {"boardId", "pinId", "otherPinId", "userId"}


@pytest.fixture(scope="module")
def printed_schema() -> GraphQLSchema:
    return build_schema((ROOT / "schema" / "schema.graphql").read_text())


def operation(sample: Path) -> OperationDefinitionNode:
    """The one operation of a sample."""
    (definition,) = parse(sample.read_text()).definitions
    assert isinstance(definition, OperationDefinitionNode)
    return definition


def test_there_is_a_tab_for_each_thing_that_a_newcomer_tries_first() -> None:
    names = [node.name.value for node in map(operation, SAMPLES) if node.name]
    assert names == [
        "HomeFeed",
        "BoardWithPins",
        "ReorderPin",
        "FollowUser",
        "CreatePin",
        "BoardChanged",
        "CreateSection",
        "InviteCollaborator",
    ]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_valid_with_its_variables(sample: Path, printed_schema: GraphQLSchema) -> None:
    assert validate(printed_schema, parse(sample.read_text())) == []
    variables = re.sub(r"\{\{\w+\}\}", "1", sample.with_suffix(".json").read_text())
    definitions = operation(sample).variable_definitions
    values = get_variable_values(printed_schema, definitions, json.loads(variables))
    assert not isinstance(values, list), values


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_opens_with_a_line_that_fits_the_pane_and_fills_only_known_ids(
    sample: Path,
) -> None:
    first_line = sample.read_text().splitlines()[0]
    assert first_line.startswith("# ")
    assert len(first_line) <= 60
    named = re.findall(r"\{\{(\w+)\}\}", sample.with_suffix(".json").read_text())
    assert set(named) <= PLACEHOLDERS
