"""The line and the column of a position, as graphql-core finds them, without a scan for each."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import FieldNode, GraphQLError, Source, parse
from graphql.language import location, source

from gateway.execution.model import lines
from gateway.execution.model.lines import LOCATIONS, Text, at_nodes


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of lines that were scanned, as the only item of a list."""
    count, pattern = [0], lines._NEWLINE

    class Counting:
        def finditer(self, body: str) -> Iterator[Any]:
            for match in pattern.finditer(body):
                count[0] += 1
                yield match

    for module, name in ((source, "_re_newline"), (location, "_re_newline"), (lines, "_NEWLINE")):
        monkeypatch.setattr(module, name, Counting())
    return count


@pytest.mark.parametrize("seed", range(40))
def test_a_location_is_the_one_that_graphql_core_finds(seed: int) -> None:
    drawing = random.Random(seed)
    body = "".join(drawing.choice("a \n\r\u2028\x0b") for _ in range(drawing.randrange(60)))
    text = Text(body)
    for indexed in (False, True):
        if indexed:
            assert text.index() == 4 * len(lines._NEWLINE.findall(body))
        for position in range(len(body) + 2):
            assert text.get_location(position) == Source(body).get_location(position)


def test_a_location_is_found_without_a_scan(scanned: list[int]) -> None:
    text = Text("\n" * 20_000 + "{ a }")
    text.index()
    assert scanned == [20_000]
    for _ in range(1_000):
        assert text.get_location(20_003) == (20_001, 4)
    assert scanned == [20_000]


def test_many_nodes_give_few_locations_without_a_scan(scanned: list[int]) -> None:
    text = Text("\n" * 1_000 + "{ " + "\na " * 2_000 + "}")
    document: Any = parse(text)
    nodes: list[FieldNode] = list(document.definitions[0].selection_set.selections)
    text.index()
    scanned[0] = 0
    error = at_nodes(nodes)
    assert scanned == [0]
    assert error.locations == GraphQLError("", nodes[:LOCATIONS]).locations
    assert error.nodes == nodes[:LOCATIONS]
    assert len(error.locations or ()) == LOCATIONS
    assert at_nodes([]).locations is None
