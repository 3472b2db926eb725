"""One WebSocket connection: uvicorn's, with limits.

A client that does not read what was sent is disconnected after a while; until then, at most the
transport's buffer and one message wait for it. A client that answers no ping is disconnected. A
gateway that stops closes its sockets with 1001, and waits for none of them. What a client sends
causes no line in the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import perf_counter
from typing import Any

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from gateway.server.connections import Connections

GOING_AWAY = 1001
NOT_UTF_8 = 1007
TOO_BIG = 1009
MOST_FRAGMENTS = 1_000
"""Frames of one message."""
SLICE = 2_048
"""Bytes that are read at once. A flood of tiny frames must not hold the event loop: other
connections take turns with its slices."""
DEBTORS_SECONDS = 0.05
"""Seconds between two slices of a client that is in debt."""
LAST_SECONDS = 0.5
"""Seconds in which a stopping gateway sends the last bytes to a socket."""

_log = logging.getLogger("pinway.sockets")
_log.setLevel(logging.WARNING)  # uvicorn and websockets log each handshake
_NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class SocketProtocol(WebSocketsSansIOProtocol):
    """One connection, taken over from HTTP."""

    def __init__(
        self,
        *args: Any,
        write_seconds: float,
        peer: str,
        places: Connections,
        charge: Callable[[float], bool],
        **options: Any,
    ) -> None:
        """`write_seconds`: the time in which a client must read. `peer` is the address of the other
        end. The connection leaves its place among `places` when it ends. `charge` charges the
        client for seconds of reading; it returns False if the client is in debt."""
        super().__init__(*args, **options)
        self.logger = self.conn.logger = _log
        self._write_seconds, self._charge = write_seconds, charge
        self.peer, self._places = peer, places
        self._rest = bytearray()
        """The bytes that were received and not read yet. Nothing more is received meanwhile."""
        self._is_going_on = False
        self._reading_timer: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)
        self._places.leave(self)

    @property
    def waits(self) -> bool:
        """A socket never gives way to a new connection."""
        return False

    def give_way(self) -> None:
        self.shutdown()

    def data_received(self, data: bytes) -> None:
        self._rest += data
        self._go_on()

    def _go_on(self) -> None:
        """Read one slice, and the others later. While a message waits for the application, nothing
        is read."""
        self._is_going_on = False
        if self.read_paused or self.transport.is_closing():
            return
        part = bytes(self._rest[:SLICE])
        del self._rest[:SLICE]
        began = perf_counter()
        super().data_received(part)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self._refuse_handshake()
        is_fine = self._charge(perf_counter() - began)
        if not self._rest and is_fine:
            if not self.read_paused and not self.transport.is_closing():
                self.transport.resume_reading()
            return
        self.transport.pause_reading()
        self._later(0.0 if is_fine else DEBTORS_SECONDS)

    def _refuse_handshake(self) -> None:
        """End the connection after a request that has a body, or too many or too long headers for a
        handshake. Neither library would answer it, or end the connection."""
        self.transport.write(b"".join(self.conn.data_to_send()) or _NO_HANDSHAKE)
        self.transport.close()

    def _later(self, seconds: float) -> None:
        if not self._is_going_on:
            self._is_going_on = True
            self.loop.call_later(seconds, self._go_on)

    async def receive(self) -> ASGIReceiveEvent:
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            self.read_paused = False
            self._later(0.0)
        return message

    async def send(self, message: ASGISendEvent) -> None:
        await self.writable.wait()
        if self.close_sent:  # for a frame that was not understood
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.accept":  # nothing reads the handshake any more
            del self.request, self.response

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

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.conn.send_close(NOT_UTF_8)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

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
        self._places.refused["unread"] += 1
        self.transport.abort()

    def _stop_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None
