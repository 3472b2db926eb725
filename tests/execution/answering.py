"""Runs one operation with the engine and with graphql-core, and compares both with the expected
outcome."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson
from graphql import GraphQLSchema, build_schema, parse

from tests.execution.comparing import new_engine
from tests.execution.reference import Outcome, ReferenceEngine, identity, possible_errors

ANY: Any = object()


def answer(
    schema: GraphQLSchema | str,
    query: str,
    *,
    data: Any = ANY,
    errors: Sequence[tuple[str, list[str | int] | None]] | None = None,
    root: Any = None,
    variables: dict[str, Any] | None = None,
    operation: str | None = None,
    context: Any = None,
) -> Outcome:
    """Returns the engine's outcome, after comparing it. `errors` are the expected messages and
    paths, in any order. If `root` or `context` is callable, it is called for each run."""
    built = build_schema(schema) if isinstance(schema, str) else schema
    document = parse(query)

    async def run(engine: Any) -> Outcome:
        plan = engine(built).compile(document, operation)
        assert plan.fallback is None, plan.fallback
        return await plan.run(
            context=context() if callable(context) else context,
            variables=variables,
            root=root() if isinstance(root, type) else root,
        )

    theirs = asyncio.run(run(ReferenceEngine))
    mine = asyncio.run(run(new_engine))
    shown = None if mine.data in (None, b"null") else mine.data
    assert shown == theirs.data
    assert mine.started == theirs.started
    if Counter(map(identity, mine.errors)) != Counter(map(identity, theirs.errors)):
        # The executors may report different errors below a parent that became null.
        possible = asyncio.run(
            possible_errors(
                built,
                document,
                operation,
                variables,
                context() if callable(context) else context,
                root() if isinstance(root, type) else root,
            )
        )
        assert not possible.complaint(theirs.errors)
        assert not possible.complaint(mine.errors)
    elif errors is not None:
        found = sorted([(e.message, e.path) for e in mine.errors], key=repr)
        assert found == sorted([(m, p) for m, p in errors], key=repr)
    if data is not ANY:
        assert (None if shown is None else orjson.loads(shown)) == data
    return mine
