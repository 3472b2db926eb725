"""A bulk resolver is called once for a level. An error for one parent affects no other parent."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
import strawberry
from strawberry.types import Info

from gateway.execution.levels.slices import SLICE
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.execution.slicing import in_slices
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


async def later(value: Any, turns: int) -> Any:
    for _ in range(turns):
        await asyncio.sleep(0)
    return value


@bulk
def mixed(context: Calls, rows: Sequence[Row]) -> list[Any]:
    """Values, an error, and awaitables that end in their first step or later."""
    given = {0: 0, 2: ValueError("no 2")}
    return [given[row.n] if row.n in given else later(row.n, row.n // 2) for row in rows]


@bulk
def mixed_items(context: Calls, rows: Sequence[Row]) -> list[Any]:
    return [Row(row.n) if row.n % 2 else later(Row(row.n), row.n) for row in rows]


@strawberry.type
class Item:
    n: int
    mixed: int | None = field_of(mixed, "Its number, now or later.")
    mixed_items: "Item | None" = field_of(mixed_items, "Its copy, now or later.")
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
        "{items{n mixed}}",
        "{items{mixedItems{n mixed times} mixed}}",
        "{items{nextOne{mixedItems{mixed}}}}",
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


@dataclass
class Failure:
    """The context of a request in which a row fails before the bulk resolver beside it answers."""

    failed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: list[int] = field(default_factory=list)


@bulk
async def children(context: Failure, rows: Sequence[Row]) -> list[Any]:
    await context.failed.wait()
    for _ in range(3):  # the null has propagated by then
        await asyncio.sleep(0)
    return [Row(row.n) for row in rows]


async def slow(context: Failure, row: Row) -> int:
    if row.n != 1:
        return row.n
    try:
        await asyncio.Event().wait()
    finally:
        context.ended.append(row.n)
    return -1


async def sound(context: Failure, row: Row) -> int:
    if row.n == 1:
        context.failed.set()
        raise ValueError("unsound")
    return row.n


@strawberry.type
class Child:
    n: int
    slow: int | None = field_of(slow, "Never there for row 1.")
    twin: "Child | None" = field_of(children, "Its copy.")


@strawberry.type
class Parent:
    n: int
    child: Child | None = field_of(children, "Its child.")
    sound: int = field_of(sound, "Fails for row 1.")

    @strawberry.field
    async def sound_at(self, info: Info) -> int:
        assert info.path.key == "soundAt"
        return await sound(info.context, self)


@strawberry.type
class Parents:
    @strawberry.field
    def parents(self, info: Info) -> list[Parent | None]:
        return [Parent(n=n) for n in range(3)]  # type: ignore[call-arg]


NULLED = strawberry.Schema(Parents)._schema


@pytest.mark.parametrize("below", ["slow", "n slow", "n twin{slow}", "twin{twin{n slow}}"])
@pytest.mark.parametrize("sound", ["sound", "soundAt"])
@pytest.mark.parametrize("size", [1, SLICE])
async def test_a_resolver_below_a_nulled_object_does_not_delay_the_response(
    below: str, sound: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object becomes null while its bulk field is awaited. The resolver below that field never
    ends by itself."""
    in_slices(monkeypatch, size=size)
    context = Failure()
    query = f"{{parents{{child{{{below}}} {sound}}}}}"
    request = asyncio.ensure_future(ours(NULLED, query, context=context))
    for _ in range(50):
        await asyncio.sleep(0)
    assert request.done()
    outcome = await request
    assert outcome.data is not None
    first, second, third = orjson.loads(outcome.data)["parents"]
    assert (first[sound], second, third[sound]) == (0, None, 2)
    assert [error.message for error in outcome.errors] == ["unsound"]
    assert set(context.ended) <= {1}
