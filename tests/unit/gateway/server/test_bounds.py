"""A connection is limited in size, depth and time. A refusal says why, and ends the connection."""

import asyncio
import re
from typing import Any

import orjson
import pytest

from gateway.server.connections import Connections
from gateway.server.process import Server
from gateway.server.protocol import (
    DRAIN_SECONDS,
    LINGER_BYTES,
    LINGER_PAUSE,
    LINGER_SECONDS,
    SMALL_CHUNKS,
    Protocol,
)
from gateway.settings import Http, Settings
from tests.unit.gateway.server.apps import (
    BODY,
    CLOSE,
    App,
    Clock,
    Transport,
    answers,
    connect,
    connected,
    request,
    served,
    until,
)
from tests.unit.gateway.server.loops import in_each_loop

HEAD = b"POST /steps HTTP/1.1\r\nhost: pinway.test\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


async def written(transport: Transport) -> bytes:
    """The bytes that were sent after one turn of the loop."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return b"".join(transport.written)


async def refusal(transport: Transport) -> tuple[int, str]:
    """The status and the message of the only refusal that was sent, which ends the connection."""
    found = await written(transport)
    head, _, body = found.partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert f"content-length: {len(body)}".encode() in head
    assert transport.ended
    return int(head.split()[1]), orjson.loads(body)["errors"][0]["message"]


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ([b"GET /" + b"u" * 300], 414, "URL is longer than 256"),
        ([b"GET /", *[b"u" * 100] * 3], 414, "URL is longer than 256"),
        ([HEAD + b"x: 1\r\n" * 20 + b"\r\n"], 431, "more than 8 headers"),
        ([HEAD + b"x: " + b"y" * 2000 + b"\r\n\r\n"], 431, "longer than 1024 bytes"),
        ([HEAD, *[b"x: " + b"y" * 200 + b"\r\n"] * 6, b"\r\n"], 431, "longer than 1024 bytes"),
        ([HEAD + b"x: ", *[b"y" * 500] * 10], 431, "longer than 1024 bytes"),
        ([HEAD + b"content-length: 5000\r\n\r\nx"], 413, "larger than 1000 bytes"),
        ([HEAD, b"content-length: 5000\r\n\r\n"], 413, "larger than 1000 bytes"),
        ([CHUNKED, *[b"80\r\n" + b"x" * 128 + b"\r\n"] * 20], 413, "larger than 1000 bytes"),
        ([CHUNKED + b"0\r\n", *[b"x: 1\r\n"] * 300], 431, "trailers are too long"),
        ([CHUNKED + b"0\r\nx: ", *[b"y" * 300] * 5], 431, "trailers are too long"),
        ([CHUNKED + b"1;", *[b"y" * 300] * 5], 431, "trailers are too long"),
        ([CHUNKED, *[b"1\r\nx\r\n" * 600] * 3], 400, "chunks are too small"),
        ([CHUNKED + b"1\r\nx\r\n" * 1800], 400, "chunks are too small"),
        ([HEAD + b"no colon\r\n\r\n"], 400, "not a valid HTTP request"),
        ([b"GET http://[::1/ HTTP/1.1\r\nhost: a\r\n\r\n"], 400, "not a valid URL"),
        ([b"GET http://a:99999/ HTTP/1.1\r\n", b"host: a\r\n\r\n"], 400, "not a valid URL"),
    ],
)
def test_what_is_too_large_is_refused(sent: list[bytes], status: int, words: str) -> None:
    @in_each_loop
    async def each() -> None:
        app = App()
        bounds = {"url_bytes": 256, "headers": 8, "header_bytes": 1024}
        async with connected(app, body_bytes=1000, **bounds) as (protocol, transport, _):
            for part in sent:
                protocol.data_received(part)
            found = await refusal(transport)
            assert found[0] == status
            assert words in found[1]
            protocol.data_received(request("/whole"))  # is not answered any more
            assert (await written(transport)).count(b"HTTP/1.1") == 1
            await asyncio.gather(*protocol.tasks)
        assert app.bodies == []

    for new_loop in each.pytestmark[0].args[1]:
        each(new_loop)


@in_each_loop
async def test_no_more_is_read_of_what_comes_at_once_than_the_bounds_allow() -> None:
    async with connected(App(), headers=8) as (protocol, transport, _):
        protocol.data_received(HEAD + b"x: 1\r\n" * 30_000)
        assert len(protocol.headers) == 9
        assert (await refusal(transport))[0] == 431
    async with connected(App()) as (protocol, transport, _):
        protocol.data_received(CHUNKED + b"1\r\nx\r\n" * 40_000)
        assert protocol._size == SMALL_CHUNKS + 1
        assert (await refusal(transport))[0] == 400


@in_each_loop
async def test_small_chunks_of_a_small_body_are_read() -> None:
    app = App()
    chunks = b"1\r\nx\r\n" * 500 + b"0\r\n\r\n"
    async with connected(app) as (protocol, transport, _):
        protocol.data_received(CHUNKED + chunks)
        await until(lambda: len(app.bodies) == 1)
        protocol.data_received(CHUNKED + chunks)
        await until(lambda: len(app.bodies) == 2)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).count(b"200 OK") == 2
    assert app.bodies == [b"x" * 500] * 2


@in_each_loop
async def test_what_is_as_large_as_allowed_is_answered() -> None:
    app = App()
    url = "/whole?" + "u" * 249
    head = [f"x-{n}: y" for n in range(5)] + [f"connection: {' ' * 800}close"]
    async with served(app) as port:
        assert b" 200 OK" in await answers(port, request(url, *head, body="x" * 1000))
    bounds: dict[str, Any] = {"url_bytes": 256, "headers": 8, "header_bytes": 1024}
    async with connected(app, body_bytes=1000, **bounds) as (protocol, transport, _):
        for part in re.findall(b"(?s).{1,90}", request(url, *head, body="x" * 1000)):
            protocol.data_received(part)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).startswith(b"HTTP/1.1 200 OK")
    assert app.bodies == [b"x" * 1000] * 2


@in_each_loop
async def test_a_long_body_before_a_head_in_parts_is_not_the_heads() -> None:
    app = App()
    async with connected(app, header_bytes=1024) as (protocol, transport, _):
        second = request("/steps", body="22")
        protocol.data_received(request("/whole", body="x" * 100_000) + second[:20])
        protocol.data_received(second[20:30])
        protocol.data_received(second[30:])
        await until(lambda: len(app.bodies) == 2)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).count(b"200 OK") == 2


@in_each_loop
async def test_a_refused_client_may_go_on_sending_for_a_while() -> None:
    async with connected(App()) as (protocol, transport, clock):
        protocol.data_received(b"GET /" + b"u" * 20_000)
        for _ in range(int(LINGER_SECONDS)):
            assert not transport.closed
            clock.move(1)
            protocol.data_received(b"u" * 1_000)
        clock.move(1)
        assert transport.aborted


@in_each_loop
async def test_a_refused_client_that_sends_no_more_is_not_waited_for() -> None:
    async with connected(App()) as (protocol, transport, clock):
        protocol.data_received(b"GET /" + b"u" * 20_000)
        for _ in range(int(LINGER_PAUSE)):
            assert not transport.closed
            clock.move(1)
        clock.move(1)
        assert transport.aborted


@in_each_loop
async def test_a_refused_client_may_send_a_bounded_number_of_bytes() -> None:
    async with connected(App()) as (protocol, transport, _):
        protocol.data_received(b"GET /" + b"u" * 20_000)
        for _ in range(LINGER_BYTES >> 16):
            protocol.data_received(b"u" * (1 << 16))
        assert not transport.closed
        protocol.data_received(b"u")
        assert transport.aborted


@in_each_loop
async def test_a_connection_that_ends_after_an_early_answer_waits_for_the_rest() -> None:
    app = App()
    async with connected(app) as (protocol, transport, _):
        asked = request("/early", CLOSE, body="x" * 100)
        protocol.data_received(asked[:-50])
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).endswith(BODY)
        assert transport.ended
        assert not transport.closed
        protocol.data_received(asked[-50:] + request("/early"))
        assert (await written(transport)).count(b"HTTP/1.1") == 1


@in_each_loop
async def test_a_lingering_connection_gives_way_to_a_new_one() -> None:
    server, clock = Server(App(), Settings(http=Http(max_connections=1))), Clock()
    refused, transport = connect(server, clock)
    refused.data_received(HEAD + b"content-length: 5000000\r\n\r\nx")
    assert (transport.ended, transport.closed) == (True, False)
    _, fresh = connect(server, clock)
    assert (transport.closed, fresh.closed) == (True, False)


@in_each_loop
async def test_a_stopping_gateway_does_not_wait_for_a_refused_client() -> None:
    async with connected(App()) as (protocol, transport, clock):
        protocol.data_received(HEAD + b"content-length: 5000000\r\n\r\nx")
        protocol.shutdown()
        for _ in range(3):
            protocol.data_received(b"x")
            clock.move(DRAIN_SECONDS / 2)
        assert transport.aborted


@in_each_loop
async def test_nothing_is_written_after_the_refusal_of_a_body_that_waits_for_permission() -> None:
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, error: errors.append(error))
    app = App()
    async with served(app) as port:
        asked = HEAD + b"expect: 100-continue\r\ncontent-length: 5000000\r\n\r\n"
        found = await answers(port, asked)  # its application asks for the body after the refusal
    assert (found.count(b"HTTP/1.1"), found[9:12]) == (1, b"413")
    assert errors == []


# Requests one after the other


@in_each_loop
async def test_pipelined_requests_beyond_the_depth_are_dropped_and_end_the_connection() -> None:
    app = App()
    app.wait.clear()
    async with connected(app, pipelined=3) as (protocol, transport, _):
        protocol.data_received(request("/whole"))
        await app.answering_now.wait()
        protocol.data_received(request("/steps") * 5_000)
        assert len(protocol.pipeline) == 3
        protocol.data_received(request("/steps") * 1_000)  # less than LINGER_BYTES
        assert len(protocol.pipeline) == 3
        app.wait.set()
        await until(lambda: transport.closed)
        found = await written(transport)
        assert found.count(b"200 OK") == 4
        assert found.count(b"connection: close") == 1
        assert found.endswith(BODY)


@in_each_loop
async def test_nothing_more_is_read_while_requests_wait_for_their_turn() -> None:
    app = App()
    app.wait.clear()
    async with connected(app) as (protocol, transport, clock):
        protocol.data_received(request("/stream") + request("/steps") * 2 + b"POST ")
        await until(lambda: app.ways == ["asgi"])
        assert transport.paused  # though the application has asked for its request's body
        clock.move(50)  # the client can't send the rest: it isn't late
        clock.move(50)
        app.wait.set()
        await until(lambda: len(app.ways) == 3)
        await asyncio.gather(*protocol.tasks)
        assert not transport.paused
        protocol.data_received(request("/steps")[5:])
        await until(lambda: len(app.ways) == 4)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).count(b"200 OK") == 4


@in_each_loop
async def test_the_body_of_a_pipelined_request_reaches_that_request() -> None:
    app = App()
    app.wait.clear()
    async with connected(app) as (protocol, transport, _):
        protocol.data_received(request("/whole", body="11"))
        await app.answering_now.wait()
        second = request("/steps", body="22")
        protocol.data_received(second[:-1])
        protocol.pause_writing()  # so that uvicorn's cycle sends the first answer
        app.wait.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        protocol.data_received(second[-1:])
        protocol.resume_writing()
        await until(lambda: len(app.bodies) == 2)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).count(b"200 OK") == 2
    assert app.bodies == [b"11", b"22"]


# Times


@in_each_loop
async def test_a_connection_that_sends_nothing_is_closed() -> None:
    async with connected(App(), header_seconds=4) as (_, transport, clock):
        clock.move(3.9)
        assert not transport.closed
        clock.move(0.2)
        assert transport.closed
        assert await written(transport) == b""


@in_each_loop
async def test_headers_that_come_slowly_are_refused_however_often_a_byte_comes() -> None:
    async with connected(App(), header_seconds=4) as (protocol, transport, clock):
        clock.move(3)
        for byte in b"POS":
            protocol.data_received(bytes([byte]))
            clock.move(1.3)
        assert await written(transport) == b""
        clock.move(0.2)
        assert await refusal(transport) == (408, "the request has not come in time")


@in_each_loop
async def test_a_later_requests_headers_are_timed_too() -> None:
    app = App()
    async with connected(app, header_seconds=4) as (protocol, transport, clock):
        protocol.data_received(request("/whole") + b"POST")
        await asyncio.gather(*protocol.tasks)
        transport.written.clear()
        clock.move(3.9)
        assert await written(transport) == b""
        clock.move(0.2)
        assert (await refusal(transport))[0] == 408


@in_each_loop
async def test_a_body_that_comes_slowly_is_refused() -> None:
    app = App()
    async with connected(app, body_seconds=4) as (protocol, transport, clock):
        asked = request("/whole", body="x" * 100)
        protocol.data_received(asked[:-50])
        for n in range(3):
            clock.move(1.3)
            protocol.data_received(asked[n - 50 : n - 49])
        assert await written(transport) == b""
        clock.move(0.2)
        assert (await refusal(transport))[0] == 408
        await until(lambda: not protocol.tasks)


@in_each_loop
async def test_an_application_that_answered_before_the_body_came_is_not_contradicted() -> None:
    app = App()
    async with connected(app, body_seconds=4) as (protocol, transport, clock):
        protocol.data_received(request("/early", body="x" * 100)[:-50])
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).endswith(BODY)
        clock.move(4.1)
        assert transport.ended
        assert (await written(transport)).count(b"HTTP/1.1") == 1


@in_each_loop
async def test_a_connection_goes_on_after_a_body_that_the_application_did_not_wait_for() -> None:
    app = App()
    async with connected(app, body_seconds=4) as (protocol, transport, clock):
        asked = request("/early", body="x" * 100)
        protocol.data_received(asked[:-50])
        await asyncio.gather(*protocol.tasks)
        protocol.data_received(asked[-50:])
        clock.move(4.9)
        assert not transport.closed
        protocol.data_received(asked)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).count(b"HTTP/1.1") == 2
        clock.move(5.1)
        assert transport.closed


@in_each_loop
async def test_a_client_that_does_not_read_is_cut_off() -> None:
    async with connected(App(), write_seconds=4) as (protocol, transport, clock):
        protocol.data_received(request("/whole"))
        await asyncio.gather(*protocol.tasks)
        protocol.pause_writing()
        clock.move(3)
        protocol.resume_writing()
        protocol.pause_writing()
        for _ in range(3):
            clock.move(1.3)
            assert not transport.aborted
        clock.move(0.2)
        assert transport.aborted


@in_each_loop
async def test_closing_does_not_wait_for_ever_for_a_client_that_does_not_read() -> None:
    async with connected(App(), write_seconds=4) as (protocol, transport, clock):
        protocol.data_received(request("/whole", CLOSE))
        await asyncio.gather(*protocol.tasks)
        assert transport.closed
        for _ in range(3):
            clock.move(4)
        assert transport.aborted


@in_each_loop
async def test_unsent_bytes_are_bounded_by_the_setting() -> None:
    async with connected(App(), unsent_bytes=5_000) as (_, transport, _):
        assert transport.high == 5_000


# What the server doesn't speak


@in_each_loop
async def test_a_websocket_is_refused() -> None:
    app = App()
    upgrade = ("connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13")
    async with connected(app) as (protocol, transport, _):
        protocol.data_received(request("/whole", *upgrade).replace(b"POST", b"GET"))
        assert await refusal(transport) == (501, "there is nothing here that speaks WebSocket")
    assert app.ways == []


@in_each_loop
async def test_another_upgrade_is_ignored_and_what_follows_is_answered() -> None:
    app = App()
    upgrade = request("/steps", "connection: upgrade, http2-settings", "upgrade: h2c", body="11")
    async with connected(app) as (protocol, transport, _):
        protocol.data_received(upgrade + upgrade + request("/steps", body="22"))
        await until(lambda: len(app.bodies) == 3)
        await asyncio.gather(*protocol.tasks)
        assert (await written(transport)).count(b"200 OK") == 3
    assert app.bodies == [b"11", b"11", b"22"]


# Connections


async def idle(protocol: Protocol) -> Protocol:
    """After the connection's first request."""
    protocol.data_received(request("/whole"))
    await asyncio.gather(*protocol.tasks)
    return protocol


@in_each_loop
async def test_a_new_connection_takes_the_place_of_one_that_never_sent_a_request() -> None:
    app, clock = App(), Clock()
    server = Server(app, Settings(http=Http(max_connections=3)))
    first, first_transport = connect(server, clock)
    await idle(first)
    fresh = [connect(server, clock) for _ in range(5)]
    assert [transport.closed for _, transport in fresh] == [True] * 3 + [False] * 2
    assert not first_transport.closed
    assert server.connections.open == 3
    assert server.connections.refused["gave way"] == 3


@in_each_loop
async def test_where_none_waits_a_new_connection_is_refused() -> None:
    app, clock = App(), Clock()
    app.wait.clear()
    server = Server(app, Settings(http=Http(max_connections=3)))
    busy = [connect(server, clock) for _ in range(3)]
    for protocol, _ in busy:
        protocol.data_received(request("/whole"))
    protocol, transport = connect(server, clock)
    found = await written(transport)
    assert found.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1\r\n" in found
    assert transport.closed
    protocol.connection_lost(None)
    assert server.connections.open == 3
    app.wait.set()
    for protocol, busy_transport in busy:
        await asyncio.gather(*protocol.tasks)
        assert not busy_transport.closed
    connect(server, clock)
    assert [transport.closed for _, transport in busy] == [True, False, False]


@in_each_loop
async def test_one_client_has_a_bound_of_its_own_unless_it_is_a_trusted_proxy() -> None:
    app, clock = App(), Clock()
    settings = Settings(http=Http(max_connections_per_client=2, trusted_proxies=("10.0.0.1",)))
    server = Server(app, settings)

    def take(peer: str, count: int) -> list[bool]:
        return [connect(server, clock, peer)[1].closed for _ in range(count)]

    assert take("192.0.2.1", 3) == [False, False, True]
    assert take("192.0.2.2", 2) == [False, False]
    assert take("10.0.0.1", 4) == [False] * 4
    assert take("2001:db8::1", 1) + take("2001:db8::2", 2) == [False, False, True]
    assert server.connections.refused["connections of the client"] == 2


@in_each_loop
async def test_bytes_of_bodies_are_bounded_in_all_and_for_each_client() -> None:
    app, clock = App(), Clock()
    server = Server(app, connections=Connections(100, 100, most_bytes=400_000))
    opened: list[Protocol] = []

    def send(peer: str, size: int) -> bool:
        """Send `size` bytes of a larger body. Returns whether the client may continue."""
        protocol, transport = connect(server, clock, peer)
        opened.append(protocol)
        protocol.data_received(b"POST /steps HTTP/1.1\r\nhost: a\r\ncontent-length: 99999\r\n\r\n")
        protocol.data_received(b"x" * size)
        return not transport.ended

    assert [send("192.0.2.1", 60_000) for _ in range(3)] == [True, False, False]
    assert send("192.0.2.1", 16_000)  # small ones are not counted
    assert [send(f"192.0.2.{n}", 90_000) for n in range(2, 6)] == [True] * 3 + [False]
    assert server.connections.held == 330_000
    assert server.connections.refused["503"] == 3
    for protocol in opened:
        protocol.connection_lost(None)
    assert server.connections.held == 0


@in_each_loop
async def test_the_bytes_of_a_body_are_let_go_with_the_answer() -> None:
    app, clock = App(), Clock()
    app.wait.clear()
    server = Server(app)
    body = "x" * 50_000
    for path in ("/whole", "/stream", "/early", "/steps"):
        protocol, transport = connect(server, clock)
        sent = request(path, body=body)
        protocol.data_received(sent[:40_000])
        assert server.connections.held > 30_000
        protocol.data_received(sent[40_000:])
        tasks = [*protocol.tasks]
        await asyncio.sleep(0)
        app.wait.set()
        await asyncio.gather(*tasks)
        assert server.connections.held == 0, path
        await asyncio.sleep(0)  # what a turn of the loop writes, the next one sends
        assert transport.written


@in_each_loop
async def test_the_bytes_of_each_body_on_a_connection_are_held_until_its_own_answer() -> None:
    app, clock = App(), Clock()
    app.wait.clear()
    server = Server(app)
    protocol, _ = connect(server, clock)
    held = list[int]()
    for size in (50_000, 60_000):
        sent = request("/stream", body="x" * size)
        protocol.data_received(sent[:-10_000])
        protocol.data_received(sent[-10_000:])
        held.append(server.connections.held - sum(held))
    assert min(held) > 30_000
    [first] = protocol.tasks
    await until(lambda: len(app.bodies) == 1)
    app.wait.set()
    app.wait.clear()  # the first request goes on; the second one will wait
    await first
    assert server.connections.held == held[1]
    await until(lambda: len(app.bodies) == 2)
    app.wait.set()
    await asyncio.gather(*protocol.tasks)
    assert server.connections.held == 0


@in_each_loop
async def test_a_request_that_is_refused_leaves_the_bytes_of_earlier_bodies_counted() -> None:
    app, clock = App(), Clock()
    app.wait.clear()
    server = Server(app)
    protocol, _ = connect(server, clock)
    sent = request("/whole", body="x" * 50_000)
    protocol.data_received(sent[:40_000])
    protocol.data_received(sent[40_000:])
    held = server.connections.held
    assert held > 30_000
    protocol.data_received(b"GARBAGE\r\n\r\n")
    assert server.connections.held == held
    app.wait.set()
    await asyncio.gather(*protocol.tasks)
    assert server.connections.held == 0


@in_each_loop
async def test_a_connection_that_ended_leaves_its_place() -> None:
    app, clock = App(), Clock()
    server = Server(app, Settings(http=Http(max_connections_per_client=1)))
    for _ in range(3):
        protocol, transport = connect(server, clock, "192.0.2.1")
        assert not transport.closed
        protocol.connection_lost(None)
        protocol.connection_lost(None)
    assert server.connections.open == 0


@in_each_loop
async def test_the_body_of_a_refused_request_is_dropped_while_its_connection_lingers() -> None:
    async with connected(
        App(), Connections(10, 10, most_bytes=400_000), body_bytes=100_000
    ) as opened:
        protocol, transport, _ = opened
        protocol.peer = "192.0.2.1"
        assert protocol._all.hold(protocol.peer, 90_000)  # of 100,000, by other connections
        protocol.data_received(HEAD + b"content-length: 90000\r\n\r\n" + b" " * 5_000)
        for _ in range(6):
            protocol.data_received(b" " * 5_000)
        status, words = await refusal(transport)
        assert (status, "too many bytes" in words) == (503, True)
        assert not protocol.cycle.body
        assert protocol._all.held == 90_000
