"""HTTP connections whose responses are sent together, once in a turn of the event loop.

uvicorn writes a response's head and its body one by one, and uvloop hands each to the system at
once: two calls, two packets, and the other side woken for a head alone. Here what is written to a
connection in one turn of the loop is kept, and the next turn sends it in one call, right after that
of the other connections that had a response ready: a client, or a proxy, is woken once for all.

An application that has all of a response may hand it over in one piece, too (`gateway/http.py`
does): it finds how in the request's scope, at RESPOND.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from gateway.http import RESPOND

MOST = 1 << 16
"""Bytes kept at most: from there on the transport says when to wait."""


class Sending:
    """A transport that keeps what is written until the next turn of the loop. All else is the
    transport's own."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self._kept: list[bytes] = []
        self._size = 0
        self._call_soon = asyncio.get_running_loop().call_soon

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        if not self._kept:
            self._call_soon(self.flush)
        self._kept.append(data)
        self._size += len(data)
        if self._size > MOST:
            self.flush()

    def flush(self) -> None:
        """Send what was kept, unless the connection is lost."""
        kept, self._kept, self._size = self._kept, [], 0
        if kept and not self.transport.is_closing():
            self.transport.write(kept[0] if len(kept) == 1 else b"".join(kept))

    def close(self) -> None:
        self.flush()
        self.transport.close()


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP, sending so."""

    transport: Any

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = Sending(transport)

    def handle_websocket_upgrade(self) -> None:
        """The connection is another protocol's from now on, and as it was."""
        self.transport.flush()
        self.transport = self.transport.transport
        super().handle_websocket_upgrade()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        cast(dict[str, Any], cycle.scope)[RESPOND] = _respond
        super()._start_asgi_task(cycle, app)


_joined: tuple[Any, bytes] = (None, b"")
"""The headers of every response, which uvicorn makes anew each second, and the same as text."""


def _default(headers: list[tuple[bytes, bytes]]) -> bytes:
    global _joined
    known, text = _joined
    if known is not headers:
        text = b"".join(b"%b: %b\r\n" % header for header in headers)
        _joined = headers, text
    return text


def _respond(
    send: Callable[..., Any],
    status: int,
    headers: bytes,
    body: Sequence[bytes],
) -> bool:
    """Send a whole response. False where it has to be sent step by step: to a middleware that
    looks at it, or when the connection isn't open and ready any more, or not to be kept open."""
    cycle = getattr(send, "__self__", None)
    if (
        not isinstance(cycle, RequestResponseCycle)
        or cycle.disconnected
        or cycle.response_started
        or cycle.flow.write_paused
        or not cycle.keep_alive
        or cycle.access_log
    ):
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    head = (STATUS_LINE[status], _default(cycle.default_headers), headers, b"\r\n")
    cycle.transport.write(b"".join((*head, *body)))
    cycle.message_event.set()
    cycle.on_response()
    return True
