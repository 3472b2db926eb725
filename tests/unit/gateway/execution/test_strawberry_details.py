"""strawberry's private names are used only with tested versions."""

from typing import Any

import orjson
import pytest
import strawberry

from gateway.execution import strawberry_details
from gateway.execution.strawberry_details import TRIED, is_known
from tests.unit.gateway.execution.engines import both, ours

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@strawberry.interface
class Named:
    name: str


@strawberry.type
class Pet(Named):
    @strawberry.field
    def greeting(self, word: str = "hello") -> str:
        return f"{word} {self.name}"


@strawberry.type
class Query:
    @strawberry.field
    def pets(self) -> list[Named]:
        return [Pet(name="a"), Pet(name="b")]


@strawberry.input(one_of=True)
class Choice:
    name: strawberry.Maybe[str]
    number: strawberry.Maybe[int]


@strawberry.input
class Filter:
    choices: list[Choice]


@strawberry.type
class Search:
    @strawberry.field
    def found(self, by: Filter) -> list[str]:
        return []


def test_only_tested_versions_are_known() -> None:
    first, too_new = (".".join(map(str, version)) for version in TRIED)
    assert is_known(f"{first}.0")
    assert not is_known(f"{too_new}.0")
    assert not is_known("0.300.1")
    assert not is_known("1.0")


@pytest.mark.parametrize("known", [True, False])
async def test_the_response_is_the_same_with_an_unknown_version(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strawberry_details, "KNOWN", known)
    schema = strawberry.Schema(Query, types=[Pet])._schema
    outcome = await both(schema, '{pets {name ... on Pet {greeting(word: "hi")}}}', root=Query())
    assert not outcome.errors
    definition = schema.get_type("Pet").fields["greeting"]  # type: ignore[union-attr]
    found = strawberry_details.plain_field(definition, schema)
    assert (found is not None) == known


async def test_is_one_of_is_null_for_all_types_but_input_objects() -> None:
    schema = strawberry.Schema(Search)._schema
    wrapped = "kind isOneOf ofType { kind isOneOf ofType { kind isOneOf ofType { isOneOf } } }"
    text = (
        f'{{ out: __type(name: "Search") {{ kind isOneOf fields {{ type {{ {wrapped} }} }} }} '
        f'in: __type(name: "Filter") {{ kind isOneOf inputFields {{ type {{ {wrapped} }} }} }} }}'
    )
    outcome = await ours(schema, text)
    assert not outcome.errors
    data = orjson.loads(outcome.data or b"null")

    def of(type_: Any) -> list[Any]:
        return [] if type_ is None else [type_.get("isOneOf"), *of(type_.get("ofType"))]

    out, given = data["out"], data["in"]
    assert (out["isOneOf"], given["isOneOf"]) == (None, False)
    assert of(out["fields"][0]["type"]) == [None, None, None, None]
    assert of(given["inputFields"][0]["type"]) == [None, None, None, True]
