"""Sends a response in several parts, as multipart/mixed over HTTP: the initial part, and the parts
of deferred fragments as soon as they are ready.

A client knows that a part is complete when it reads the boundary after the part, so each part is
sent together with that boundary.
"""

import asyncio
from collections.abc import Callable, Mapping

from starlette.types import Receive, Scope, Send

from gateway.execution.executor import Result
from gateway.http.requests import INCREMENTAL
from gateway.server.fairness.clients import Clients

PIECE = 1 << 16
"""The maximum number of bytes of a message to the connection."""
_BOUNDARY = b"\r\n---"
_PART = b"\r\ncontent-type: application/json; charset=utf-8\r\n\r\n"
_END = b"--\r\n"
_HEADERS = (
    (b"content-type", INCREMENTAL.encode()),
    (b"cache-control", b"private, no-store, no-transform"),
    (b"x-accel-buffering", b"no"),  # nginx would keep parts back
)


class PartByPart:
    """The parts of one response. An ASGI application."""

    def __init__(
        self,
        result: Result,
        headers: Mapping[str, str],
        about: bytes,
        clients: Clients | None,
        client: str,
        count: Callable[[list[str]], None],
    ) -> None:
        """`headers` are further headers, and `about` are header lines about the request. `client`
        is the name of the client (`Clients.name`), in whose turns fields are executed. `count` gets
        the codes of the later parts' errors."""
        assert result.later is not None
        self._result, self._later = result, result.later
        self._headers, self._about = headers, about
        self._clients, self._client, self._count = clients, client, count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send_all(send))
        gone = asyncio.create_task(_disconnected(receive))
        try:
            await asyncio.wait([sending, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)
            await self._later.end()
            self._count(self._later.codes)
        if not sending.cancelled():
            sending.result()

    async def _send_all(self, send: Send) -> None:
        headers = [
            *_HEADERS,
            *((name.encode(), value.encode()) for name, value in self._headers.items()),
            *((line.split(b": ", 1)) for line in self._about.splitlines()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        initial = self._result.parts()
        initial[-1] = initial[-1][:-1] + b',"hasNext":true}'
        complete = await self._send_part(send, [_BOUNDARY, _PART, *initial], last=False)
        del initial
        while complete and self._later.has_next:
            text = await self._next()
            complete = await self._send_part(send, [_PART, *text], last=not self._later.has_next)
        await send({"type": "http.response.body", "body": b""})

    async def _next(self) -> list[bytes]:
        if self._clients is None:
            return await self._later.next()
        return await self._clients.in_turn(self._client, 0, self._later.next())

    async def _send_part(self, send: Send, text: list[bytes], *, last: bool) -> bool:
        """Send a part with the boundary after it. Returns False if too many bytes wait already for
        clients that don't read them: the response ends without its last boundary."""
        text.append(_BOUNDARY + _END if last else _BOUNDARY)
        size = sum(map(len, text))
        if self._clients is None:
            await _pieces(send, text)
            return True
        self._clients.sent(self._client, size)
        with self._clients.holding_answer(self._client, size) as held:
            if held:
                await _pieces(send, text)
            return held


async def _pieces(send: Send, text: list[bytes]) -> None:
    body = b"".join(text)
    text.clear()
    for start in range(0, len(body), PIECE):
        piece = body[start : start + PIECE]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
