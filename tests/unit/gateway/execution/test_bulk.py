"""A bulk resolver is called once for a level. An error for one parent affects no other parent."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import strawberry
from strawberry.types import Info

from resolvers.bulk import bulk
from schema.fields import field as field_of
from tests.unit.gateway.execution.engines import both, ours

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Calls:
    sizes: list[int] = field(default_factory=list)


@dataclass
class Row:
    n: int


@bulk
async def times(context: Calls, rows: Sequence[Row], *, first: int = 2) -> list[Any]:
    context.sizes.append(len(rows))
    await asyncio.sleep(0)
    return [ValueError(f"no {row.n}") if row.n == 2 else first * row.n for row in rows]


@bulk
async def next_one(context: Calls, rows: Sequence[Row]) -> list[Any]:
    context.sizes.append(len(rows))
    return [Row(row.n + 1) if row.n < 4 else None for row in rows]


@bulk
async def failing(context: Calls, rows: Sequence[Row]) -> list[Any]:
    raise LookupError("all of them")


@strawberry.type
class Item:
    n: int
    times: int | None = field_of(times, "Its multiple.")
    next_one: "Item | None" = field_of(next_one, "The one after.")
    failing: int | None = field_of(failing, "Never there.")

    @strawberry.field(metadata={"bulk": lambda context, rows: [row.n * 10 for row in rows]})
    def tens(self) -> int:
        return self.n * 10


@strawberry.type
class Query:
    @strawberry.field
    def items(self, info: Info, count: int = 5) -> list[Item]:
        return [Row(n) for n in range(count)]  # type: ignore[misc]


SCHEMA = strawberry.Schema(Query)._schema


@pytest.mark.parametrize(
    "query",
    [
        "{items{n times}}",
        "{items{times(first:3) nextOne{n times(first:null) nextOne{n tens}}}}",
        "query($f:Int){items{nextOne{times(first:$f)} failing}}",
        "{items(count:0){times}}",
    ],
)
@pytest.mark.parametrize("variables", [{}, {"f": None}, {"f": 7}])
async def test_a_bulk_resolver_gives_the_same_response_as_single_calls(
    query: str, variables: Any
) -> None:
    await both(SCHEMA, query, variables, Calls)


async def test_a_bulk_resolver_is_called_once_for_a_level() -> None:
    calls = Calls()
    await ours(SCHEMA, "{items{nextOne{times nextOne{n}} times}}", context=calls)
    assert sorted(calls.sizes) == [4, 4, 5, 5]
