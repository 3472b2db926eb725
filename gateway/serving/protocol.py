"""uvicorn's HTTP, with a short way for the requests that are most of all.

uvicorn makes a scope, a cycle and messages of each request, as ASGI has it. A POST that has come
whole, with its body, needs none of them where the application has a function from headers and body
to an answer (`answering`, see `gateway.http.Front`): that runs in a task like any other, and its
answer is written in one piece. All else is uvicorn's: requests in parts or one after the other
unanswered, connections to be closed, answers in pieces, faults.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from gateway.http import Answering
from gateway.requests import Headers, headers_of
from gateway.serving.sending import Sending


class Protocol(HttpToolsProtocol):
    """One connection."""

    transport: Any

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        by_uvicorn = self.access_log or self.limit_concurrency or self.config.reset_contextvars
        self._answering_of: Callable[[bytes, Headers], Answering | None] | None = (
            None if by_uvicorn else getattr(self.app, "answering", None)
        )
        self._answering: Answering | None = None
        """What answers the request of which the headers have come, once the body has."""
        self._fields: Headers = {}
        self._body: list[bytes] = []
        self.peer = ""
        """The address of the connection's other end."""
        self._idle_since: float | None = None
        """When the last response was sent, if no request has come since."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else ""
        self.transport = Sending(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()

    def handle_websocket_upgrade(self) -> None:
        """The connection is another protocol's from now on, and as it was."""
        self.transport.flush()
        self.transport = self.transport.transport
        super().handle_websocket_upgrade()

    # Reading

    def on_message_begin(self) -> None:
        self.url, self.headers = b"", []

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        parser, before = self.parser, self.cycle
        if (
            self._answering_of is not None
            and parser.get_method() == b"POST"
            and (before is None or before.response_complete)
            and parser.should_keep_alive()
        ):
            fields = headers_of(self.headers)
            # Without this header a connection that is to be kept is one of HTTP/1.1.
            if b"expect" not in fields and (
                b"connection" not in fields
                or (parser.get_http_version() == "1.1" and not parser.should_upgrade())
            ):
                self._answering = self._answering_of(self.url, fields)
                if self._answering is not None:
                    self._fields, self._body = fields, []
                    return
        self._begin_cycle()

    def _begin_cycle(self) -> None:
        url, headers = self.url, self.headers
        super().on_message_begin()  # makes the scope
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._answering is None:
            super().on_body(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        answering = self._answering
        if answering is None:
            super().on_message_complete()
            return
        self._answering = None
        exchange = Exchange()
        self.cycle = exchange  # type: ignore[assignment]
        body, self._body = b"".join(self._body), []
        task = self.loop.create_task(exchange.run(self, answering, self._fields, body))
        exchange.task = task
        self.tasks.add(task)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._answering is not None:  # the body has not come whole
            self._answering = None
            if not self.transport.is_closing():
                self._begin_cycle()
                super().on_body(b"".join(self._body))

    # Between requests. Most connections have the next request before the time is up: the timer is
    # left as it is and looks again.

    def _unset_keepalive_if_required(self) -> None:
        self._idle_since = None

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._idle_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._wait_for_request(self.timeout_keep_alive)

    def _wait_for_request(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def timeout_keep_alive_handler(self) -> None:
        self.timeout_keep_alive_task = None
        if self._idle_since is None:
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._wait_for_request(left)
        else:
            super().timeout_keep_alive_handler()


class _Unheard:
    def set(self) -> None:
        """Nobody waits for more of a request that has come whole."""


class Exchange:
    """A request that came whole, and its response; to its connection, what a cycle is."""

    __slots__ = ("disconnected", "keep_alive", "response_complete", "task")

    message_event = _Unheard()
    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.disconnected = self.response_complete = False
        self.keep_alive = True

    async def run(
        self, protocol: Protocol, answering: Answering, headers: Headers, body: bytes
    ) -> None:
        """Send the answer."""
        try:
            try:
                answer = await answering(headers, body, protocol.peer)
            except BaseException as error:
                await self._by_uvicorn(protocol, _raising(error))
                return
            plain = answer.plain()
            if (
                plain is None
                or self.disconnected
                or not self.keep_alive
                or protocol.flow.write_paused
            ):
                await self._by_uvicorn(protocol, answer)
                return
            self.response_complete = True
            default = _default(protocol.server_state.default_headers)
            head = (STATUS_LINE[answer.status], default, plain, b"\r\n")
            protocol.transport.write(b"".join((*head, *answer.parts)))
            protocol.on_response_complete()
        finally:
            protocol.tasks.discard(self.task)
            del self.task

    async def _by_uvicorn(self, protocol: Protocol, app: ASGIApp) -> None:
        """Have an application answer in this exchange's place."""
        protocol.cycle = RequestResponseCycle(
            scope=cast(Any, {"type": "http", "method": "POST"}),
            transport=protocol.transport,
            flow=protocol.flow,
            logger=protocol.logger,
            access_logger=protocol.access_logger,
            access_log=False,
            default_headers=protocol.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=self.keep_alive,
            on_response=protocol.on_response_complete,
        )
        protocol.cycle.disconnected = self.disconnected
        await protocol.cycle.run_asgi(cast(Any, app))


def _raising(error: BaseException) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise error

    return app


_joined: tuple[Any, bytes] = (None, b"")
"""The headers of every response, which uvicorn makes anew each second, and the same as text."""


def _default(headers: list[tuple[bytes, bytes]]) -> bytes:
    global _joined
    known, text = _joined
    if known is not headers:
        text = b"".join(b"%b: %b\r\n" % header for header in headers)
        _joined = headers, text
    return text
