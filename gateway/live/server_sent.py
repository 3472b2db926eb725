"""GraphQL over server-sent events, by the protocol of the library graphql-sse, in its mode of
distinct connections: one response for each operation."""

import asyncio
import time
from collections.abc import Callable, Container
from contextlib import suppress

from graphql import GraphQLError
from starlette.types import Receive, Scope, Send

from datasources.errors import Unauthenticated
from gateway.execution.executor import Result, refused
from gateway.http.auth import CLOSED, EXPIRED, Token
from gateway.http.csrf import check_get
from gateway.http.endpoint import METHODS, NEVER_KEPT, GraphQLEndpoint, refusing
from gateway.http.requests import (
    Disconnected,
    Headers,
    Refused,
    RequestParameters,
    check_coding,
    check_content_type,
    headers_of,
    read_body,
    read_json,
    read_query_string,
)
from gateway.live.open_streams import OpenStreams
from gateway.live.results import deliver
from gateway.live.sign_outs import SignOuts

STREAMING = "pinway.streaming"
"""The key of a scope whose response may last as long as the client wants. A gateway that stops ends
such responses at once."""
_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", NEVER_KEPT.encode() + b", no-transform"),
    (b"vary", b"Accept, Authorization"),
    (b"x-accel-buffering", b"no"),  # nginx would keep events back
    (b"x-content-type-options", b"nosniff"),
]
_COMPLETE = b"event: complete\ndata:\n\n"
_STILL_HERE = b":\n\n"


class ServerSent:
    """Answers requests for server-sent events. An ASGI application."""

    def __init__(
        self,
        endpoint: GraphQLEndpoint,
        streams: OpenStreams,
        *,
        client: Callable[[Headers, str], str],
        keep_alive: float,
        max_body_bytes: int,
        max_body_values: int = 12_000,
        allowed_origins: Container[str] = (),
        sign_outs: SignOuts,
    ) -> None:
        """`keep_alive`: seconds between two comments while nothing happens."""
        self._endpoint, self._streams, self._client = endpoint, streams, client
        self._keep_alive, self._max_bytes = keep_alive, max_body_bytes
        self._max_values, self._origins = max_body_values, allowed_origins
        self._sign_outs = sign_outs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope["headers"])
        peer = (scope.get("client") or ("",))[0]
        try:
            operation, size = await self._read(scope, receive, headers)
            token = await self._endpoint.identify(headers)
        except Disconnected:
            return
        except Unauthenticated as error:
            why = Refused(401, error.message, error.code, www_authenticate="Bearer")
            await refusing(why)(scope, receive, send)
            return
        except Refused as error:
            await refusing(error)(scope, receive, send)
            return
        with self._streams.opened("server-sent events", self._client(headers, peer)) as has_place:
            if not has_place:
                why = Refused(
                    429, "you have too many streams open", "RATE_LIMITED", retry_after="10"
                )
                await refusing(why)(scope, receive, send)
                return
            scope[STREAMING] = True
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await _piece(send, _STILL_HERE)
            read_only = scope["method"] == "GET"
            await self._answer(operation, headers, peer, size, read_only, token, receive, send)

    async def _read(
        self, scope: Scope, receive: Receive, headers: Headers
    ) -> tuple[RequestParameters, int]:
        """The operation, and the bytes that it took. Raises Refused and Disconnected."""
        if scope["method"] == "GET":
            check_get(headers, self._origins)
            text = scope["query_string"]
            return read_query_string(text), len(text)
        if scope["method"] not in METHODS:
            raise Refused(405, "send the operation by POST or GET", allow=", ".join(METHODS))
        check_content_type(headers.get(b"content-type", b""))
        if b"content-encoding" in headers:
            check_coding(headers[b"content-encoding"])
        body = await read_body(receive, self._max_bytes)
        return read_json(body, self._max_bytes, self._max_values), len(body)

    async def _answer(
        self,
        operation: RequestParameters,
        headers: Headers,
        peer: str,
        size: int,
        read_only: bool,
        token: Token | None,
        receive: Receive,
        send: Send,
    ) -> None:
        sent = asyncio.Event()

        async def next(result: Result) -> None:
            sent.set()
            await _piece(send, b"event: next\ndata: ", *result.parts(), b"\n\n")

        async def work() -> None:
            result = await self._endpoint.operate(
                operation, headers, peer, size, read_only=read_only
            )
            if not result.started and result.stream is None:
                await next(result)
            elif (failed := await deliver(result, self._streams, next)) is not None:
                await next(failed)

        async def keep_alive() -> None:
            while True:
                sent.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._keep_alive):
                        await sent.wait()
                        continue
                await _piece(send, _STILL_HERE)

        working = asyncio.create_task(work())
        gone = asyncio.create_task(_disconnected(receive))
        beating = asyncio.create_task(keep_alive())
        ends, left = [working, gone], None
        if token is not None:
            left = max(0.0, token.expires - time.time())
            ends.append(asyncio.create_task(self._sign_outs.until(token)))
        tasks = [*ends, beating]
        try:
            done, _ = await asyncio.wait(ends, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if gone in done:
            return
        if working in done:
            await working
        else:
            why = CLOSED if done else EXPIRED
            error = GraphQLError(why, extensions={"code": Unauthenticated.code})
            await next(refused(error))
        await _piece(send, _COMPLETE)
        await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _piece(send: Send, *parts: bytes) -> None:
    await send({"type": "http.response.body", "body": b"".join(parts), "more_body": True})
