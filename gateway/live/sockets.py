"""GraphQL over WebSocket, by the protocol `graphql-transport-ws` (the one of the library
graphql-ws).

One task reads the client's messages. Each operation has a task of its own, which waits while the
client does not read: then its events wait in a bounded inbox (`feed_engine.live.hub`), and the
connection ends after a while (`gateway/server/sockets.py`).
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import GraphQLError
from starlette.types import Receive, Scope, Send

from datasources.errors import Unauthenticated
from gateway.execution.executor import Result, refused
from gateway.http.auth import CLOSED, Token
from gateway.http.endpoint import GraphQLEndpoint
from gateway.http.requests import Headers, Refused, check_size, headers_of, parameters_of
from gateway.live.open_streams import OpenStreams
from gateway.live.origins import may_open
from gateway.live.results import deliver
from gateway.live.sign_outs import SignOuts

log = logging.getLogger("pinway")

PROTOCOL = "graphql-transport-ws"
INIT_SECONDS = 10.0
"""Seconds in which a client must send `connection_init`."""
MOST_ID = 256
"""Characters of an operation's id."""
MOST_REASON = 120
"""Bytes of the reason of a close, of which a frame holds 123."""

# The protocol's codes of a close.
INVALID = 4400
UNAUTHORIZED = 4401
FORBIDDEN = 4403
WRONG_PROTOCOL = 4406
INIT_LATE = 4408
ID_IN_USE = 4409
INIT_TWICE = 4429
# RFC 6455 and its registry.
TRY_LATER = 1013

_ACK = b'{"type":"connection_ack"}'
_PONG = b'{"type":"pong"}'


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """The limits of one socket."""

    operations: int = 32
    message_bytes: int = 1_000_000
    message_values: int = 12_000


class Closed(Exception):
    """The server closes the socket, with a code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Sockets:
    """The sockets of one endpoint. An ASGI application for the scope `websocket`."""

    def __init__(
        self,
        endpoint: GraphQLEndpoint,
        streams: OpenStreams,
        *,
        client: Callable[[Headers, str], str],
        limits: SocketLimits,
        allowed_origins: Container[str] = (),
        public_url: str = "",
        refuses: Callable[[Scope], bool] = lambda scope: False,
        sign_outs: SignOuts,
    ) -> None:
        """`client` names the client of a request (`Clients.name`). `refuses` looks at each request
        as `ThisMachine.refuses` does."""
        self._sign_outs = sign_outs
        self._endpoint, self._streams, self._client = endpoint, streams, client
        self._limits, self._origins, self._url = limits, allowed_origins, public_url
        self._refuses = refuses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope["headers"])
        peer = (scope.get("client") or ("",))[0]
        await receive()  # websocket.connect
        if self._refuses({**scope, "type": "http", "method": "GET"}) or not may_open(
            headers, self._origins, self._url
        ):
            await send({"type": "websocket.close"})  # answers the handshake with 403
            return
        chosen = PROTOCOL if PROTOCOL in scope["subprotocols"] else None
        with self._streams.opened("socket", self._client(headers, peer)) as has_place:
            await send({"type": "websocket.accept", "subprotocol": chosen})
            if not has_place:
                await _close(send, TRY_LATER, "you have too many streams open")
            elif chosen is None:
                await _close(send, WRONG_PROTOCOL, f"speak the subprotocol {PROTOCOL}")
            else:
                socket = _Socket(
                    self._endpoint,
                    self._streams,
                    self._sign_outs,
                    self._limits,
                    headers,
                    peer,
                    send,
                )
                await socket.run(receive)


class _Socket:
    """One connection."""

    def __init__(
        self,
        endpoint: GraphQLEndpoint,
        streams: OpenStreams,
        sign_outs: SignOuts,
        limits: SocketLimits,
        headers: Headers,
        peer: str,
        send: Send,
    ) -> None:
        self._endpoint, self._streams, self._limits = endpoint, streams, limits
        self._sign_outs = sign_outs
        self._watch: asyncio.Task[None] | None = None
        self._headers, self._peer, self._send = headers, peer, send
        self._operations: dict[str, asyncio.Task[None]] = {}
        self._is_ready = self._has_init = False
        self._ending: Closed | None = None
        """Why a timer closes the socket."""

    async def run(self, receive: Receive) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = loop.call_later(
            INIT_SECONDS, self._end, Closed(INIT_LATE, "Connection initialisation timeout")
        )
        try:
            while (message := await receive())["type"] == "websocket.receive":
                await self._take(message)
        except Closed as closed:
            await _close(self._send, closed.code, closed.reason)
        except asyncio.CancelledError:
            if self._ending is None:
                raise
            task.uncancel()
            await _close(self._send, self._ending.code, self._ending.reason)
        finally:
            self._timer.cancel()
            watches = [self._watch] if self._watch is not None else []
            await _end_all([*self._operations.values(), *watches])

    def _end(self, why: Closed) -> None:
        """Close the socket, whatever it waits for."""
        self._ending = why
        self._task.cancel()

    async def _take(self, received: Any) -> None:
        """Take a message of the client. Raises Closed."""
        text = received.get("text")
        if text is None:
            raise Closed(INVALID, "Messages are text, not binary")
        data = text.encode()
        try:
            check_size(data, self._limits.message_bytes, self._limits.message_values)
            message = orjson.loads(data)
        except (Refused, orjson.JSONDecodeError):
            raise Closed(INVALID, "Invalid message received") from None
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "ping":
            await self._say(_PONG)
        elif kind == "connection_init":
            await self._begin(message.get("payload"))
        elif kind == "subscribe":
            await self._subscribe(message, len(data))
        elif kind == "complete":
            operation = self._operations.pop(_id_of(message), None)
            if operation is not None:
                operation.cancel()
        elif kind != "pong":
            raise Closed(INVALID, "Invalid message received")

    async def _begin(self, payload: Any) -> None:
        if self._has_init:
            raise Closed(INIT_TWICE, "Too many initialisation requests")
        self._has_init = True
        if payload is not None and not isinstance(payload, dict):
            raise Closed(INVALID, "Invalid message received")
        if (authorization := _authorization(payload or {})) is not None:
            self._headers = {**self._headers, b"authorization": authorization}
        try:
            token = await self._endpoint.identify(self._headers)
        except Unauthenticated as error:
            raise Closed(FORBIDDEN, f"Forbidden: {error.message}") from None
        except Refused as error:
            raise Closed(TRY_LATER, error.message) from None
        self._timer.cancel()
        if token is not None:
            self._watch = asyncio.create_task(self._end_with(token))
            self._timer = asyncio.get_running_loop().call_later(
                max(0.0, token.expires - time.time()),
                self._end,
                Closed(FORBIDDEN, "Forbidden: the token has expired: get a new one"),
            )
        self._is_ready = True
        await self._say(_ACK)

    async def _end_with(self, token: Token) -> None:
        """Close the socket when its viewer signs out everywhere."""
        await self._sign_outs.until(token)
        self._end(Closed(FORBIDDEN, f"Forbidden: {CLOSED}"))

    async def _subscribe(self, message: dict[str, Any], size: int) -> None:
        if not self._is_ready:
            raise Closed(UNAUTHORIZED, "Unauthorized")
        id = _id_of(message)
        if id in self._operations:
            raise Closed(ID_IN_USE, f"Subscriber for {id} already exists")
        try:
            parameters = parameters_of(message.get("payload"))
        except Refused as error:
            raise Closed(INVALID, error.message) from None
        if len(self._operations) >= self._limits.operations:
            too_many = GraphQLError(
                f"A socket may have {self._limits.operations} operations at a time.",
                extensions={"code": "RATE_LIMITED"},
            )
            await self._fail(orjson.dumps(id), refused(too_many))
            return
        task = asyncio.create_task(self._operate(id, parameters, size))
        self._operations[id] = task

    async def _operate(self, id: str, parameters: Any, size: int) -> None:
        # Each bytes object of orjson's takes four kilobytes.
        own, quoted = asyncio.current_task(), json.dumps(id).encode()

        async def next(result: Result) -> None:
            await self._say(b'{"id":%b,"type":"next","payload":' % quoted, *result.parts(), b"}")

        try:
            result = await self._endpoint.operate(parameters, self._headers, self._peer, size)
            failed: Result | None = result
            if result.started or result.stream is not None:
                failed = await deliver(result, self._streams, next)
            # Until its last message is sent, the client may end it, and use its id again.
            if failed is not None:
                await self._fail(quoted, failed)
            else:
                await self._say(b'{"id":%b,"type":"complete"}' % quoted)
        except Exception:  # the socket has gone
            log.debug("an operation of a socket ended", exc_info=True)
        finally:
            if self._operations.get(id) is own:
                del self._operations[id]

    async def _fail(self, quoted: bytes, failed: Result) -> None:
        errors = b"".join(failed.errors)
        await self._say(b'{"id":%b,"type":"error","payload":' % quoted, errors, b"}")

    async def _say(self, *parts: bytes) -> None:
        await self._send({"type": "websocket.send", "text": b"".join(parts).decode()})


def _id_of(message: dict[str, Any]) -> str:
    id = message.get("id")
    if not isinstance(id, str) or not 0 < len(id) <= MOST_ID:
        raise Closed(INVALID, "Invalid message received")
    return id


def _authorization(payload: dict[str, Any]) -> bytes | None:
    """The value of the header Authorization in the payload of `connection_init`, under one of the
    names that clients use; None without one. Raises Closed."""
    headers = payload.get("headers")
    for place in (payload, headers if isinstance(headers, dict) else {}):
        for name, value in place.items():
            if name.lower() == "authorization" and value:
                if not isinstance(value, str):
                    raise Closed(INVALID, "authorization must be a string")
                return value.encode()
    return None


async def _close(send: Send, code: int, reason: str) -> None:
    with suppress(Exception):  # the client has gone
        short = reason.encode()[:MOST_REASON].decode(errors="ignore")
        await send({"type": "websocket.close", "code": code, "reason": short})


async def _end_all(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
