"""The executor loads a batch at once if nothing else in the request can add a key."""

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Sequence
from typing import Any, cast

import orjson
import pytest
import strawberry
from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    parse,
)

from datasources.protocols import Stores
from gateway.execution.compile.engine import Engine
from loaders.base import Loader
from loaders.bulk import bulk
from schema.fields import field as field_of
from tests.unit.gateway.execution.engines import ours

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Doubles(Loader[int, int]):
    """A loader that doubles its keys. It records each batch in `batches`, and the number of the
    turn in which the batch began in `begun`. If `hold` is set, a batch waits for that event."""

    def __init__(self) -> None:
        super().__init__(cast(Stores, None))
        self.batches: list[list[int]] = []
        self.begun: list[int] = []
        self.turns = 0
        self.hold: asyncio.Event | None = None
        self.cancelled = 0
        self.begins = asyncio.Event()

    async def load_batch(self, keys: list[int]) -> list[int]:
        self.batches.append(keys)
        self.begun.append(self.turns)
        self.begins.set()
        try:
            if self.hold is not None:
                await self.hold.wait()
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return [2 * key for key in keys]


class Context:
    def __init__(self) -> None:
        self.one, self.other = Doubles(), Doubles()

    async def count_turns(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.one.turns += 1
            self.other.turns += 1


@bulk
def double(context: Context, rows: Sequence["Row"]) -> Awaitable[Sequence[Any]]:
    return context.one.many([row.n for row in rows])


@bulk
def other(context: Context, rows: Sequence["Row"]) -> Awaitable[Sequence[Any]]:
    return context.other.many([row.n for row in rows])


@bulk
async def awaited(context: Context, rows: Sequence["Row"]) -> Sequence[Any]:
    return await context.one.many([row.n + 100 for row in rows])


@bulk
async def in_time(context: Context, rows: Sequence["Row"]) -> Sequence[Any]:
    try:
        async with asyncio.timeout(0.01):
            return await context.one.many([row.n for row in rows])
    except TimeoutError:
        return [-1] * len(rows)


@bulk
async def later(context: Context, rows: Sequence["Row"]) -> Sequence[Any]:
    await asyncio.sleep(0)
    return await context.one.many([row.n + 200 for row in rows])


@bulk
async def broken(context: Context, rows: Sequence["Row"]) -> Sequence[Any]:
    await asyncio.sleep(0)
    return [ValueError("broken")] * len(rows)


@strawberry.type
class Row:
    n: int
    double: int = field_of(double, "By one loader.")
    other: int = field_of(other, "By the other.")
    awaited: int = field_of(awaited, "By the first, in a coroutine.")
    in_time: int = field_of(in_time, "The same, if it comes in time.")
    later: int = field_of(later, "The same, a turn later.")
    broken: int = field_of(broken, "Never there.")


@strawberry.type
class Query:
    @strawberry.field
    def rows(self) -> list[Row] | None:
        return [Row(n=n) for n in range(3)]


SCHEMA = strawberry.Schema(Query)._schema


async def answer(query: str, context: Context) -> tuple[bytes | None, list[str]]:
    turning = asyncio.create_task(context.count_turns())
    try:
        outcome = await ours(SCHEMA, query, context=context)
    finally:
        turning.cancel()
    return outcome.data, [error.message for error in outcome.errors]


@pytest.mark.parametrize("query", ["{rows{double}}", "{rows{double other}}", "{rows{awaited}}"])
async def test_a_load_begins_in_its_own_turn_if_the_request_awaits_nothing_else(query: str) -> None:
    context = Context()
    await answer(query, context)
    assert context.one.begun == [0]
    assert len(context.one.batches) == 1


async def test_two_loads_at_once_take_as_many_turns_as_one() -> None:
    one, two = Context(), Context()
    await answer("{rows{double}}", one)
    await answer("{rows{double other}}", two)
    assert two.one.turns == one.one.turns


async def test_a_load_waits_for_a_coroutine_that_may_add_a_key() -> None:
    context = Context()
    data, _ = await answer("{rows{double later}}", context)
    assert context.one.batches == [[0, 1, 2, 200, 201, 202]]
    assert data == b'{"rows":[%s]}' % b",".join(
        b'{"double":%d,"later":%d}' % (2 * n, 400 + 2 * n) for n in range(3)
    )


async def test_the_keys_of_several_fields_are_one_batch() -> None:
    context = Context()
    data, _ = await answer("{rows{double awaited other}}", context)
    assert context.one.batches == [[0, 1, 2, 100, 101, 102]]
    assert context.other.batches == [[0, 1, 2]]
    assert data is not None
    assert b'{"double":2,"awaited":202,"other":2}' in data


async def test_two_fields_that_await_one_batch_both_get_their_values() -> None:
    context = Context()
    async with asyncio.timeout(300):
        data, _ = await answer("{rows{double again:double}}", context)
    assert context.one.batches == [[0, 1, 2]]
    assert data == b'{"rows":[%s]}' % b",".join(
        b'{"double":%d,"again":%d}' % (2 * n, 2 * n) for n in range(3)
    )


@pytest.mark.parametrize("query", ["{rows{double}}", "{rows{double other}}"])
async def test_keys_that_another_caller_loads_are_not_loaded_again(query: str) -> None:
    context = Context()
    before = context.one.load(7)
    await answer(query, context)
    assert await before == 14
    for _ in range(5):
        await asyncio.sleep(0)
    assert context.one.batches == [[7, 0, 1, 2]]


async def test_a_timeout_of_a_resolver_applies_to_its_load() -> None:
    context = Context()
    context.one.hold = asyncio.Event()
    data, _ = await answer("{rows{inTime}}", context)
    assert data == b'{"rows":[{"inTime":-1},{"inTime":-1},{"inTime":-1}]}'


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("query", ["{rows{double}}", "{rows{double other}}", "{rows{awaited}}"])
async def test_a_cancelled_request_leaves_no_load_behind(query: str, held: bool) -> None:
    context = Context()
    if held:  # otherwise each load takes one turn of the loop
        context.one.hold = context.other.hold = asyncio.Event()
    before = asyncio.all_tasks()
    request = asyncio.create_task(ours(SCHEMA, query, context=context))
    await context.one.begins.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    if held:
        assert context.one.cancelled == 1
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("query", ["{rows{double}}", "{rows{double other}}"])
async def test_another_caller_gets_the_load_of_a_cancelled_request(query: str, held: bool) -> None:
    context = Context()
    hold = asyncio.Event()
    if held:
        context.one.hold = context.other.hold = hold
    request = asyncio.create_task(ours(SCHEMA, query, context=context))
    await context.one.begins.wait()
    both = [context.one.load(1), asyncio.ensure_future(context.one.many([2, 1]))]
    if held:
        await asyncio.sleep(0)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    hold.set()
    assert await asyncio.gather(*both) == [2, [4, 2]]
    assert context.one.batches == [[0, 1, 2]] * 2


async def test_a_load_without_a_position_in_the_response_is_not_awaited() -> None:
    context = Context()
    context.one.hold = asyncio.Event()
    async with asyncio.timeout(300):
        data, errors = await answer("{rows{double broken}}", context)
    assert data == b'{"rows":null}'
    assert errors == ["broken"]


@pytest.mark.parametrize(
    "query",
    ["{rows{double}}", "{rows{double other}}", "{rows{awaited other}}", "{rows{double broken}}"],
)
async def test_a_request_is_freed_without_the_collector(query: str) -> None:
    plan = Engine(SCHEMA).compile(parse(query))
    context = Context()
    freed = weakref.ref(context)
    gc.disable()
    try:
        await plan.run(context=context)
        del context
        assert freed() is None
    finally:
        gc.enable()


async def test_the_callers_of_single_keys_continue_in_the_order_of_the_keys() -> None:
    """One callback wakes all waiters, or each waiter has its own callback."""
    order: list[Any] = []

    async def value(row: int, info: Any) -> int:
        future = info.context.one.load(row)
        if row == 2:
            future.add_done_callback(lambda _: order.append("callback"))
        found: int = await future
        order.append(row)
        return found

    rows = GraphQLList(GraphQLObjectType("Row", {"value": GraphQLField(GraphQLInt, resolve=value)}))
    query = GraphQLObjectType("Query", {"rows": GraphQLField(rows, resolve=lambda *_: range(5))})
    context = Context()
    outcome = await ours(GraphQLSchema(query), "{ rows { value } }", None, context)
    assert outcome.data == orjson.dumps({"rows": [{"value": 2 * n} for n in range(5)]})
    assert order == [0, 1, "callback", 2, 3, 4]
    assert context.one.batches == [[0, 1, 2, 3, 4]]
