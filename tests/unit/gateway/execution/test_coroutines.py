"""Async resolvers can use everything that asyncio offers a task, as with graphql-core."""

import asyncio
import contextvars
import inspect
from contextlib import suppress
from typing import Any

import pytest
from aiodataloader import DataLoader
from graphql import (
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
)

from tests.unit.gateway.execution.engines import both, ours, tasks, theirs

pytestmark = pytest.mark.anyio
VAR: contextvars.ContextVar[str] = contextvars.ContextVar("VAR", default="unset")


@pytest.fixture(params=["asyncio", "asyncio+uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return "asyncio", {"use_uvloop": request.param.endswith("uvloop")}


@pytest.fixture
async def earlier() -> set[Any]:
    """The tasks that existed before the test, such as tasks of servers for other tests."""
    return tasks()


def schema_of(resolve: Any, rows: int = 3, type_: Any = GraphQLInt) -> GraphQLSchema:
    """Returns a schema with `rows`, which are numbers from 0, and a field `value` that
    `resolve(row, info)` resolves."""
    row = GraphQLObjectType(
        "Row", {"value": GraphQLField(type_, resolve=resolve), "other": GraphQLField(GraphQLString)}
    )
    rows_field = GraphQLField(GraphQLList(row), resolve=lambda *_: list(range(rows)))
    one = GraphQLField(row, resolve=lambda *_: 0)
    return GraphQLSchema(GraphQLObjectType("Query", {"rows": rows_field, "one": one}))


@pytest.mark.parametrize("query", ["{rows{value}}", "{one{value}}", "{one{value other}}"])
async def test_a_timeout_ends_only_the_resolver_that_set_it(query: str) -> None:
    async def value(row: int, info: Any) -> int:
        if row != 0:
            return row
        with suppress(TimeoutError):
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        await asyncio.sleep(0)
        return 100

    outcome = await both(schema_of(value), query)
    assert b"100" in (outcome.data or b"")


async def test_each_resolver_has_its_own_task() -> None:
    found: list[Any] = []

    async def value(row: int, info: Any) -> int:
        before = asyncio.current_task()
        await asyncio.sleep(0)
        assert asyncio.current_task() is before
        found.append(before)
        return row

    outer = asyncio.current_task()
    await ours(schema_of(value), "{rows{value}}")
    assert len({id(task) for task in found}) == 3
    assert asyncio.current_task() is outer


async def test_task_groups_nest_and_cancel(earlier: set[Any]) -> None:
    async def fails() -> None:
        raise ValueError("in the group")

    async def value(row: int, info: Any) -> int:
        caught = 0
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(3600))
                if row == 1:
                    group.create_task(fails())
                else:
                    raise KeyError(row)
        except* ValueError:
            caught = 10
        except* KeyError:
            caught = 20
        return caught

    outcome = await both(schema_of(value), "{rows{value}}")
    assert outcome.data == b'{"rows":[{"value":20},{"value":10},{"value":20}]}'
    assert tasks() <= earlier


async def test_context_variables_set_in_a_resolver_stay_in_it() -> None:
    async def value(row: int, info: Any) -> str:
        before = VAR.get()
        VAR.set(f"row {row}")
        await asyncio.sleep(0)
        return f"{before}, {VAR.get()}"

    VAR.set("request")
    outcome = await both(schema_of(value, type_=GraphQLString), "{rows{value}}")
    assert b"request, row 2" in (outcome.data or b"")
    assert VAR.get() == "request"


async def test_many_resolvers_can_await_one_future() -> None:
    waits: list[asyncio.Future[int]] = []

    async def value(row: int, info: Any) -> int:
        if not waits:
            waits.append(asyncio.get_running_loop().create_future())
            asyncio.get_running_loop().call_soon(waits[0].set_result, 5)
        return await waits[0] + row

    outcome = await ours(schema_of(value), "{rows{value}}")
    assert outcome.data == b'{"rows":[{"value":5},{"value":6},{"value":7}]}'


async def test_a_resolver_may_catch_its_own_cancellation() -> None:
    async def value(row: int, info: Any) -> int:
        task = asyncio.current_task()
        assert task is not None
        task.cancel("enough")
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError as cancelled:
            said = cancelled.args
        assert said == ("enough",)
        task.uncancel()
        assert task.cancelling() == 0
        return row

    await both(schema_of(value), "{rows{value}}")


async def test_a_cancelled_request_leaves_nothing_running(earlier: set[Any]) -> None:
    started: asyncio.Semaphore = asyncio.Semaphore(0)
    ended: list[int] = []

    async def value(row: int, info: Any) -> int:
        started.release()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(row)
        return row

    for query, count in (("{rows{value}}", 3), ("{one{value}}", 1)):
        ended.clear()
        request = asyncio.create_task(ours(schema_of(value), query))
        for _ in range(count):
            await started.acquire()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert sorted(ended) == list(range(count))
        assert tasks() <= earlier


async def test_a_request_that_times_out_raises_timeout_error(earlier: set[Any]) -> None:
    async def value(row: int, info: Any) -> int:
        await asyncio.Event().wait()
        return row

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001):
            await ours(schema_of(value), "{rows{value}}")
    assert tasks() <= earlier


async def test_a_base_exception_of_a_resolver_ends_the_request() -> None:
    ended = []

    async def value(row: int, info: Any) -> int:
        if row == 1:
            await asyncio.sleep(0)
            raise asyncio.CancelledError
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(row)
        return row

    with pytest.raises(asyncio.CancelledError):
        await ours(schema_of(value), "{rows{value}}")
    assert sorted(ended) == [0, 2]


async def test_a_slow_object_delays_only_the_fields_below_it() -> None:
    gate, two, deeper = asyncio.Event(), asyncio.Event(), []

    async def child(row: int, info: Any) -> int:
        if row == 0:
            await gate.wait()
        return row

    async def value(row: int, info: Any) -> int:
        deeper.append(row)
        if len(deeper) == 2:
            two.set()
        return row

    leaf = GraphQLObjectType("Leaf", {"value": GraphQLField(GraphQLInt, resolve=value)})
    row = GraphQLObjectType("Row", {"child": GraphQLField(leaf, resolve=child)})
    rows = GraphQLField(GraphQLList(row), resolve=lambda *_: [0, 1, 2])
    schema = GraphQLSchema(GraphQLObjectType("Query", {"rows": rows}))
    request = asyncio.create_task(ours(schema, "{rows{child{value}}}"))
    await two.wait()
    assert deeper == [1, 2]
    gate.set()
    outcome = await request
    assert (outcome.data or b"").count(b"value") == 3


async def test_an_error_that_makes_the_parent_null_waits_for_no_sibling(
    earlier: set[Any],
) -> None:
    cancelled = []

    async def slow(row: int, info: Any) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(row)
        return row

    async def fails(row: int, info: Any) -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    fields = {
        "slow": GraphQLField(GraphQLInt, resolve=slow),
        "fails": GraphQLField(GraphQLNonNull(GraphQLInt), resolve=fails),
    }
    row = GraphQLObjectType("Row", fields)
    one = GraphQLField(row, resolve=lambda *_: 0)
    schema = GraphQLSchema(GraphQLObjectType("Query", {"one": one}))
    await both(schema, "{one{slow fails}}")
    assert cancelled == [0, 0]
    assert tasks() <= earlier


async def test_the_loads_of_one_level_stay_one_batch() -> None:
    batches: list[list[int]] = []

    class Loader(DataLoader[int, int]):
        async def batch_load_fn(self, keys: list[int]) -> list[int]:
            batches.append(keys)
            await asyncio.sleep(0)
            return keys

    async def value(row: int, info: Any) -> int:
        if row % 2:  # every second resolver awaits another load first
            await info.context.load(100 + row)
        return await info.context.load(row)

    schema = schema_of(value, rows=6)
    await ours(schema, "{rows{value}}", context=Loader())
    own = len(batches)
    batches.clear()
    await theirs(schema, "{rows{value}}", context=Loader())
    assert own <= len(batches)


@pytest.mark.parametrize("turns", range(8))
async def test_awaitables_in_the_value_of_a_task_are_closed_if_its_parent_became_null(
    turns: int,
) -> None:
    made = []

    async def item() -> int:
        return 1

    async def listed() -> list[Any]:
        for _ in range(turns):
            await asyncio.sleep(0)
        made.append(item())
        return made

    async def fail(_: Any, info: Any) -> int:
        await asyncio.sleep(0)
        raise ValueError("no value")

    fields = {
        "listed": GraphQLField(
            GraphQLList(GraphQLInt), resolve=lambda *_: asyncio.ensure_future(listed())
        ),
        "fail": GraphQLField(GraphQLNonNull(GraphQLInt), resolve=fail),
    }
    row = GraphQLField(GraphQLObjectType("Row", fields), resolve=lambda *_: 0)
    schema = GraphQLSchema(GraphQLObjectType("Query", {"row": row}))
    outcome = await ours(schema, "{ row { listed fail } }")
    assert outcome.data == b'{"row":null}'
    for _ in range(turns):
        await asyncio.sleep(0)
    assert all(inspect.getcoroutinestate(coro) == inspect.CORO_CLOSED for coro in made)
