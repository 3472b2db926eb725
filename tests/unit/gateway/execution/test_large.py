"""Large responses are made and encoded in slices, with the same result."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry
from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
)

from gateway.execution import encode
from gateway.execution.compile.variant import Variant
from gateway.execution.levels.slices import SLICE
from gateway.settings import Settings
from gateway.site.executors import executor_of
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.execution.slicing import in_slices
from tests.loop_turns import other_task
from tests.unit.gateway.execution.engines import both, ours

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def large(count: int) -> GraphQLSchema:
    async def later(row: dict[str, Any], info: Any) -> int:
        await asyncio.sleep(0)
        return int(row["n"])

    tag = GraphQLObjectType("Tag", {"t": GraphQLField(GraphQLString)})
    row = GraphQLObjectType(
        "Row",
        {
            "n": GraphQLField(GraphQLNonNull(GraphQLInt)),
            "later": GraphQLField(GraphQLInt, resolve=later),
            "tags": GraphQLField(GraphQLList(tag)),
            "names": GraphQLField(GraphQLList(GraphQLString)),
        },
    )
    made = [
        {"n": None if n % 1000 == 7 else n, "tags": [{"t": f"é{n}"}] * (n % 3), "names": ["a"]}
        for n in range(count)
    ]
    rows = GraphQLField(GraphQLList(row), resolve=lambda *_: made)
    return GraphQLSchema(GraphQLObjectType("Query", {"rows": rows}))


@pytest.mark.parametrize("fields", ["n", "n tags{t}", "names tags{t} n", "__typename"])
async def test_a_large_list_gives_the_same_response(fields: str) -> None:
    await both(large(5_000), f"{{rows{{{fields}}}}}")


async def test_a_large_list_of_awaitables() -> None:
    schema = large(3_000)
    await both(schema, "{rows{tags{t} n}}")
    outcome = await ours(schema, "{rows{later}}")
    assert (outcome.data or b"").count(b"later") == 3_000


async def test_other_tasks_run_while_a_large_response_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_slices(monkeypatch, budget=0.0)
    monkeypatch.setattr(encode, "BUDGET", 0.0)
    async with other_task() as other:
        await ours(large(20_000), "{rows{n tags{t}}}")
    assert other.turns > 50


@pytest.mark.parametrize(
    "data",
    [None, {}, {"a": []}, {"a": [[]]}, {"a": {"b": list(range(1000))}, "c": {"d": {"é": [1.5]}}}],
)
async def test_the_parts_of_the_encoded_data_join_to_the_whole(data: Any) -> None:
    assert b"".join(await encode.encode(data)) == orjson.dumps(data)


@bulk
async def friends(_: Any, rows: Sequence[Any]) -> Any:
    """Returns lists: at once for the last part of a large level, one turn later for other parts."""
    if len(rows) > SLICE:
        await asyncio.sleep(0)
    return [[Person(n=row.n + 1)] for row in rows]  # type: ignore[call-arg]


@strawberry.type
class Person:
    n: int
    friends: list["Person"] = field_of(friends, "Theirs.")


@strawberry.type
class People:
    @strawberry.field
    def people(self, count: int) -> list[Person]:
        return [Person(n=n) for n in range(count)]  # type: ignore[call-arg]


@pytest.mark.parametrize("count", [2_048, 2_049, 2_129, 2_304, 2_305, 4_097])
async def test_lists_that_arrive_for_part_of_a_large_level_give_the_same_response(
    count: int,
) -> None:
    query = f"{{people(count:{count}){{n friends{{n friends{{n friends{{n}}}}}}}}}}"
    await both(strawberry.Schema(People)._schema, query)


@strawberry.type
class Kept:
    numbers: strawberry.Private[list[int]]

    @strawberry.field
    def all(self) -> list[int]:
        return self.numbers

    @strawberry.field
    def cleared(self) -> bool:
        self.numbers.clear()
        return True


async def test_a_large_list_that_a_resolver_changes_later_is_as_it_was() -> None:
    schema = strawberry.Schema(Kept)._schema
    for count in (1, SLICE, SLICE + 1):
        outcome = await ours(schema, "{ all cleared }", root=Kept(numbers=list(range(count))))
        assert not outcome.errors
        assert orjson.loads(outcome.data or b"")["all"] == list(range(count))


async def test_a_bug_of_the_executor_is_an_error_of_the_response(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise AttributeError("a fault")

    monkeypatch.setattr(Variant, "select", broken)
    context: Any = SimpleNamespace(again=None, fault=None)
    executor = executor_of(strawberry.Schema(People), Settings())
    result = await executor.run("{people(count:1){n}}", None, None, context)
    assert orjson.loads(result.body()) == {
        "data": None,
        "errors": [{"message": "Something went wrong.", "extensions": {"code": "INTERNAL"}}],
    }
    assert "a fault" in caplog.text
