"""What a connection sends in one turn of the event loop goes out together, and as it would have."""

import asyncio
import gc
import re
import socket
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast
from unittest.mock import patch

import pytest
import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl

from gateway.http import RESPOND
from gateway.serving.loops import fast_loop
from gateway.serving.process import Server
from gateway.serving.sending import MOST, Sending

BODY = b'{"data":{"n":1}}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
BIG = 40 * MOST

at_once: list[bool] = []
"""What the application was told of each whole response."""
streaming = asyncio.Event()
"""Whether a streamed response may end."""
sent: list[int] = []
"""Parts of the endless response that the application could send."""


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers `BODY` at once (/whole), in steps (/steps, /stream), or much (/big, /endless)."""
    while (await receive()).get("more_body"):
        pass
    path = scope["path"]
    if path == "/whole":
        text = b"".join(b"%b: %b\r\n" % header for header in HEADERS)
        at_once.append(scope[RESPOND](send, 200, text, [BODY[:5], BODY[5:]]))
        if at_once[-1]:
            return
    size = b"%d" % (BIG if path == "/big" else len(BODY))
    headers = [] if path in ("/endless", "/stream") else [HEADERS[0], (b"content-length", size)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if path == "/big":
        await send({"type": "http.response.body", "body": b"x" * BIG})
    elif path == "/endless":
        for n in range(10_000):
            sent.append(n)
            await send({"type": "http.response.body", "body": b"y" * MOST, "more_body": True})
    elif path == "/stream":
        await send({"type": "http.response.body", "body": BODY[:5], "more_body": True})
        await streaming.wait()
        await send({"type": "http.response.body", "body": BODY[5:]})
    else:
        await send({"type": "http.response.body", "body": BODY})


@asynccontextmanager
async def served(
    application: ASGIApp = app, make: Callable[[Any], uvicorn.Server] = Server
) -> AsyncIterator[int]:
    """The port at which a server answers."""
    server = make(application)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task


def usual(application: Any) -> uvicorn.Server:
    """uvicorn's own."""
    return uvicorn.Server(
        uvicorn.Config(application, lifespan="off", log_config=None, access_log=False)
    )


def request(path: str, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: pinway.test", "content-length: 2", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n{}").encode()


async def answers(port: int, *requests: bytes) -> bytes:
    """All that comes back for these, sent in one packet, until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(requests))
    found = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    return re.sub(rb"date: [^\r]*", b"date: now", found)


def in_each_loop(test: Callable[[], Awaitable[None]]) -> Any:
    """Run it in uvloop, and in asyncio's own event loop."""

    @pytest.mark.parametrize("new_loop", [fast_loop, asyncio.new_event_loop])
    def run(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        async def main() -> None:
            global streaming
            streaming = asyncio.Event()
            at_once.clear()
            sent.clear()
            await test()

        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(main())

    run.__name__ = test.__name__
    return run


CLOSE = "connection: close"


@in_each_loop
async def test_responses_are_those_that_uvicorn_sends() -> None:
    asked = [request("/whole"), request("/steps"), request("/whole"), request("/big", CLOSE)]
    async with served() as port:
        ours = await answers(port, *asked)
    assert at_once == [True, True]
    async with served(_without_whole, usual) as port:
        theirs = await answers(port, *asked)
    assert ours == theirs
    assert ours.count(BODY) == 3
    assert len(ours) > BIG


async def _without_whole(scope: Scope, receive: Receive, send: Send) -> None:
    await app({**scope, RESPOND: lambda *_: False}, receive, send)


@in_each_loop
async def test_a_connection_that_is_to_be_closed_is_closed_after_the_response() -> None:
    async with served() as port:
        found = await answers(port, request("/whole", CLOSE))
    assert at_once == [False]
    assert b"connection: close\r\n" in found
    assert found.endswith(BODY)


@in_each_loop
async def test_a_middleware_sees_what_is_sent() -> None:
    front = CORSMiddleware(app, allow_origins=["https://app.example"])
    async with served(front) as port:
        asked = [request("/whole", "origin: https://app.example", last) for last in ("x: y", CLOSE)]
        found = await answers(port, *asked)
    assert at_once == [False, False]
    assert found.count(b"access-control-allow-origin: https://app.example\r\n") == 2


@in_each_loop
async def test_an_answered_request_is_freed_without_the_collector() -> None:
    cycles: list[weakref.ref[Any]] = []

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        cycles.append(weakref.ref(cast(Any, send).__self__))
        await app(scope, receive, send)

    async with served(noted) as port:
        gc.disable()
        try:
            await answers(port, request("/whole"), request("/steps"), request("/whole", CLOSE))
            assert [cycle() for cycle in cycles[:2]] == [None, None]
        finally:
            gc.enable()


@in_each_loop
async def test_a_head_does_not_wait_for_a_body_that_is_not_there_yet() -> None:
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("/stream", CLOSE))
        found = await asyncio.wait_for(reader.readuntil(BODY[:5]), 30)
        assert found.startswith(b"HTTP/1.1 200 OK\r\n")
        streaming.set()
        assert BODY[5:] in await asyncio.wait_for(reader.read(), 30)
        writer.close()


@in_each_loop
async def test_an_application_waits_for_a_client_that_does_not_read() -> None:
    paused = asyncio.Event()
    pause = FlowControl.pause_writing

    def noted(flow: FlowControl) -> None:
        pause(flow)
        paused.set()

    with patch.object(FlowControl, "pause_writing", noted):
        async with served() as port:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(request("/endless"))
                await asyncio.wait_for(paused.wait(), 30)
                count = len(sent)
                for _ in range(100):
                    await asyncio.sleep(0)
                assert len(sent) == count < 1_000


class Transport:
    """Notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.closing = False

    def write(self, data: bytes) -> None:
        self.done.append(bytes(data))

    def close(self) -> None:
        self.closing = True
        self.done.append("closed")

    def is_closing(self) -> bool:
        return self.closing


def sending() -> tuple[Sending, Transport]:
    transport = Transport()
    return Sending(cast(asyncio.Transport, transport)), transport


@in_each_loop
async def test_what_is_written_in_a_turn_is_sent_in_the_next_in_one_call() -> None:
    (one, first), (other, second) = sending(), sending()
    one.write(b"head")
    one.write(b"body")
    other.write(b"all")
    assert first.done == second.done == []
    await asyncio.sleep(0)
    assert (first.done, second.done) == ([b"headbody"], [b"all"])
    one.write(b"more")
    await asyncio.sleep(0)
    assert first.done == [b"headbody", b"more"]


@in_each_loop
async def test_much_is_sent_at_once_and_in_its_order() -> None:
    kept, transport = sending()
    kept.write(b"head")
    kept.write(b"x" * MOST)
    kept.write(b"tail")
    assert transport.done == [b"head" + b"x" * MOST]
    await asyncio.sleep(0)
    assert transport.done[1:] == [b"tail"]


@in_each_loop
async def test_what_is_kept_is_sent_before_the_connection_is_closed() -> None:
    kept, transport = sending()
    kept.write(b"last")
    kept.close()
    await asyncio.sleep(0)
    assert transport.done == [b"last", "closed"]


@in_each_loop
async def test_nothing_is_sent_on_a_lost_connection() -> None:
    kept, transport = sending()
    kept.write(b"late")
    transport.closing = True
    await asyncio.sleep(0)
    assert transport.done == []
