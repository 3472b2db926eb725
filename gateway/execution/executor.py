"""One operation from its text to its result, through graphql-core."""

import asyncio
import logging
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import strawberry
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    execute,
)

from datasources.errors import PinwayError, RequestError, Unfinished
from feed_engine.speculation.deadline import ending_at
from gateway.execution.documents import Documents
from resolvers.context import Context

log = logging.getLogger("pinway")


@dataclass(frozen=True, slots=True)
class Result:
    """A response's content. `started` is False when the operation was refused before it ran."""

    data: dict[str, Any] | None
    errors: list[dict[str, Any]]
    started: bool

    def body(self) -> dict[str, Any]:
        """As the specification of GraphQL orders it: without data if nothing ran."""
        if not self.started:
            return {"errors": self.errors}
        return {"data": self.data} | ({"errors": self.errors} if self.errors else {})


class Executor:
    """Runs operations of one schema."""

    def __init__(self, schema: strawberry.Schema, documents: Documents, *, timeout: float) -> None:
        self._schema, self.documents, self._timeout = schema._schema, documents, timeout

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
        if document.errors or document.ast is None:
            return refused(*document.errors)
        if problem := _operation_problem(document.ast, operation, read_only):
            return refused(problem)
        context.asked = document.fields
        try:
            ends = asyncio.get_running_loop().time() + self._timeout
            with ending_at(ends):
                async with asyncio.timeout_at(ends):
                    result = execute(
                        self._schema,
                        document.ast,
                        context_value=context,
                        variable_values=variables,
                        operation_name=operation,
                    )
                    if isawaitable(result):
                        result = await result
        except TimeoutError:
            error = GraphQLError(
                f"The operation took longer than {self._timeout:g} s.",
                extensions={"code": "TIMEOUT"},
            )
            return Result(None, [_shown(error)], started=True)
        assert isinstance(result, ExecutionResult)
        errors = [_shown(error) for error in result.errors or ()]
        # graphql-core answers wrong variables with an error without a path, and no data.
        started = result.data is not None or any("path" in error for error in errors)
        return Result(result.data, errors, started)


def refused(*errors: GraphQLError) -> Result:
    """Nothing ran."""
    return Result(None, [_shown(error) for error in errors], started=False)


def _operation_problem(
    document: DocumentNode, name: str | None, read_only: bool
) -> GraphQLError | None:
    """Why none of the document's operations can be run, if so."""
    operations = {
        d.name.value if d.name else None: d
        for d in document.definitions
        if isinstance(d, OperationDefinitionNode)
    }
    if name is None and len(operations) > 1:
        message = f"Name the operation to run: one of {', '.join(map(str, operations))}."
    elif name is not None and name not in operations:
        message = f"There is no operation {name!r} in this document."
    else:
        chosen = operations[name] if name is not None else next(iter(operations.values()), None)
        if chosen is None:
            message = "The document has no operation."
        elif read_only and chosen.operation is not OperationType.QUERY:
            message = f"Send a {chosen.operation.value} by POST: GET is for queries alone."
        else:
            return None
    return GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})


def _shown(error: GraphQLError) -> dict[str, Any]:
    """The error as a client sees it: our own errors' words and code; of others, nothing."""
    original = error.original_error
    shown = error.formatted
    extensions = dict(shown.get("extensions") or {})
    if isinstance(original, RequestError):
        extensions["code"] = original.code
        if original.field:
            extensions["field"] = original.field
    elif isinstance(original, PinwayError):
        log.warning("%s: %s", shown.get("path"), original)
        extensions["code"] = original.code
        if not isinstance(original, Unfinished):  # whose words are meant for the client
            shown["message"] = _STORE_MESSAGES.get(original.code, "Something went wrong.")
    elif original is not None and not isinstance(original, GraphQLError):
        log.error("%s", shown.get("path"), exc_info=original)
        extensions["code"] = "INTERNAL"
        shown["message"] = "Something went wrong."
    extensions.setdefault("code", "BAD_USER_INPUT")
    shown["extensions"] = extensions
    return dict(shown)


_STORE_MESSAGES = {
    "UNAVAILABLE": "A store did not answer: what it holds is missing here. Try again.",
    "TIMEOUT": "A store did not answer in time. Try again.",
    "CONFLICT": "Something else changed this at the same time. Try again.",
}
