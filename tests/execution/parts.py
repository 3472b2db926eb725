"""Reads a response in parts (@defer, @stream) of a schema whose root is an object with counters."""

import json
from typing import Any

from graphql import GraphQLError, GraphQLSchema, parse

from gateway.execution.compile.engine import Engine
from gateway.execution.model.fragments import ITEMS


class PartsOf:
    """The parts of one operation on `world`."""

    def __init__(self, schema: GraphQLSchema, text: str, world: Any, variables: Any) -> None:
        self.world = world
        self.plan = Engine(schema).compile(parse(text))
        self._variables = variables
        self.rest: Any = None

    async def initial(self) -> Any:
        """The initial data, with its errors if it has any."""
        outcome = await self.plan.run(root=self.world, variables=self._variables, incremental=True)
        self.rest = outcome.rest
        assert outcome.started, outcome.errors
        data = json.loads(outcome.data or b"null")
        return (data, shown(outcome.errors)) if outcome.errors else data

    async def next(self) -> list[Any]:
        """The next parts: for each its path, its label, its data or its items, and its errors if it
        has any."""
        parts = []
        for part in await self.rest.next():
            data = None if part.data is None else json.loads(b"".join(part.data))
            if part.key == ITEMS and data is not None:
                data = data[ITEMS]
            told = (part.path, part.label, data)
            parts.append((*told, shown(part.errors)) if part.errors else told)
        return parts

    async def all(self) -> list[Any]:
        """The initial data, and all parts."""
        found = [await self.initial()]
        while self.rest is not None and self.rest.has_next:
            found.append(await self.next())
        await self.close()
        return found

    async def close(self) -> None:
        if self.rest is not None:
            await self.rest.close()


def shown(errors: list[GraphQLError]) -> list[Any]:
    return [(error.message, error.path) for error in errors]
