"""One operation from its text to its response."""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import GraphQLError, OperationType

from feed_engine.speculation.deadline import ending_at
from gateway.execution.documents import Documents, Stats
from gateway.execution.showing import shown
from resolvers.context import Context

READINGS = 5
"""How often a query is read, at most, until no pin moves between its boards while it is."""
_ONCE = frozenset({"homeFeed"})
"""Fields whose reading uses something up."""


@dataclass(frozen=True, slots=True)
class Result:
    """A response's content: `data` is JSON, None when the operation was refused before it ran."""

    data: bytes | None
    errors: list[dict[str, Any]]

    @property
    def started(self) -> bool:
        return self.data is not None

    def body(self) -> bytes:
        """As the specification of GraphQL orders it: without data if nothing ran."""
        if self.data is None:
            return b'{"errors":' + orjson.dumps(self.errors) + b"}"
        if not self.errors:
            return b'{"data":' + self.data + b"}"
        return b'{"data":' + self.data + b',"errors":' + orjson.dumps(self.errors) + b"}"


class Executor:
    """Runs operations of one schema."""

    def __init__(self, documents: Documents, *, timeout: float) -> None:
        self.documents, self._timeout = documents, timeout

    @property
    def stats(self) -> Stats:
        return self.documents.stats

    async def run(
        self,
        query: str,
        variables: dict[str, Any] | None,
        operation: str | None,
        context: Context,
        *,
        read_only: bool = False,
    ) -> Result:
        """The result of the operation; never raises for what a client sent or a store did."""
        document = self.documents.get(query)
        if document.errors:
            return refused(*document.errors)
        found = document.operation(operation)
        if isinstance(found, GraphQLError):
            return refused(found)
        if read_only and found.type is not OperationType.QUERY:
            return refused(_only_by_post(found.type))
        context.asked = document.fields
        try:
            ends = asyncio.get_running_loop().time() + self._timeout
            with ending_at(ends):
                async with asyncio.timeout_at(ends):
                    outcome = await found.plan.run(context=context, variables=variables)
                    if found.type is OperationType.QUERY and _ONCE.isdisjoint(document.fields):
                        for _ in range(READINGS - 1):
                            if not context.loaders.torn:
                                break
                            context.loaders.reset()
                            outcome = await found.plan.run(context=context, variables=variables)
        except TimeoutError:
            error = GraphQLError(
                f"The operation took longer than {self._timeout:g} s.",
                extensions={"code": "TIMEOUT"},
            )
            return Result(b"null", shown(error))
        return Result(outcome.data, shown(*outcome.errors))


def refused(*errors: GraphQLError) -> Result:
    """Nothing ran."""
    return Result(None, shown(*errors))


def _only_by_post(type_: OperationType) -> GraphQLError:
    message = f"Send a {type_.value} by POST: GET is for queries alone."
    return GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})
