"""One HTTP connection: uvicorn's, with limits, and without ASGI for the most frequent requests.

A complete POST is answered without ASGI if the application has a function for it (`exchange.py`).
uvicorn handles all other cases: requests that arrive in parts, requests that are sent before the
response to an earlier one, connections that will be closed, responses in several pieces, errors.

Limits (`bounds.py`): a request that is too large or arrives too slowly is answered with 408, 413,
414 or 431, and the connection ends. Its client may continue to send for a while, and these bytes
are dropped. A client that doesn't read its responses is disconnected. Each connection has one
timer, which checks the deadline of what the connection waits for at present; a complete request
sets no timer.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.http.endpoint import Answering
from gateway.http.requests import Headers, headers_of
from gateway.live.server_sent import STREAMING
from gateway.server.bounds import Bounds
from gateway.server.connections import Connections
from gateway.server.exchange import Connection, Exchange
from gateway.server.fairness.reads import MUCH, Reading
from gateway.server.fairness.shares import A_BYTE, A_CONNECTION
from gateway.server.refusals import Refusal, refusal
from gateway.server.shared_responses import Sending
from gateway.server.sockets import SocketProtocol

LINGER_SECONDS = 30.0
"""Seconds for which a client may continue to send a request that is answered already. Many clients
read the answer only after they have sent everything, and lose it if the connection is reset."""
LINGER_PAUSE = 5.0
"""Seconds without a byte after which such a client is no longer waited for."""
LINGER_BYTES = 1 << 26
"""Bytes that such a client may send. They are dropped, and their time is charged as for other
bytes: several times the largest picture, so that people learn that a picture is too large."""
DRAIN_SECONDS = 0.5
"""Seconds for which an idle connection of a stopping gateway waits for one more request. If the
connection were closed at once, a request that is already under way would be lost."""
LAST_SECONDS = 1.0
"""Seconds in which the rest of a request must come while the gateway stops. Otherwise one stranger
with half a request would hold up each stop."""
_FRAMING = 8
"""Bytes of chunked framing that are allowed for each byte of a body."""
SMALL_CHUNKS, SMALL_BYTES = 1_000, 64
"""A body may come in SMALL_CHUNKS chunks of any size. In a body with more chunks, the average chunk
must have SMALL_BYTES bytes."""

_HOST = re.compile(
    rb"(?:[\w.~!$&'()*+,;=%-]{0,255}|\[[0-9a-fA-F:.]{2,45}\]|\[v[0-9a-fA-F]+\.[\w.~!$&'()*+,;=:-]+\])"
    rb"(?::[0-9]{0,5})?",
    re.ASCII,
)
"""A valid Host: a name or an address, and perhaps a port (RFC 9110, section 7.2)."""

_HOP = (b"connection", b"upgrade", b"http2-settings")
"""Headers that ask for an upgrade."""

_UNCOUNTED = 16_384
"""A body that arrives in pieces is not counted up to this number of bytes."""

# The part of a request that a connection reads at present.
IDLE, HEAD, BODY, WHOLE, ENDED = range(5)


def _free(seconds: float) -> bool:
    """Charge nobody: the client is not known."""
    return True


class Flow(FlowControl):
    """Flow control that also stops reading while requests wait for their turn (`held`), while their
    client is in debt (`in_debt`), and until it is the connection's turn to be read (`in_turn`)."""

    held = in_debt = in_turn = False

    def resume_reading(self) -> None:
        if not self.held and not self.in_debt and not self.in_turn:
            super().resume_reading()


class Protocol(Connection):
    """One connection."""

    transport: Any
    flow: Flow

    def __init__(
        self,
        *args: Any,
        bounds: Bounds,
        connections: Connections,
        reading: Reading,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._bounds, self._all, self._reading = bounds, connections, reading
        by_uvicorn = self.access_log or self.limit_concurrency or self.config.reset_contextvars
        self._answering_of: Callable[[bytes, Headers], Answering | None] | None = (
            None if by_uvicorn else getattr(self.app, "answering", None)
        )
        self._answering: Answering | None = None
        """The function that will answer the current request: its headers have arrived, its body has
        not."""
        self._fields: Headers = {}
        self._body: list[bytes] = []
        self.peer = ""
        """The address of the connection's other end."""
        self._client = ""
        """The client that is charged for the time of reading; empty for none."""
        self._reads = IDLE
        self._has_sockets: bool = getattr(self.app, "has_sockets", False)
        """Whether the application speaks WebSocket."""
        self._to_socket = False
        """Whether the current request becomes a WebSocket."""
        self._upgrading = b""
        """The method of a request for another protocol, until the request is read again as HTTP."""
        self._is_new = True
        """Whether no request has arrived yet."""
        self._chunk = self._came = self._taken = 0
        """Bytes: of the last read; of the head or body before it; of the body, without framing."""
        self._chunks = self._size = 0
        """The body's chunks (or parts), and their bytes."""
        self._held: list[int] = []
        """The counted bytes of the body of each request that is not answered yet, in the order of
        the requests (`Connections.hold`)."""
        self._deadline: float | None = None
        """The time by which the expected part of a request must have arrived, or a new request must
        have begun."""
        self._unread_deadline: float | None = None
        """The time by which the client must have read the bytes that were sent."""
        self._timer: asyncio.TimerHandle | None = None
        self._last = False
        """Whether the gateway is stopping: the response to the next request ends the connection."""
        self._lingers = False
        """Whether all is sent, and the connection waits for its client to close it."""
        self._lingers_until = math.inf

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else ""
        self.flow = Flow(transport)
        transport.set_write_buffer_limits(high=self._bounds.unsent_bytes)
        self.transport = Sending(transport, self._lingers_instead)
        self._deadline = self.loop.time() + self._bounds.header_seconds
        self._look_in(self._bounds.header_seconds)
        if (why_not := self._all.admit(self)) is not None:
            self._reads = ENDED
            self._send_refusal(Refusal(503, why_not))
            self.transport.close()  # without lingering, which would keep a descriptor
            return
        self._client = self._reading.client(self.peer)
        if self._client:
            self._charge(A_CONNECTION)

    def shutdown(self) -> None:
        """Answer the running request; without one, wait for one more request, which may be under
        way. The rest of a request must come soon."""
        self._last = True
        if not self._lingers and self.cycle is not None and not self.cycle.response_complete:
            scope = getattr(self.running, "scope", None)
            if scope is not None and STREAMING in scope:
                self._end_stream()
                return
            self.cycle.keep_alive = False
            if self._reads != BODY:
                return
        seconds = LAST_SECONDS if self._reads in (HEAD, BODY) else DRAIN_SECONDS
        self._deadline = self._lingers_until = self.loop.time() + seconds
        if self._timer is not None:
            self._timer.cancel()
        self._look_in(seconds)

    def _end_stream(self) -> None:
        """End a response that would last as long as its client wants. Its client sees that it is
        not complete."""
        self._tell_running()
        self.transport.close()
        self.loop.call_later(LAST_SECONDS / 2, self.transport.abort)

    def _tell_running(self) -> None:
        """Tell the application of the running request that its client has left."""
        if self.running is not None:
            self.running.disconnected = True
            self.running.message_event.set()

    def _after(self, seconds: float) -> float:
        """The time at which an expected part of a request is late."""
        return self.loop.time() + (min(seconds, LAST_SECONDS) if self._last else seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._tell_running()
        while self._held:
            self._let_go(0)
        self._all.leave(self)
        if self._timer is not None:
            self._timer.cancel()

    # Reading

    def data_received(self, data: bytes) -> None:
        if not self._client:
            self._read(data)
            return
        clock = self._reading.shares.clock
        began = clock()
        self._read(data)
        self._charge(clock() - began + len(data) * A_BYTE)
        if len(data) >= MUCH and not self.flow.in_turn and not self.transport.is_closing():
            self.flow.in_turn = True
            self.flow.pause_reading()
            self._reading.wait(self._client, self)

    def _charge(self, seconds: float) -> None:
        """Charge the client for reading. If it is in debt, its connection is read later."""
        if self._reading.charge(self._client, seconds):
            return
        if not self.flow.in_debt and not self.transport.is_closing():
            self.flow.in_debt = True
            self.flow.pause_reading()
            self._reading.pause(self._client, self)

    def go_on(self) -> None:
        """Read again, because the client's debt is worked off."""
        self.flow.in_debt = False
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def next_part(self) -> None:
        """Read again: it is the connection's turn."""
        self.flow.in_turn = False
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _read(self, data: bytes) -> None:
        self._chunk = len(data)
        if self._reads == ENDED:
            self._came += len(data)
            if self._came > LINGER_BYTES:
                self.transport.abort()
            elif self._lingers:
                self._deadline = min(self.loop.time() + LINGER_PAUSE, self._lingers_until)
            return
        try:
            self._feed(data)
        except httptools.HttpParserError as error:
            cause = error.__context__
            if not isinstance(cause, Refusal):
                cause = Refusal(400, "this is not a valid HTTP request")
            self._end(cause)
            return
        if self._reads == HEAD:
            self._head_came_in_part()
        elif self._reads == BODY:
            self._body_came_in_part()
            if self._size > _UNCOUNTED and self._reads == BODY:
                self._hold()

    def _feed(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                if self._to_socket:
                    self._become_socket(data[upgrade.args[0] :])
                    return
                # A server may ignore an upgrade and answer in HTTP/1.1. The parser takes the body
                # for the other protocol's data, so it reads the request again without the upgrade.
                head = [b"%b: %b\r\n" % header for header in self.headers if header[0] not in _HOP]
                line = b"%b %b HTTP/1.1\r\n" % (self._upgrading, self.url)
                data = b"".join([line, *head, b"\r\n", data[upgrade.args[0] :]])
                self._upgrading = b""

    def _head_came_in_part(self) -> None:
        if self._deadline is None:
            self._deadline = self._after(self._bounds.header_seconds)
            self._came = 0  # the received bytes may also contain earlier requests
            return
        self._came += self._chunk
        if self._came > self._bounds.header_bytes + self._bounds.url_bytes:
            self._end(self._too_long())

    def _body_came_in_part(self) -> None:
        bounds = self._bounds
        if self._deadline is None:
            seconds = bounds.upload_seconds if self._uploads else bounds.body_seconds
            self._deadline = self._after(seconds)
            self._came = self._taken = 0
            if self._length > self._most_bytes:
                self._end(Refusal(413, f"the body is larger than {self._most_bytes} bytes"))
            elif self._answering is not None:
                self._answering = None
                self._begin_cycle()
                super().on_body(b"".join(self._body))
            return
        self._came += self._chunk
        # An application that has read enough answers 413; the rest of the body is read and dropped.
        if self._taken > 2 * self._most_bytes:
            self._end(Refusal(413, f"the body is larger than {self._most_bytes} bytes"))
        elif self._came - self._taken > bounds.header_bytes + _FRAMING * self._taken:
            self._end(Refusal(431, "the trailers are too long"))

    @property
    def _uploads(self) -> bool:
        """Whether the request sends a picture."""
        return self.url.startswith(b"/uploads/") and self._answering is None

    @property
    def _most_bytes(self) -> int:
        """Bytes of the request's body, at most."""
        return self._bounds.upload_bytes if self._uploads else self._bounds.body_bytes

    def _hold(self) -> None:
        """Count the body's bytes, which are held until the request is answered."""
        if not self._held:  # it is answered already: the rest of its body is dropped
            return
        more = self._size - self._held[-1]
        if more > 0 and not self._all.hold(self.peer, more):
            self._end(Refusal(503, "too many bytes of requests' bodies are waiting: try again"))
        elif more > 0:
            self._held[-1] = self._size

    def _let_go(self, place: int) -> None:
        """Release the body of the first (0) or the last (-1) request that is not answered."""
        if self._held and (held := self._held.pop(place)):
            self._all.let_go(self.peer, held)

    @property
    def _length(self) -> int:
        """The size of the body, as announced in the request's headers."""
        headers = self.headers if self._answering is not None else self.cycle.scope["headers"]
        found = dict(headers).get(b"content-length", b"0")
        return int(found)  # the parser has checked it

    def on_message_begin(self) -> None:
        self.url, self.headers = b"", []
        self._reads, self._deadline = HEAD, None

    def on_url(self, url: bytes) -> None:
        self.url += url
        if len(self.url) > self._bounds.url_bytes:
            raise self._too_long()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._reads == HEAD:  # trailers, after a body, are dropped
            self.headers.append((name.lower(), value))
            if len(self.headers) > self._bounds.headers:
                raise self._too_long()

    def _too_long(self) -> Refusal:
        """The refusal of a head that is too long."""
        bounds = self._bounds
        if len(self.url) > bounds.url_bytes:
            return Refusal(414, f"the URL is longer than {bounds.url_bytes} bytes")
        if len(self.headers) > bounds.headers:
            return Refusal(431, f"there are more than {bounds.headers} headers")
        return Refusal(431, f"the headers are longer than {bounds.header_bytes} bytes")

    def on_headers_complete(self) -> None:
        parser, before, bounds = self.parser, self.cycle, self._bounds
        # A head that arrived at once in fewer bytes than the limit can't be too long.
        if (self._came or self._chunk > bounds.header_bytes) and (
            sum([len(name) + len(value) + 4 for name, value in self.headers]) > bounds.header_bytes
        ):
            raise self._too_long()
        self._check_host()
        self._reads, self._deadline = BODY, None
        self._chunks = self._size = 0
        if (
            self._answering_of is not None
            and parser.get_method() == b"POST"
            and (before is None or before.response_complete)
            and parser.should_keep_alive()
        ):
            fields = headers_of(self.headers)
            # In HTTP/1.1, a connection is kept without this header.
            if b"expect" not in fields and (
                b"connection" not in fields
                or (parser.get_http_version() == "1.1" and not parser.should_upgrade())
            ):
                self._answering = self._answering_of(self.url, fields)
                if self._answering is not None:
                    self._fields, self._body = fields, []
                    return
        self._begin_cycle()

    def _check_host(self) -> None:
        """Raises Refusal unless the request names one valid host (RFC 9112, section 3.2). In a
        chain of servers, each could take another host for the request's."""
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) == 1:
            if _HOST.fullmatch(hosts[0]) is None:
                raise Refusal(400, "the Host header must be a name or an address, and a port")
        elif hosts:
            raise Refusal(400, f"send one Host header, not {len(hosts)}")
        elif self.parser.get_http_version() != "1.0":
            raise Refusal(400, "the Host header is missing")

    def _begin_cycle(self) -> None:
        url, headers = self.url, self.headers
        if len(self.pipeline) >= self._bounds.pipelined:
            self._reads = HEAD  # the complete request before this one is the last that is answered
            raise Refusal(503, f"more than {self._bounds.pipelined} requests wait for their turn")
        if self.parser.should_upgrade():
            self._reads = HEAD
            if self._get_upgrade() == b"websocket":
                if not self._may_become_socket():
                    raise Refusal(501, "there is nothing here that speaks WebSocket")
                self._to_socket, self._upgrading = True, b"GET"
                return
            self._upgrading = self.parser.get_method()
            if self._upgrading == b"CONNECT":
                raise Refusal(501, "there is no proxy here")
            return
        super().on_message_begin()  # makes the scope
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        try:
            super().on_headers_complete()
        except httptools.HttpParserInvalidURLError:
            self._reads = HEAD  # no cycle was begun
            raise Refusal(400, "the request's target is not a valid URL") from None
        self._held.append(0)
        if self._last:
            self.cycle.keep_alive = False
        if self.pipeline:
            self.flow.held = True

    def _may_become_socket(self) -> bool:
        """Whether the request, without earlier ones that wait for answers, is for a path that
        speaks WebSocket. HTTP/1.0 has no upgrades (RFC 9110, section 7.8)."""
        is_idle = self.cycle is None or self.cycle.response_complete
        path, method = self.url.partition(b"?")[0], self.parser.get_method()
        return (
            self._has_sockets
            and not self._last
            and is_idle
            and path == b"/graphql"
            and method == b"GET"
            and self.parser.get_http_version() != "1.0"
        )

    def _become_socket(self, rest: bytes) -> None:
        """Hand the connection over. It still counts as this connection."""
        lines = [b"%b: %b\r\n" % header for header in self.headers]
        head = b"".join([b"GET ", self.url, b" HTTP/1.1\r\n", *lines, b"\r\n"])
        if self._timer is not None:
            self._timer.cancel()
        self.connections.discard(self)
        self.transport.flush()
        transport = self.transport.transport
        socket = SocketProtocol(
            config=self.config,
            server_state=self.server_state,
            app_state=self.app_state,
            write_seconds=self._bounds.write_seconds,
            peer=self.peer,
            places=self._all,
            charge=partial(self._reading.charge, self._client) if self._client else _free,
        )
        self._all.replace(self, socket)
        socket.connection_made(transport)
        transport.set_protocol(socket)
        socket.data_received(head + rest)

    def on_body(self, body: bytes) -> None:
        self._chunks += 1
        self._size += len(body)
        if self._chunks > SMALL_CHUNKS and self._size < SMALL_BYTES * self._chunks:
            # Reading them would delay other connections.
            raise Refusal(400, f"the chunks are too small: {self._chunks} in {self._size} bytes")
        if self._answering is None:
            self._taken += len(body)
            super().on_body(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        answering = self._answering
        self._reads, self._deadline, self._came = WHOLE, None, 0
        if self._is_new:
            self._is_new = False
            self._all.used(self)
        if answering is None:
            super().on_message_complete()
            if self.cycle.response_complete:  # before its body was complete
                self._wait_for_request()
            return
        self._answering = None
        self._held.append(0)
        exchange = Exchange()
        exchange.keep_alive = not self._last
        self.running = exchange
        self.cycle = exchange  # type: ignore[assignment]
        body, self._body = b"".join(self._body), []
        task = self.loop.create_task(exchange.run(self, self.peer, answering, self._fields, body))
        exchange.task = task
        self.tasks.add(task)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    # Refusing

    def _end(self, why: Refusal) -> None:
        """Answer no further request on this connection. Earlier requests are answered; then the
        refusal is sent, if possible, and ends the connection."""
        reading, self._reads = self._reads, ENDED
        self._came = 0
        if reading == BODY and self._answering is None:
            self._let_go(-1)
        self._all.refused[str(why.status)] += 1
        cycle = self.cycle
        if reading != BODY and cycle is not None and not cycle.response_complete:
            cycle.keep_alive = False  # earlier requests are answered first
            self._deadline = None
            return
        if reading == BODY and self._answering is None:  # the cycle is this request's
            self._give_up()
            if self.pipeline:
                self.transport.close()
                return
            if cycle.response_started:
                self._linger()
                return
        self._answering, self._body = None, []
        self._send_refusal(why)
        self._linger()

    def _give_up(self) -> None:
        """Let the application of the current request wait for no more of its body."""
        cycle = self.cycle
        cycle.disconnected = True
        cycle.waiting_for_100_continue = False  # nothing may be written any more
        cycle.body = bytearray()  # the connection lingers
        cycle.message_event.set()

    def _lingers_instead(self) -> bool:
        """Linger if an answer ends the connection before the request's body has come. Returns
        whether the connection lingers."""
        if self._reads != BODY:
            return False
        self._reads = ENDED
        if self._answering is None:
            self._give_up()
        self._linger()
        return True

    def _linger(self) -> None:
        """Send nothing, and drop the client's bytes until the client closes the connection. Closing
        at once would reset the connection while the client sends, and the client would lose the
        answer (RFC 9112, section 9.6)."""
        now = self.loop.time()
        self._lingers, self._came = True, 0
        self._lingers_until = now + (DRAIN_SECONDS if self._last else LINGER_SECONDS)
        self._deadline = min(now + LINGER_PAUSE, self._lingers_until)
        if self.transport.can_write_eof():
            self.flow.resume_reading()
            self.transport.write_eof()
        else:
            self.transport.close()

    def _send_refusal(self, why: Refusal) -> None:
        self.transport.write(refusal(why, self.server_state.default_headers))

    @property
    def waits(self) -> bool:
        """Whether no request, or only the head of one, is being read or answered, or the connection
        lingers."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return self._lingers or (self._reads in (IDLE, HEAD) and is_idle)

    def give_way(self) -> None:
        """Close this connection, so that another can be opened."""
        self._reads = ENDED
        self.transport.abort()  # closing would wait for a client that doesn't read

    # Writing

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_deadline = self.loop.time() + self._bounds.write_seconds

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_deadline = None

    # The timer. Most connections get the next request before the deadline: the timer is left alone,
    # and checks again later.

    def _unset_keepalive_if_required(self) -> None:
        """Do nothing: the deadline ends connections that are idle too long."""

    def on_response_complete(self) -> None:
        self._let_go(0)
        self.server_state.total_requests += 1
        if self.transport.is_closing() or self._lingers:
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            if self.pipeline:
                return
            self.flow.held = False
            self.flow.resume_reading()
            return
        self.flow.resume_reading()
        if self._reads == WHOLE:
            self._wait_for_request()

    def _wait_for_request(self) -> None:
        self._reads = IDLE
        self._deadline = self.loop.time() + self._bounds.idle_seconds

    def _look_in(self, seconds: float) -> None:
        self._timer = self.loop.call_later(min(seconds, self._bounds.shortest), self._look)

    def _look(self) -> None:
        """Check whether a deadline has passed."""
        now, bounds = self.loop.time(), self._bounds
        if self.transport.is_closing() and self._unread_deadline is None:
            self._unread_deadline = now + bounds.write_seconds  # closing waits for the client
        if self._unread_deadline is not None and self._unread_deadline <= now:
            self._all.refused["unread"] += 1
            self.transport.abort()
            return
        if self._deadline is not None and self._deadline <= now:
            self._overdue(now)
        nearest = [d for d in (self._deadline, self._unread_deadline) if d is not None]
        self._look_in(min(nearest) - now if nearest else bounds.shortest)

    def _overdue(self, now: float) -> None:
        """End the connection, because an expected part of a request is late."""
        if self._reads == ENDED:
            self.transport.abort()
            self._deadline = None
        elif self._reads == IDLE:
            self.transport.close()
            self._deadline = None
        elif self.flow.read_paused:  # the gateway itself doesn't read at present
            self._deadline = now + self._bounds.shortest
        elif self._last:
            self._end(Refusal(503, "the gateway stops before the whole request has come"))
        else:
            self._end(Refusal(408, "the request has not come in time"))
