"""One operation from its text to its response."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import GraphQLError, OperationType

from datasources.errors import PinwayError, RequestError, Unfinished
from feed_engine.speculation.deadline import ending_at
from gateway.execution.documents import Documents, Stats
from resolvers.context import Context

log = logging.getLogger("pinway")


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
        self._documents, self._timeout = documents, timeout

    @property
    def stats(self) -> Stats:
        return self._documents.stats

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
        document = self._documents.get(query)
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
        except TimeoutError:
            error = GraphQLError(
                f"The operation took longer than {self._timeout:g} s.",
                extensions={"code": "TIMEOUT"},
            )
            return Result(b"null", [_shown(error)])
        return Result(outcome.data, [_shown(error) for error in outcome.errors])


def refused(*errors: GraphQLError) -> Result:
    """Nothing ran."""
    return Result(None, [_shown(error) for error in errors])


def _only_by_post(type_: OperationType) -> GraphQLError:
    message = f"Send a {type_.value} by POST: GET is for queries alone."
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
