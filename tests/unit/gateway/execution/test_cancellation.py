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
    ended, _ = await asyncio.wait([request], timeout=5)
    assert ended, "the cancellation was lost"
    assert request.cancelled()
    assert resolver.caught
