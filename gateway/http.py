"""The GraphQL endpoint: from an HTTP request's bytes to its response's, as plain ASGI."""

import asyncio
from collections.abc import Callable
from time import perf_counter

from graphql import GraphQLError
from starlette.types import Receive, Scope, Send

from datasources.errors import Unauthenticated
from gateway.auth import Tokens
from gateway.execution.encode import PART
from gateway.execution.executor import Executor, Result, refused
from gateway.requests import (
    GRAPHQL_JSON,
    JSON,
    Disconnected,
    Headers,
    Refused,
    headers_of,
    read_operation,
    response_type,
)
from gateway.served import Served
from resolvers.context import Context

RESPOND = "pinway.respond"
"""Where our own server tells, in a request's scope, how a whole response is sent at once: by
`respond(send, status, headers as text, parts of the body)`, which is false if it can't be."""


class GraphQLEndpoint:
    """Answers POST, and GET for queries. An ASGI application."""

    def __init__(
        self,
        executor: Executor,
        tokens: Tokens,
        new_context: Callable[[int | None], Context],
        *,
        max_body_bytes: int,
        served: Served,
    ) -> None:
        self._executor, self._tokens, self._new_context = executor, tokens, new_context
        self._max_body_bytes, self._served = max_body_bytes, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        headers = headers_of(scope)
        media, extra = JSON, _NOTHING
        try:
            media = response_type(headers.get(b"accept"))
            operation = await read_operation(scope, headers, receive, self._max_body_bytes)
            viewer_id = self._viewer(headers)
        except Disconnected:
            return
        except Refused as error:
            result, status, extra = _problem(error.message, error.code), error.status, error.headers
        except Unauthenticated as error:
            result, status = _problem(error.message, error.code), 401
            extra = {"www-authenticate": "Bearer"}
        else:
            read_only = scope["method"] == "GET"
            result = await self._executor.run(
                operation.query,
                operation.variables,
                operation.name,
                self._new_context(viewer_id),
                read_only=read_only,
            )
            if result.started:
                status = 200
            elif result.by_post_only:
                status, extra = 405, {"allow": "POST"}
            else:
                # With the older media type, what was refused answers 200 too: clients read the
                # errors.
                status = 400 if media == GRAPHQL_JSON else 200
        await _respond(scope, send, result.parts(), status, media, extra)
        self._served.add(status, perf_counter() - began)

    def _viewer(self, headers: Headers) -> int | None:
        authorization = headers.get(b"authorization")
        return self._tokens.viewer(authorization.decode("latin-1")) if authorization else None


_NOTHING: dict[str, str] = {}


def _problem(message: str, code: str) -> Result:
    return refused(GraphQLError(message, extensions={"code": code}))


async def _respond(
    scope: Scope,
    send: Send,
    parts: list[bytes],
    status: int,
    media: str,
    extra: dict[str, str],
) -> None:
    size = sum(map(len, parts))
    if size <= PART and not extra and (respond := scope.get(RESPOND)) is not None:
        head = b"content-type: %b\r\ncontent-length: %d\r\n" % (_CONTENT_TYPES[media], size)
        if respond(send, status, head, parts):
            return
    headers = [
        (b"content-type", _CONTENT_TYPES[media]),
        (b"content-length", b"%d" % size),
        *((name.encode(), value.encode()) for name, value in extra.items()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if size > PART:
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await asyncio.sleep(0)
        parts = []
    await send({"type": "http.response.body", "body": b"".join(parts)})


_CONTENT_TYPES = {media: f"{media}; charset=utf-8".encode() for media in (JSON, GRAPHQL_JSON)}
