"""Responses of few objects with long texts: they are bounded while they are made, and encoded with
rests."""

import asyncio
import tracemalloc
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry
from graphql import parse

from gateway.execution import encode
from gateway.execution.compile.engine import Engine
from gateway.execution.executor import Executor
from gateway.execution.levels import slices
from gateway.settings import Limits, Settings
from gateway.site.executors import executor_of
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.unit.gateway.execution.engines import both

pytestmark = pytest.mark.anyio
TEXT = "\N{GRINNING FACE}" * 5_000
LENGTH = len(TEXT.encode())
BOUND = 1_000_000


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@bulk
async def authors(_: Any, rows: Sequence[Any]) -> Any:
    """Returns one author for all rows."""
    author = Author()
    return [author for _ in rows]


@strawberry.type
class Author:
    about: str = TEXT


@strawberry.type
class Row:
    text: str = TEXT
    lines: list[str] = strawberry.field(default_factory=lambda: [TEXT] * 10)
    author: Author = field_of(authors, "The author of all rows.")

    @strawberry.field
    async def later(self) -> str:
        return TEXT

    @strawberry.field
    async def same(self) -> "Row":
        return self


@strawberry.type
class Query:
    @strawberry.field
    def rows(self, count: int = 100) -> list[Row]:
        return [Row() for _ in range(count)]  # type: ignore[call-arg]


SCHEMA = strawberry.Schema(Query)


def times(field: str, count: int = 40) -> str:
    return " ".join(f"a{number}: {field}" for number in range(count))


SHAPES = {
    "texts": f"{{ rows {{ {times('text')} }} }}",
    "awaited texts": f"{{ rows {{ {times('later')} }} }}",
    "lists of texts": f"{{ rows {{ {times('lines', 4)} }} }}",
    "texts of one object": f"{{ rows {{ author {{ {times('about')} }} }} }}",
    "texts below an awaited object": f"{{ rows {{ same {{ {times('text')} }} }} }}",
    "rows": f"{{ {times('rows { text lines }', 30)} }}",
}


def executor_with(**limits: Any) -> Executor:
    return executor_of(SCHEMA, Settings(limits=Limits(max_cost=0, **limits)))


def context_of() -> Any:
    return SimpleNamespace(again=None, fault=None)


async def answered(query: str, **limits: Any) -> dict[str, Any]:
    result = await executor_with(**limits).run(query, None, None, context_of())
    answer: dict[str, Any] = orjson.loads(result.body())
    return answer


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_response_is_not_made_beyond_its_bound(shape: str) -> None:
    """Whole, each of these responses has 80 MB or more."""
    await answered("{ rows(count: 1) { text } }")
    tracemalloc.start()
    try:
        answer = await answered(SHAPES[shape], max_response_bytes=BOUND)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    [error] = answer["errors"]
    assert error["extensions"] == {"code": "RESPONSE_TOO_LARGE", "bound": BOUND}, error
    assert answer["data"] is None
    assert peak < 20_000_000


@pytest.mark.parametrize("count", [1, 12, 13, 30, 300])
@pytest.mark.parametrize("fields", ["text", "later", "lines", "author { about }", "same { text }"])
async def test_long_texts_give_the_same_response(fields: str, count: int) -> None:
    await both(SCHEMA._schema, f"{{ rows(count: {count}) {{ {fields} }} }}")


@pytest.mark.parametrize("shape", ["texts", "lists of texts", "texts of one object"])
async def test_long_texts_are_encoded_in_small_parts_with_rests(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no time between rests, the event loop takes a turn after each part."""
    monkeypatch.setattr(encode, "BUDGET", -1)
    monkeypatch.setattr(slices, "BUDGET", -1)
    executor, context = executor_with(max_response_bytes=10**9), context_of()
    loop, turns = asyncio.get_running_loop(), 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        loop.call_soon(turn)

    loop.call_soon(turn)
    result = await executor.run(SHAPES[shape], None, None, context)
    assert result.data is not None
    assert not result.errors
    assert result.size > 100 * 40 * LENGTH
    assert max(map(len, result.data)) < 2 * encode.PART
    assert turns >= len(result.data)
    assert len(orjson.loads(result.body())["data"]["rows"]) == 100


async def test_the_texts_of_one_object_are_encoded_in_small_parts() -> None:
    query = f"{{ rows(count: 1) {{ {times('text', 98)} }} }}"
    result = await executor_with(max_response_bytes=10**9).run(query, None, None, context_of())
    assert result.data is not None
    assert result.size > 98 * LENGTH
    assert max(map(len, result.data)) < 2 * encode.PART


SIZED = {
    "one part": "{ rows(count: 1) { text } }",
    "one large part": "{ rows(count: 1) { " + times("text", 20) + " } }",
    "many large parts": "{ rows(count: 100) { lines } }",
    "many small parts": "{ rows(count: 9000) { __typename } }",
    "several root fields": "{ rows(count: 1) { text } other: rows(count: 20) { lines } }",
    "a mutation": "mutation { rows(count: 1) { text } other: rows(count: 20) { lines } }",
}


@strawberry.type
class Mutation(Query):
    pass


WRITING = strawberry.Schema(Query, Mutation)._schema


@pytest.mark.parametrize("query", SIZED.values(), ids=SIZED)
async def test_the_last_byte_counts_for_the_largest_size_of_a_response(query: str) -> None:
    plan = Engine(WRITING).compile(parse(query))
    size = len((await plan.run()).data or b"")
    assert len((await plan.run(most_bytes=size)).data or b"") == size
    for most in (size - 1, size // 2, 1):
        with pytest.raises(encode.TooLarge):
            await plan.run(most_bytes=most)
