"""The cancellation of a request reaches its waiting resolver, in whichever turn it comes."""

import asyncio
from typing import Any

import pytest
from graphql import GraphQLField, GraphQLInt, GraphQLObjectType, GraphQLSchema

from tests.unit.gateway.execution.engines import ours, theirs

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Resolver:
    """Awaits a future, and then a second future that is never done."""

    def __init__(self) -> None:
        self.first: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.began, self.caught = asyncio.Event(), False

    async def __call__(self, *_: Any) -> int:
        self.began.set()
        try:
            await self.first
        except asyncio.CancelledError:
            self.caught = True
            raise
        await asyncio.get_running_loop().create_future()
        return 1


@pytest.mark.parametrize("run", [ours, theirs])
@pytest.mark.parametrize("query", ["{a}", "{b{a}}", "{x:a y:a}"])
async def test_a_cancellation_in_the_turn_of_the_value_is_not_lost(run: Any, query: str) -> None:
    resolver = Resolver()
    below = GraphQLObjectType("Below", {"a": GraphQLField(GraphQLInt, resolve=resolver)})
    fields = {
        "a": GraphQLField(GraphQLInt, resolve=resolver),
        "b": GraphQLField(below, resolve=lambda *_: {}),
    }
    schema = GraphQLSchema(GraphQLObjectType("Query", fields))
    request = asyncio.ensure_future(run(schema, query))
    await resolver.began.wait()
    resolver.first.set_result(1)
    request.cancel()
    ended, _ = await asyncio.wait([request], timeout=300)
    assert ended, "the cancellation was lost"
    assert request.cancelled()
    assert resolver.caught


@pytest.mark.parametrize("run", [ours, theirs])
@pytest.mark.parametrize("style", ["coroutine", "task"])
@pytest.mark.parametrize("at", range(4))
async def test_no_resolver_goes_on_after_the_cancellation_of_its_request(
    run: Any, style: str, at: int
) -> None:
    """Three resolvers await futures that are done in one turn. The request is cancelled in the next
    turn, before, between or after the turns of these resolvers."""
    loop = asyncio.get_running_loop()
    futures = {name: loop.create_future() for name in "abc"}
    gone_on: list[str] = []
    waiting = asyncio.Event()

    async def wait(name: str) -> int:
        if name == "c":
            loop.call_soon(waiting.set)
        await futures[name]
        if cancelled:
            gone_on.append(name)
        return 1

    def resolve(_: Any, info: Any) -> Any:
        coro = wait(info.field_name)
        return asyncio.ensure_future(coro) if style == "task" else coro

    cancelled: list[bool] = []
    field = GraphQLField(GraphQLInt, resolve=resolve)
    schema = GraphQLSchema(GraphQLObjectType("Query", dict.fromkeys("abc", field)))
    request = asyncio.ensure_future(run(schema, "{a b c}"))
    await waiting.wait()
    for number, future in enumerate(futures.values()):
        if number == at:
            loop.call_soon(lambda: cancelled.append(request.cancel()))
        future.set_result(None)
    if at == 3:
        loop.call_soon(lambda: cancelled.append(request.cancel()))
    await asyncio.wait([request])
    assert request.cancelled() == cancelled[0]
    assert not gone_on
