"""An application for tests, on a running server or on connections that are driven by hand."""

import asyncio
import re
import socket
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from gateway.execution.encode import PART
from gateway.http.endpoint import Answer, Answering
from gateway.http.requests import JSON, Headers
from gateway.server.bounds import Bounds
from gateway.server.connections import Connections
from gateway.server.process import Server
from gateway.server.protocol import Protocol
from gateway.server.shared_responses import MOST

BODY = b'{"data":{"n":1}}'
BIG = 40 * MOST
CLOSE = "connection: close"
ORIGIN = "https://app.example"


class App:
    """Answers `BODY` (/whole) with its function, if asked for that. Only by ASGI: `BODY` in steps
    (/steps, /stream), before the request's body has arrived (/early), or large answers (/big,
    /endless)."""

    def __init__(self) -> None:
        self.ways: list[str] = []
        """The way in which each request was answered: "whole" or "asgi"."""
        self.bodies: list[bytes] = []
        self.peers: list[str] = []
        """The address of each request that was answered without ASGI."""
        self.fields: Headers = {}
        self.wait = asyncio.Event()
        """An event that an answer, and the end of a streamed answer, waits for."""
        self.wait.set()
        self.answering_now = asyncio.Event()
        self.sent = 0
        """The parts of the endless response that were sent."""
        self.answers: list[weakref.ref[Any]] = []

    def answering(self, target: bytes, headers: Headers) -> Answering | None:
        self.fields = headers
        return self.answer if target in (b"/whole", b"/fails", b"/pieces") else None

    async def answer(self, headers: Headers, body: bytes, peer: str) -> Answer:
        self.peers.append(peer)
        self.ways.append("whole")
        self.bodies.append(body)
        self.answering_now.set()
        await self.wait.wait()
        if body == b"!!":
            raise ValueError("a fault")
        size = int(headers.get(b"size", b"0"))
        parts = [b"z" * PART] * (size // PART) if size else [BODY[:5], BODY[5:]]
        answer = Answer(200, JSON, parts, sum(map(len, parts)), {})
        self.answers.append(weakref.ref(cast(Any, asyncio.current_task())))
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/early":
            await Answer(200, JSON, [BODY], len(BODY), {})(scope, receive, send)
            return
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        if message["type"] == "http.disconnect":
            return
        self.ways.append("asgi")
        self.bodies.append(body + message["body"])
        path = scope["path"]
        if path == "/fails":
            raise ValueError("a fault")
        if path in ("/big", "/endless", "/stream"):
            await send({"type": "http.response.start", "status": 200, "headers": []})
        if path == "/big":
            await send({"type": "http.response.body", "body": b"x" * BIG})
        elif path == "/endless":
            for self.sent in range(10_000):
                await send({"type": "http.response.body", "body": b"y" * MOST, "more_body": True})
        elif path == "/stream":
            await send({"type": "http.response.body", "body": BODY[:5], "more_body": True})
            await self.wait.wait()
            await send({"type": "http.response.body", "body": BODY[5:]})
        else:
            await Answer(200, JSON, [BODY], len(BODY), {})(scope, receive, send)


@asynccontextmanager
async def served(
    application: ASGIApp, make: Callable[[Any], uvicorn.Server] = Server
) -> AsyncIterator[int]:
    """The port at which a server answers."""
    async with running(application, make) as (_, port):
        yield port


@asynccontextmanager
async def running(
    application: ASGIApp, make: Callable[[Any], uvicorn.Server] = Server
) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    server = make(application)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield server, listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task


def usual(application: Any) -> uvicorn.Server:
    """A server of plain uvicorn."""
    return uvicorn.Server(
        uvicorn.Config(application, lifespan="off", log_config=None, access_log=False)
    )


def request(path: str, *headers: str, body: str = "{}", version: str = "1.1") -> bytes:
    length = f"content-length: {len(body)}"
    lines = [f"POST {path} HTTP/{version}", "host: pinway.test", length, *headers]
    return ("\r\n".join(lines) + f"\r\n\r\n{body}").encode()


async def answers(port: int, *requests: bytes) -> bytes:
    """The bytes that the server sends, until it closes, for these requests in one packet."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(requests))
    found = await asyncio.wait_for(reader.read(), 300)
    writer.close()
    return re.sub(rb"date: [^\r]*", b"date: now", found)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not true():  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0)


async def one(reader: asyncio.StreamReader) -> bytes:
    """The next response, whose body must be `BODY`."""
    return await asyncio.wait_for(reader.readuntil(BODY), 300)


class Clock:
    """An event loop's time, set by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def create_task(self, coroutine: Any) -> asyncio.Task[Any]:
        return asyncio.get_running_loop().create_task(coroutine)

    def call_later(self, seconds: float, call: Callable[[], None]) -> Any:
        timer = (self.now + seconds, call)
        self.timers.append(timer)
        return self

    def cancel(self) -> None:
        self.timers.clear()

    def move(self, seconds: float) -> None:
        self.now += seconds
        due = [timer for timer in self.timers if timer[0] <= self.now]
        self.timers = [timer for timer in self.timers if timer not in due]
        for _, call in due:
            call()


class Transport:
    """An open connection from `peer`."""

    def __init__(self, peer: str = "") -> None:
        self.peer = peer
        self.closed = self.aborted = self.ended = self.paused = False
        self.written: list[bytes] = []

    def get_extra_info(self, name: str) -> Any:
        return (self.peer, 1234) if self.peer and name == "peername" else None

    def set_write_buffer_limits(self, high: int) -> None:
        self.high = high

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


@asynccontextmanager
async def connected(
    app: App, connections: Connections | None = None, **bounds: Any
) -> AsyncIterator[tuple[Protocol, Transport, Clock]]:
    """A connection driven by hand. It is kept open for five seconds, unless the bounds differ."""
    clock = Clock()
    protocol, transport = connect(
        Server(app, connections=connections, bounds=Bounds(**bounds)), clock
    )
    yield protocol, transport, clock
    protocol.connection_lost(None)
    assert clock.timers == []


def connect(server: Server, clock: Clock, peer: str = "") -> tuple[Protocol, Transport]:
    """Open another connection of a server that isn't running."""
    transport = Transport(peer)
    config: Any = server.config
    if not config.loaded:
        config.load()
    protocol = config.http_protocol_class(config, ServerState(), {}, cast(Any, clock))
    protocol.connection_made(cast(Any, transport))
    return protocol, transport
