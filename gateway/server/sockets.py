"""One WebSocket connection: uvicorn's, with limits.

A client that does not read what was sent is disconnected after a while; until then, at most the
transport's buffer and one message wait for it. A client that answers no ping is disconnected. A
gateway that stops closes its sockets with 1001, and waits for none of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

GOING_AWAY = 1001
TOO_BIG = 1009
MOST_FRAGMENTS = 1_000
"""Frames of one message."""
LAST_SECONDS = 0.5
"""Seconds in which a stopping gateway sends the last bytes to a socket."""

_log = logging.getLogger("pinway.sockets")
_log.setLevel(logging.WARNING)  # uvicorn logs each handshake


class SocketProtocol(WebSocketsSansIOProtocol):
    """One connection, taken over from HTTP."""

    def __init__(
        self,
        *args: Any,
        write_seconds: float,
        lost: Callable[[], None],
        unread: Callable[[], None],
        **options: Any,
    ) -> None:
        """`write_seconds`: the time in which a client must read. `lost` is called when the
        connection ends, and `unread` before that if the client did not read."""
        super().__init__(*args, **options)
        self.logger = _log
        self._write_seconds, self._lost, self._unread = write_seconds, lost, unread
        self._reading_timer: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)
        self._lost()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading_timer = self.loop.call_later(self._write_seconds, self._does_not_read)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timer()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) >= MOST_FRAGMENTS:
            self.conn.fail(TOO_BIG, "too many fragments")
            self.handle_parser_exception()
            return
        super().handle_cont(event)

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:  # a client that sends pings and does not read
            self.conn.data_to_send()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # closing would wait for the client

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent:
            self.stop_keepalive()
            self.queue.put_nowait({"type": "websocket.disconnect", "code": GOING_AWAY})
            self.conn.send_close(GOING_AWAY)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()
        else:
            super().shutdown()
        self.loop.call_later(LAST_SECONDS, self.transport.abort)

    def _does_not_read(self) -> None:
        self._unread()
        self.transport.abort()

    def _stop_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None
