"""A request that arrived complete, and its response, which is written in one piece.

uvicorn makes an ASGI scope, a cycle and messages for each request. A complete request needs none of
them if the application has a function from headers and body to an answer
(`gateway.http.endpoint.Front`). A response that can't be written in one piece is sent by uvicorn's
cycle.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from gateway.http.endpoint import Answering
from gateway.http.requests import Headers


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with the request that it answers."""

    running: RequestResponseCycle | Exchange | None = None
    """The request that is being answered, or was answered last. `cycle` is the request that came
    last: it may wait for its turn."""


class _Unheard:
    def set(self) -> None:
        """Do nothing: no task waits for more of a complete request."""


class Exchange:
    """The request and its response. For the connection, it takes the place of uvicorn's cycle."""

    __slots__ = ("disconnected", "keep_alive", "response_complete", "task")

    message_event = _Unheard()
    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.disconnected = self.response_complete = False
        self.keep_alive = True

    async def run(
        self,
        connection: Connection,
        peer: str,
        answering: Answering,
        headers: Headers,
        body: bytes,
    ) -> None:
        """Send the answer to the connection, whose other end has the address `peer`."""
        try:
            try:
                answer = await answering(headers, body, peer)
            except BaseException as error:
                await self._by_uvicorn(connection, _raising(error))
                return
            plain = answer.plain()
            if (
                plain is None
                or self.disconnected
                or not self.keep_alive
                or connection.flow.write_paused
            ):
                await self._by_uvicorn(connection, answer)
                return
            self.response_complete = True
            default = _default(connection.server_state.default_headers)
            head = (STATUS_LINE[answer.status], default, plain, b"\r\n")
            connection.transport.write(b"".join((*head, *answer.parts)))
            connection.on_response_complete()
        finally:
            connection.tasks.discard(self.task)
            del self.task

    async def _by_uvicorn(self, connection: Connection, app: ASGIApp) -> None:
        """Let uvicorn run an application that sends the response instead."""
        cycle = RequestResponseCycle(
            scope=cast(Any, {"type": "http", "method": "POST"}),
            transport=connection.transport,
            flow=connection.flow,
            logger=connection.logger,
            access_logger=connection.access_logger,
            access_log=False,
            default_headers=connection.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=self.keep_alive,
            on_response=connection.on_response_complete,
        )
        cycle.disconnected = self.disconnected
        connection.running = cycle
        if connection.cycle is cast(Any, self):  # no other request has arrived since
            connection.cycle = cycle
        await cycle.run_asgi(cast(Any, app))


def _raising(error: BaseException) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise error

    return app


_joined: tuple[Any, bytes] = (None, b"")
"""The headers of every response, which uvicorn renews each second, and their text."""


def _default(headers: list[tuple[bytes, bytes]]) -> bytes:
    global _joined
    known, text = _joined
    if known is not headers:
        text = b"".join(b"%b: %b\r\n" % header for header in headers)
        _joined = headers, text
    return text
