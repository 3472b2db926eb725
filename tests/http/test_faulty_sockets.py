"""Sockets of clients that break the protocol: each ends with an answer, and without a line in the
log."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.frames import CloseCode, Frame, Opcode

from gateway.execution.executor import Result
from gateway.execution.subscriptions import Results
from gateway.server.sockets import SocketProtocol
from tests.live_gateways import PROTOCOL, LiveGateway, live_gateway

pytestmark = pytest.mark.anyio
INIT = b'{"type":"connection_init"}'


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[LiveGateway]:
    async with live_gateway(tmp_path) as gateway:
        yield gateway


@pytest.fixture(autouse=True)
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    return caplog


async def answer(
    gateway: LiveGateway, *headers: str, frames: bytes = b"", version: str = "1.1"
) -> bytes:
    """The bytes that a gateway sends to a client that opens a socket and sends frames, until the
    gateway closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    head = [
        f"GET /graphql HTTP/{version}",
        f"Host: 127.0.0.1:{gateway.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Sec-WebSocket-Protocol: {PROTOCOL}",
        *headers,
    ]
    try:
        writer.write("\r\n".join([*head, "\r\n"]).encode("latin-1"))
        heard = await reader.readuntil(b"\r\n\r\n") if frames else b""
        writer.write(frames)
        async with asyncio.timeout(60):
            return heard + await reader.read()
    finally:
        writer.close()


def framed(data: bytes, opcode: Opcode = Opcode.TEXT) -> bytes:
    return Frame(opcode, data).serialize(mask=True)


def written(lines: pytest.LogCaptureFixture) -> list[str]:
    """The lines of the server about connections."""
    return [
        it.getMessage() for it in lines.records if it.name in ("pinway.sockets", "uvicorn.error")
    ]


@pytest.mark.parametrize("origin", ["http://[", "http://a]b", "http://[::1", "null", "\xff", ""])
async def test_an_origin_that_is_no_address_opens_no_socket(
    gateway: LiveGateway, lines: pytest.LogCaptureFixture, origin: str
) -> None:
    lines.clear()
    assert (await answer(gateway, f"Origin: {origin}")).startswith(b"HTTP/1.1 403 ")
    assert written(lines) == []


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Content-Length: 5", 400),
        ("Transfer-Encoding: chunked", 400),
        ("X-Long: " + "x" * 9_000, 431),
        ("Sec-WebSocket-Version: 12", 400),
    ],
)
async def test_a_handshake_that_is_not_understood_is_refused_and_ends(
    gateway: LiveGateway, lines: pytest.LogCaptureFixture, header: str, status: int
) -> None:
    lines.clear()
    assert (await answer(gateway, header)).startswith(b"HTTP/1.1 %d " % status)
    assert written(lines) == []


async def test_a_client_of_http_1_0_gets_no_socket(gateway: LiveGateway) -> None:
    assert (await answer(gateway, version="1.0")).startswith(b"HTTP/1.1 501 ")


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (framed(b"\xff"), CloseCode.INVALID_DATA),
        (framed(b'{"type":"ping"}') + framed(b"\xff"), CloseCode.INVALID_DATA),
        (framed(b'{"type":"ping"}') + b"\xff\xff", CloseCode.PROTOCOL_ERROR),
        (framed(b"x", Opcode.CONT), CloseCode.PROTOCOL_ERROR),
        (framed(b"x", Opcode.CLOSE), CloseCode.PROTOCOL_ERROR),
    ],
    ids=["text", "ping and text", "ping and opcode", "continuation", "close"],
)
async def test_frames_that_are_not_understood_close_the_socket(
    gateway: LiveGateway, lines: pytest.LogCaptureFixture, frames: bytes, code: CloseCode
) -> None:
    lines.clear()
    heard = await answer(gateway, frames=framed(INIT) + frames)
    assert code.to_bytes(2) in heard[-60:]
    assert written(lines) == []


async def test_sockets_that_come_and_go_write_no_lines(
    gateway: LiveGateway, lines: pytest.LogCaptureFixture
) -> None:
    lines.clear()
    for _ in range(3):
        async with gateway.socket() as socket:
            await socket.subscribe("q", "{ __typename }")
            assert await socket.next("q") == {"data": {"__typename": "Query"}}
    assert written(lines) == []


async def test_a_client_that_closes_while_events_come_writes_no_lines(
    gateway: LiveGateway, lines: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await gateway.sign_up("ann")
    pin = await gateway.pin("ann", await gateway.board("ann", "first"), "a")
    query = "subscription($id: ID!) { pinChanged(pinId: $id) { kind } }"
    started, goes_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    take, end = Results.next, Results.end

    async def late(self: Results[Result]) -> Result | None:
        result = await take(self)
        started.set()
        await goes_on.wait()
        return result

    async def told(self: Results[Result]) -> None:
        await end(self)
        ended.set()

    monkeypatch.setattr(Results, "next", late)
    monkeypatch.setattr(Results, "end", told)
    handle_close = SocketProtocol.handle_close

    def closing(self: SocketProtocol, event: Frame) -> None:
        goes_on.set()  # so the event is sent before the operation is cancelled
        handle_close(self, event)

    monkeypatch.setattr(SocketProtocol, "handle_close", closing)
    lines.clear()
    async with asyncio.timeout(60):
        async with gateway.socket() as socket:
            await socket.subscribe("s", query, id=pin)
            await started.wait()
        await ended.wait()
    assert [it.getMessage() for it in lines.records if it.levelno >= logging.WARNING] == []
