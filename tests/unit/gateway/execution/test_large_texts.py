"""Responses of few objects with long texts: they are bounded while they are made, and encoded with
rests."""

import tracemalloc
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import strawberry

from gateway.execution import encode
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


async def answered(query: str, **limits: Any) -> dict[str, Any]:
    context: Any = SimpleNamespace(again=None, fault=None)
    executor = executor_of(SCHEMA, Settings(limits=Limits(max_cost=0, **limits)))
    result = await executor.run(query, None, None, context)
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


async def test_long_texts_are_encoded_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, dumps = list[int](), encode.dumps

    def recorded(value: Any) -> bytes:
        sizes.append(len(dumps(value)))
        return dumps(value)

    monkeypatch.setattr(encode, "dumps", recorded)
    answer = await answered(SHAPES["texts"], max_response_bytes=10**9)
    assert len(answer["data"]["rows"]) == 100
    assert sum(sizes) > 100 * 40 * LENGTH
    assert max(sizes) < encode.PART
