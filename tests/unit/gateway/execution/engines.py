"""Runs an operation with the engine and with graphql-core, and compares the outcomes."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from graphql import ExecutionResult, GraphQLError, GraphQLSchema, execute, parse, validate

from gateway.execution.compile.engine import Engine, Outcome


def seen(error: GraphQLError) -> tuple[Any, ...]:
    """Returns the parts of an error that a client sees."""
    places = [tuple(place) for place in error.locations or ()]
    return (error.message, tuple(error.path or ()), tuple(places), str(error.extensions))


async def ours(
    schema: GraphQLSchema,
    query: str,
    variables: dict[str, Any] | None = None,
    context: Any = None,
    root: Any = None,
) -> Outcome:
    document = parse(query)
    assert not validate(schema, document)
    plan = Engine(schema).compile(document)
    outcome = await plan.run(context=context, variables=variables, root=root)
    assert plan.fallback is None
    return outcome


async def theirs(
    schema: GraphQLSchema,
    query: str,
    variables: dict[str, Any] | None = None,
    context: Any = None,
    root: Any = None,
) -> ExecutionResult:
    result = execute(schema, parse(query), root, context, variables)
    if isinstance(result, Awaitable):
        result = await result
    assert isinstance(result, ExecutionResult)
    return result


async def both(
    schema: GraphQLSchema,
    query: str,
    variables: dict[str, Any] | None = None,
    new_context: Callable[[], Any] = lambda: None,
    root: Any = None,
) -> Outcome:
    """Run with both executors. Returns the engine's outcome, which must equal graphql-core's."""
    outcome = await ours(schema, query, variables, new_context(), root)
    result = await theirs(schema, query, variables, new_context(), root)
    assert orjson.dumps(result.data) == (b"null" if outcome.data is None else outcome.data)
    assert Counter(map(seen, outcome.errors)) == Counter(map(seen, result.errors or ()))
    return outcome


def tasks() -> set[Any]:
    """Returns all tasks except the caller's and the test runner's."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return {task for task in others if "TestRunner" not in repr(task.get_coro())}
