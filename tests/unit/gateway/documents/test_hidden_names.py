"""With suggestions switched off, errors have only those names of the schema that the client
sent."""

import re
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from graphql import GraphQLEnumType, GraphQLInputObjectType

from gateway.documents.hidden_names import Hiding, Sent
from gateway.settings import Http, Settings
from gateway.site.executors import new_executor
from schema import schema

pytestmark = pytest.mark.anyio

HIDDEN = Settings(http=Http(introspection=False))
CONTEXT: Any = SimpleNamespace(fault=None, again=lambda: False, viewer_id=None)


async def errors(query: str, variables: dict[str, Any] | None, settings: Settings) -> list[str]:
    result = await new_executor(settings).run(query, variables, None, CONTEXT)
    return [error["message"] for error in orjson.loads(result.body()).get("errors", [])]


def names() -> set[str]:
    """Returns the names of the schema, except English words and the specification's scalars."""
    found: set[str] = set()
    for name, type_ in schema._schema.type_map.items():
        if name.startswith("__") or name in ("ID", "Int", "Float", "String", "Boolean"):
            continue
        found.add(name)
        if isinstance(type_, GraphQLEnumType):
            found |= set(type_.values)
        elif isinstance(type_, GraphQLInputObjectType) or hasattr(type_, "fields"):
            found |= set(type_.fields)
    return {name for name in found if name[0].isupper() or re.search(r"[a-z][A-Z]", name)}


PROBES: list[tuple[str, dict[str, Any] | None]] = [
    ("{ viewe { id } }", None),
    ("{ viewer { boardz { x } } }", None),
    ("{ viewer }", None),
    ("{ board { id } }", None),
    ("{ board(idd: 1) { id } }", None),
    ("{ viewer { id { x } } }", None),
    ("{ ... on Boarf { id } }", None),
    ("{ viewer { ... on Board { id } } }", None),
    ("query ($x: CreateBoardInpu) { viewer { id } }", None),
    ("mutation { createBoard(input: {}) { board { id } } }", None),
    ("mutation { createBoard(input: {nam: 1, secret: 3}) { errors } }", None),
    ("mutation { creatBoard { id } }", None),
    ("query ($i: ID!) { board(id: $i) { id } }", {}),
    ("query ($i: ID!) { board(id: $i) { id } }", {"i": {"x": 1}}),
    ("mutation ($i: CreateBoardInput!) { createBoard(input: $i) { board { id } } }", {"i": {}}),
    (
        "mutation ($i: CreateBoardInput!) { createBoard(input: $i) { board { id } } }",
        {"i": {"nam": 1, "descriptio": 2}},
    ),
    ("query ($n: String) { board(id: $n) { id } }", None),
    ("{ viewer @skp { id } }", None),
    ("{ viewer @skip { id } }", None),
]


@pytest.mark.parametrize(("query", "variables"), PROBES)
async def test_no_error_has_a_name_that_was_not_sent(
    query: str, variables: dict[str, Any] | None
) -> None:
    sent = set(re.findall(r"\w+", query + orjson.dumps(variables).decode()))
    found = await errors(query, variables, HIDDEN)
    assert found
    told = set(re.findall(r"\w+", " ".join(found)))
    assert told & (names() - sent) == set()
    assert not any("Did you mean" in message for message in found)


async def test_names_that_were_sent_are_repeated() -> None:
    assert await errors("{ viewe { id } }", None, HIDDEN) == [
        "Cannot query field 'viewe' on type '...'."
    ]


@pytest.mark.parametrize(
    ("text", "has"),
    [("boardId", True), ("x.boardId)", True), ("aboardId", False), ("boardIdx boardId", True)],
)
def test_a_name_counts_as_sent_if_it_is_a_whole_word(text: str, has: bool) -> None:
    assert Sent("", text).has("boardId") is has


def test_the_request_is_searched_once_for_each_name() -> None:
    hiding, looked = Hiding(schema._schema), list[str]()

    class Counting(Sent):
        def __init__(self) -> None:
            super().__init__("{ boardId }")
            self._known = Known()

    class Known(dict[str, bool]):
        def __setitem__(self, name: str, known: bool) -> None:
            looked.append(name)
            super().__setitem__(name, known)

    sent = Counting()
    for _ in range(50):
        told = hiding.hidden("'boardId' of 'CreatePinInput' is no 'wrong'", sent)
        assert told == "'boardId' of '...' is no 'wrong'"
    assert sorted(looked) == ["CreatePinInput", "boardId"]


async def test_names_are_not_hidden_by_default() -> None:
    (found,) = await errors("{ viewe { id } }", None, Settings())
    assert "'Query'" in found
    assert "Did you mean 'viewer'" in found


async def test_introspection_can_be_switched_off() -> None:
    (found,) = await errors("{ __schema { types { name } } }", None, HIDDEN)
    assert "introspection is switched off" in found
    assert await errors("{ __typename }", None, HIDDEN) == []
    assert await errors('{ __type(name: "Pin") { name } }', None, Settings()) == []
