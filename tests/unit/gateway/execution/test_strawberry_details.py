"""strawberry's private names are used only with tested versions."""

import pytest
import strawberry

from gateway.execution import strawberry_details
from gateway.execution.strawberry_details import TRIED, is_known
from tests.unit.gateway.execution.engines import both

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
