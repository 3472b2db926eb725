"""The GraphQL endpoint: from an HTTP request to its response."""

from collections.abc import Callable

from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import Response

from datasources.errors import Unauthenticated
from gateway.auth import Tokens
from gateway.execution.executor import Executor, Result, refused
from gateway.requests import GRAPHQL_JSON, JSON, Refused, read_operation, response_type
from resolvers.context import Context


class GraphQLEndpoint:
    """Answers POST, and GET for queries."""

    def __init__(
        self,
        executor: Executor,
        tokens: Tokens,
        new_context: Callable[[int | None], Context],
        *,
        max_body_bytes: int,
    ) -> None:
        self._executor, self._tokens, self._new_context = executor, tokens, new_context
        self._max_body_bytes = max_body_bytes

    async def __call__(self, request: Request) -> Response:
        media = JSON
        try:
            media = response_type(request.headers.get("accept"))
            operation = await read_operation(request, self._max_body_bytes)
            viewer_id = self._tokens.viewer(request.headers.get("authorization"))
        except Refused as error:
            problem = GraphQLError(error.message, extensions={"code": error.code})
            return _response(refused(problem), error.status, media, error.headers)
        except Unauthenticated as error:
            problem = GraphQLError(error.message, extensions={"code": error.code})
            return _response(refused(problem), 401, media, {"www-authenticate": "Bearer"})
        result = await self._executor.run(
            operation.query,
            operation.variables,
            operation.name,
            self._new_context(viewer_id),
            read_only=request.method == "GET",
        )
        if not result.started and _only_for_post(result, request.method):
            return _response(result, 405, media, {"allow": "POST"})
        # With the older media type, what was refused answers 200 too: clients read the errors.
        status = 400 if not result.started and media == GRAPHQL_JSON else 200
        return _response(result, status, media, {})


def _only_for_post(result: Result, method: str) -> bool:
    return method == "GET" and any("by POST" in error["message"] for error in result.errors)


def _response(result: Result, status: int, media: str, headers: dict[str, str]) -> Response:
    return Response(
        result.body(),
        status,
        headers,
        media_type=f"{media}; charset=utf-8",
    )
