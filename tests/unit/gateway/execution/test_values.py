"""Unusual values of resolvers end as graphql-core has them, or as errors of their fields."""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import pytest
import strawberry
from graphql import (
    GraphQLBoolean,
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
)
from strawberry.extensions import SchemaExtension

from gateway.execution.compile.engine import Engine
from gateway.execution.levels.info import same_for_all
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.unit.gateway.execution.engines import both, ours

pytestmark = pytest.mark.anyio
ANY = GraphQLScalarType("Any")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def answering(type_: Any, value: Callable[[], Any]) -> GraphQLSchema:
    """A schema whose field `at` gives a value; and so does one below an object and in lists."""
    fields = {
        "at": GraphQLField(type_, resolve=lambda *_: value()),
        "ats": GraphQLField(GraphQLList(type_), resolve=lambda *_: [value(), value()]),
        "read": GraphQLField(type_),
        "late": GraphQLField(GraphQLInt, resolve=lambda *_: asyncio.sleep(0, 1)),
    }
    below = GraphQLObjectType("Below", fields)

    def made() -> dict[str, Any]:
        return {"read": value()}

    rows = GraphQLField(GraphQLList(below), resolve=lambda *_: [made(), made()])
    return GraphQLSchema(GraphQLObjectType("Query", {**fields, "rows": rows}))


@pytest.mark.parametrize(
    "value",
    [2**70, {1: "a", None: 2, "b": {True: 2**64}}, "\ud800", ["x", ("\udfff", -(2**63) - 1)]],
)
@pytest.mark.parametrize("query", ["{at ats}", "{rows{read at late ats}}", "{rows{read}}"])
async def test_the_json_module_encodes_values_that_orjson_refuses(value: Any, query: str) -> None:
    outcome = await ours(answering(ANY, lambda: value), query)
    assert not outcome.errors
    data = json.loads(outcome.data or b"")
    if "rows" in data:
        (data, _) = data["rows"]
    for name in ("read", "at"):
        assert data.get(name, json.loads(json.dumps(value))) == json.loads(json.dumps(value))


async def test_a_lone_surrogate_in_a_string_is_escaped() -> None:
    outcome = await ours(answering(GraphQLString, lambda: "a\ud800"), "{at ats rows{read late}}")
    assert (outcome.data or b"").count(b'"a\\ud800"') == 5


@pytest.mark.parametrize("value", [object(), {"a": {1, 2}}, {(1, 2): 3}])
async def test_a_value_that_json_does_not_have_is_a_field_error(value: Any) -> None:
    outcome = await ours(answering(ANY, lambda: value), "{at rows{read late}}")
    assert json.loads(outcome.data or b"") == {
        "at": None,
        "rows": [{"read": None, "late": 1}, {"read": None, "late": 1}],
    }
    assert [error.path for error in outcome.errors] == [
        ["at"],
        ["rows", 0, "read"],
        ["rows", 1, "read"],
    ]


@pytest.mark.parametrize("query", ["{at}", "{ats}", "{rows{at read}}", "{rows{read late}}"])
@pytest.mark.parametrize("type_", [GraphQLString, GraphQLInt, GraphQLNonNull(GraphQLBoolean)])
async def test_a_returned_base_exception_is_a_value(type_: Any, query: str) -> None:
    await both(answering(type_, lambda: asyncio.CancelledError("a")), query)


async def test_a_gathered_cancellation_does_not_end_the_request() -> None:
    async def gathered(*_: Any) -> list[Any]:
        async def cancelled() -> int:
            raise asyncio.CancelledError

        return await asyncio.gather(cancelled(), asyncio.sleep(0, 7), return_exceptions=True)

    field = GraphQLField(GraphQLList(GraphQLInt), resolve=gathered)
    outcome = await both(GraphQLSchema(GraphQLObjectType("Query", {"a": field})), "{a}")
    assert outcome.data == b'{"a":[null,7]}'


async def test_an_exception_whose_str_raises_is_a_field_error() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    class Muter(Exception):
        @property
        def message(self) -> str:
            raise RuntimeError("no message")

    for kind in (Mute, Muter):
        outcome = await ours(answering(GraphQLString, kind), "{at late}")
        assert outcome.data == b'{"at":null,"late":1}'
        assert kind.__name__ in outcome.errors[0].message


class Promising:
    def __init__(self, value: Any) -> None:
        self.value = value


async def _serialized(value: Any) -> Any:
    await asyncio.sleep(0)
    if value.value == "bad":
        raise ValueError("bad")
    return value.value


LATER = GraphQLScalarType("Later", serialize=_serialized)


@pytest.mark.parametrize("type_", [LATER, GraphQLNonNull(LATER)])
@pytest.mark.parametrize("value", [1, "bad", None, {"a": [1]}])
@pytest.mark.parametrize("query", ["{at}", "{ats}", "{rows{read late}}", "{late rows{at}}"])
async def test_an_awaitable_from_a_scalar_is_awaited(type_: Any, value: Any, query: str) -> None:
    await both(answering(type_, lambda: Promising(value)), query)


def test_a_wrapper_is_called_in_place_of_the_function_that_it_wraps() -> None:
    def inner(_: Any, info: Any) -> Any:
        return info.context

    class Wrapping:
        def __call__(self, _: Any, info: Any) -> Any:
            return info.path

        def method(self, _: Any, info: Any) -> Any:
            return info.path

    wrapping = Wrapping()
    update_wrapper(wrapping, inner)
    update_wrapper(Wrapping.method, inner)
    assert same_for_all(inner, 1)
    assert not same_for_all(wrapping, 1)
    assert not same_for_all(wrapping.method, 1)


async def test_schema_extensions_are_refused() -> None:
    class Noting(SchemaExtension):
        pass

    @strawberry.type
    class Query:
        a: int = 1

    schema = strawberry.Schema(Query, extensions=[Noting])
    with pytest.raises(ValueError, match="Noting"):
        Engine(schema._schema)


@strawberry.type
class Row:
    id: int

    @strawberry.field
    async def odd(self) -> str:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if self.id == 2:
            raise ValueError("odd")
        return f"odd{self.id}"


SHARED: list[Row] = []
NUMBERS: list[int] = []


@strawberry.type
class Box:
    @strawberry.field
    async def trouble(self) -> int:
        await asyncio.sleep(0)
        SHARED.reverse()
        NUMBERS.reverse()
        return 1

    @strawberry.field
    def items(self) -> list[Row | None]:
        return SHARED  # type: ignore[return-value]

    @strawberry.field
    def numbers(self) -> list[int]:
        return NUMBERS

    @strawberry.field
    async def wrong(self) -> int | None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return 2**40


@strawberry.type
class Sharing(Box):
    @strawberry.field
    def boxes(self) -> list[Box]:
        return [Box()]


@pytest.mark.parametrize(
    "fields", ["trouble items{id odd}", "items{odd id} trouble", "numbers trouble wrong"]
)
@pytest.mark.parametrize("query", ["{%s}", "{boxes{%s}}"])
async def test_a_resolver_may_change_its_list_later(fields: str, query: str) -> None:
    SHARED[:] = [Row(id=n) for n in (1, 2, 3, 4)]  # type: ignore[call-arg]
    NUMBERS[:] = [1, 2, 3, 4]
    outcome = await ours(strawberry.Schema(Sharing)._schema, query % fields, root=Box())
    data = json.loads(outcome.data or b"")
    data = data["boxes"][0] if "boxes" in data else data
    if "numbers" in data:
        assert data["numbers"] == [1, 2, 3, 4]
    else:
        rows = [{"id": n, "odd": f"odd{n}"} for n in (1, 2, 3, 4)]
        assert data["items"] == [None if row["id"] == 2 else row for row in rows]


@bulk
async def names(_: Any, rows: Sequence[Any]) -> Sequence[Any]:
    return KEPT


@bulk
async def changing(_: Any, rows: Sequence[Any]) -> Sequence[Any]:
    await asyncio.sleep(0)
    KEPT.reverse()
    return [2**40 if row.n else 1 for row in rows]


KEPT = ["a", "b"]


@strawberry.type
class Item:
    n: int
    name: str = field_of(names, "A column that the resolver keeps.")
    change: int | None = field_of(changing, "Reverses that column.")


@strawberry.type
class Query:
    @strawberry.field
    def items(self) -> list[Item]:
        return [Item(n=0), Item(n=1)]  # type: ignore[call-arg]


async def test_a_bulk_resolver_may_change_its_list_later() -> None:
    outcome = await ours(strawberry.Schema(Query)._schema, "{items{n name change}}", root=None)
    first, second = json.loads(outcome.data or b"")["items"]
    assert (first["name"], second["name"]) == ("a", "b")
    KEPT[:] = ["a", "b"]
