"""Operations whose response paths share selections give the same responses as graphql-core."""

import asyncio
import gc
import warnings
from collections import Counter
from inspect import CORO_CLOSED, getcoroutinestate
from typing import Any

import orjson
import pytest
from graphql import GraphQLSchema, build_schema, parse, validate

from gateway.execution.compile.engine import Engine
from gateway.execution.compile.variant import LARGE
from tests.unit.gateway.execution.engines import seen, theirs

pytestmark = pytest.mark.anyio

QUERY = """
{ tree { ...A } }
fragment A on Tree { x: left { ...B } y: right { ...B } z: sure { ...B } all { ...B } }
fragment B on Tree { x: left { ...C } y: right { ...C } all { ...C } }
fragment C on Tree { name x: left { ...D } y: sure { ...D } }
fragment D on Tree { name certain }
"""


class Tree:
    """A tree in which some leaves fail or are null. `coros` gets each coroutine of the tree."""

    def __init__(self, number: int, late: bool, coros: list[Any]) -> None:
        self.number, self.late, self.coros = number, late, coros

    def _child(self, n: int) -> Any:
        child = Tree(self.number * 5 + n, self.late, self.coros)
        if child.number % 11 == 7:
            return None
        if child.number % 17 == 5:
            raise ValueError(f"tree {child.number}")
        return child

    def left(self, info: Any) -> Any:
        async def later() -> Any:
            for _ in range(self.number % 3):
                await asyncio.sleep(0)
            return self._child(1)

        if not self.late:
            return self._child(1)
        self.coros.append(later())
        return self.coros[-1]

    def right(self, info: Any) -> Any:
        return self._child(2)

    def sure(self, info: Any) -> Any:
        return self._child(3)

    def all(self, info: Any) -> Any:
        return [Tree(self.number * 5 + n, self.late, self.coros) for n in range(3)]

    def name(self, info: Any) -> str:
        return f"name {self.number}"

    def certain(self, info: Any) -> str | None:
        return None if self.number % 13 == 4 else "yes"


def schema() -> GraphQLSchema:
    return build_schema(
        """
        type Tree {
          left: Tree  right: Tree  sure: Tree!  all: [Tree]  name: String!  certain: String!
        }
        type Query { tree: Tree }
        """
    )


async def theirs_seen(made: GraphQLSchema, root: Any) -> tuple[bytes, Counter[Any]]:
    """Returns graphql-core's data and errors, without the exceptions: their tracebacks refer to
    coroutines."""
    result = await theirs(made, QUERY, root=root)
    return orjson.dumps(result.data), Counter(map(seen, result.errors or ()))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("number", range(12))
async def test_the_response_is_the_same(number: int, late: bool) -> None:
    coros: list[Any] = []
    others = asyncio.all_tasks()
    made, root = schema(), {"tree": Tree(number, late, coros)}
    document = parse(QUERY)
    assert not validate(made, document)
    plan = Engine(made).compile(document, selections=LARGE + 1)
    outcome = await plan.run(root=root)
    # Which errors graphql-core reports below a parent that became null depends on timing.
    apart = await Engine(made).compile(document).run(root=root)
    assert all(getcoroutinestate(coro) == CORO_CLOSED for coro in coros)
    with warnings.catch_warnings():
        # graphql-core never awaits some coroutines below a parent that became null.
        warnings.simplefilter("ignore", RuntimeWarning)
        data, errors = await theirs_seen(made, root)
        await asyncio.gather(*(asyncio.all_tasks() - others), return_exceptions=True)
        coros.clear()
        gc.collect()
    assert outcome.data == data
    assert Counter(map(seen, outcome.errors)) == Counter(map(seen, apart.errors))
    if not late:
        assert Counter(map(seen, outcome.errors)) == errors
    variant: Any = plan._variant({})
    assert variant.shares
    assert not variant.unprepared
    paths = 4 + 4 * 3 + 4 * 3 * 2
    assert len(variant._made) < paths / 2


async def test_a_request_continues_when_its_plan_is_dropped() -> None:
    made = schema()
    plan = Engine(made).compile(parse(QUERY), selections=LARGE + 1)
    root = {"tree": Tree(1, True, [])}
    first = await plan.run(root=root)
    running = asyncio.ensure_future(plan.run(root=root))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not running.done()
    plan.forget()
    assert (await running).data == first.data
    assert (await plan.run(root=root)).data == first.data
