"""A step that runs again keeps nothing of its earlier run."""

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

import orjson
import pytest
from graphql import build_schema, parse

from gateway.execution.compile.engine import Engine

pytestmark = pytest.mark.anyio
SCHEMA = build_schema(
    "type Query { a: Count b: Int! } type Mutation { a: Count b: Int c: Int d: Int }"
    " type Count { n: Int }"
)
SET: ContextVar[int] = ContextVar("set", default=0)


class Root:
    """The root value. `a` returns the number of its calls and adds 1 to SET. `b` fails in its first
    call. `d` sets SET in its first call. `c` returns the value of SET."""

    def __init__(self) -> None:
        self.calls = {"a": 0, "b": 0, "d": 0}

    async def a(self, _: Any) -> dict[str, int]:
        self.calls["a"] += 1
        SET.set(SET.get() + 1)
        return {"n": self.calls["a"]}

    async def b(self, _: Any) -> int:
        self.calls["b"] += 1
        if self.calls["b"] == 1:
            raise ValueError("b fails once")
        return self.calls["b"]

    async def c(self, _: Any) -> int:
        return SET.get()

    async def d(self, _: Any) -> int:
        self.calls["d"] += 1
        if self.calls["d"] == 1:
            SET.set(1)
        return self.calls["d"]


def times(*answers: bool) -> Callable[[], bool]:
    left = list(answers)
    return lambda: left.pop(0)


async def run(query: str, again: Callable[[], bool]) -> tuple[Any, list[str]]:
    running = Engine(SCHEMA).compile(parse(query)).run(root=Root(), again=again)
    # Each request has its own context. Here it is empty.
    outcome = await asyncio.create_task(running, context=Context())
    assert outcome.data is not None
    return orjson.loads(outcome.data), [error.message for error in outcome.errors]


@pytest.mark.parametrize("query", ["{ a { n } b }", "{ b a { n } }"])
async def test_the_errors_and_nulls_of_an_earlier_run_are_dropped(query: str) -> None:
    assert await run(query, times(False)) == (None, ["b fails once"])
    assert await run(query, times(True, False)) == ({"a": {"n": 2}, "b": 2}, [])
    assert await run(query, times(True, True, False)) == ({"a": {"n": 3}, "b": 3}, [])


async def test_each_field_of_a_mutation_is_run_again_before_the_next() -> None:
    again = times(False, True, False, False)
    data = {"a": {"n": 1}, "b": 2, "c": 1}
    assert await run("mutation { a { n } b c }", again) == (data, [])
    again = times(False, False, False)
    errors = ["b fails once"]
    assert await run("mutation { a { n } b c }", again) == ({**data, "b": None}, errors)


async def test_context_variables_of_an_earlier_run_are_not_seen() -> None:
    again = times(True, True, False, False)
    assert await run("mutation { a { n } c }", again) == ({"a": {"n": 3}, "c": 1}, [])


async def test_context_variables_of_an_earlier_run_are_not_seen_by_the_next_field() -> None:
    again = times(True, False, True, False)
    assert await run("mutation { d c }", again) == ({"d": 2, "c": 0}, [])
