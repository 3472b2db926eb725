"""HTTP connections whose responses are sent together, once in each turn of the event loop.

uvicorn writes a response's head and body separately, and uvloop passes each to the system at once:
two calls, two packets, and the other side is woken for a head alone. This module keeps the bytes
that are written to a connection in one turn of the loop. The next turn sends them in one call,
together with the bytes of other connections with a response. So a client or a proxy is woken once
for all.
"""

import asyncio
from collections.abc import Callable
from typing import Any

MOST = 1 << 16
"""Bytes that are kept, at most; above it, the transport says when to wait."""


class Sending:
    """A transport that keeps written bytes until the next turn of the loop. All other methods are
    the transport's own. `lingers` is called before the transport is closed; if it returns True,
    the transport stays open."""

    def __init__(self, transport: asyncio.Transport, lingers: Callable[[], bool]) -> None:
        self.transport, self._lingers = transport, lingers
        self.is_closing = transport.is_closing
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
        """Send the kept bytes, unless the connection is lost."""
        kept, self._kept, self._size = self._kept, [], 0
        if kept and not self.is_closing():
            self.transport.write(kept[0] if len(kept) == 1 else b"".join(kept))

    def write_eof(self) -> None:
        self.flush()
        if not self.is_closing():
            self.transport.write_eof()

    def close(self) -> None:
        self.flush()
        if not self._lingers():
            self.transport.close()
