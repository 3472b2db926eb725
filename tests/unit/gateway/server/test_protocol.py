"""A complete request is answered without ASGI, all others by uvicorn; a client sees no
difference."""

import asyncio
import gc
import logging
import socket
from typing import Any, cast
from unittest.mock import patch

import pytest
from starlette.middleware.cors import CORSMiddleware
from uvicorn.protocols.http.flow_control import FlowControl

from gateway.execution.encode import PART
from gateway.server.process import Server
from gateway.server.protocol import DRAIN_SECONDS, LAST_SECONDS, Protocol
from tests.unit.gateway.server.apps import (
    BIG,
    BODY,
    CLOSE,
    ORIGIN,
    App,
    answers,
    connected,
    one,
    request,
    running,
    served,
    until,
    usual,
)
from tests.unit.gateway.server.loops import in_each_loop


@in_each_loop
async def test_responses_are_those_that_uvicorn_sends() -> None:
    big = f"size: {3 * PART}"
    found = {}
    for make in (Server, usual):
        app = App()
        async with served(app, cast(Any, make)) as port:
            found[make] = [
                await answers(port, *asked)
                for asked in (
                    [request("/whole", CLOSE)],
                    [request("/whole"), request("/whole"), request("/steps", CLOSE)],
                    [request("/whole", "x-other: 1"), request("/big", CLOSE)],
                    [request("/whole", "expect: 100-continue"), request("/steps", CLOSE)],
                    [request("/whole").replace(b"POST", b"GET"), request("/steps", CLOSE)],
                    [request("/whole", version="1.0")],
                    [request("/whole", "connection: keep-alive", version="1.0")],
                    [request("/whole?a=1", CLOSE)],
                )
            ]
            if make is Server:
                assert app.ways.count("whole") == 2
                pieces = await answers(port, request("/whole", big), request("/steps", CLOSE))
                assert pieces.count(b"z") == 3 * PART
                assert BODY in pieces
    assert found[Server] == found[usual]
    assert found[Server][1].count(BODY) == 3
    assert len(found[Server][2]) > BIG


@in_each_loop
async def test_requests_one_after_the_other_are_answered_the_short_way() -> None:
    app = App()
    async with running(app) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for n in range(3):
            writer.write(request("/whole", "X-Number: 1", "x-number: 2", body=f"{n}{n}"))
            await one(reader)
        writer.close()
        assert server.server_state.total_requests == 3
    assert app.ways == ["whole"] * 3
    assert app.bodies == [b"00", b"11", b"22"]
    assert app.fields[b"x-number"] == b"1"
    assert app.peers == ["127.0.0.1"] * 3


@in_each_loop
async def test_a_body_that_comes_in_parts_is_read_to_its_end() -> None:
    app, body = App(), "x" * 200_000
    asked = request("/whole", body=body)
    async with served(app) as port:
        for parts in ([asked[:-100_000], asked[-100_000:]], [asked[:30], asked[30:]]):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0.01)  # so that they come apart; they may, whatever it takes
            await one(reader)
            writer.close()
    assert app.bodies == [body.encode()] * 2
    assert "asgi" in app.ways


@in_each_loop
async def test_what_is_sent_before_the_answer_is_answered_after_it() -> None:
    app = App()
    app.wait.clear()
    async with served(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("/whole", body="11"))
        await app.answering_now.wait()
        writer.write(request("/whole", body="22") + request("/steps", body="33"))
        await asyncio.sleep(0.01)
        assert app.bodies == [b"11"]
        app.wait.set()
        for _ in range(3):
            await one(reader)
        writer.write(request("/whole", body="44"))
        await one(reader)
        writer.close()
    assert app.bodies == [b"11", b"22", b"33", b"44"]
    assert app.ways[0] == app.ways[3] == "whole"


@in_each_loop
async def test_a_fault_is_logged_and_answered_as_uvicorn_does() -> None:
    app = App()
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(handler)
    try:
        async with served(app) as port:
            ours = await answers(port, request("/whole", body="!!"))
        async with served(app, usual) as port:
            theirs = await answers(port, request("/fails"))
    finally:
        logger.removeHandler(handler)
    assert ours == theirs
    assert ours.startswith(b"HTTP/1.1 500 ")
    assert logged.count("Exception in ASGI application\n") == 2


@in_each_loop
async def test_a_client_that_left_is_sent_nothing() -> None:
    app = App()
    app.wait.clear()
    async with running(app) as (server, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("/whole"))
        await app.answering_now.wait()
        writer.close()
        await until(lambda: not server.server_state.connections)
        (task,) = server.server_state.tasks
        app.wait.set()
        await task
        assert server.server_state.tasks == set()
        assert server.server_state.total_requests == 0


@in_each_loop
async def test_a_stop_waits_for_the_answer_and_closes_the_connection() -> None:
    app = App()
    app.wait.clear()
    async with running(app) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("/whole"))
        await app.answering_now.wait()
        (connection,) = server.server_state.connections
        server.should_exit = True
        await until(lambda: not connection.cycle.keep_alive)  # type: ignore[union-attr]
        app.wait.set()
        found = await asyncio.wait_for(reader.read(), 300)
        assert b"connection: close\r\n" in found
        assert found.endswith(BODY)
        writer.close()


@pytest.mark.parametrize("middleware", [CORSMiddleware])
def test_a_page_of_another_origin_is_answered_through_the_middleware(middleware: Any) -> None:
    @in_each_loop
    async def each() -> None:
        app = App()
        async with served(middleware(app, allow_origins=[ORIGIN])) as port:
            found = await answers(
                port, request("/whole"), request("/steps", f"origin: {ORIGIN}", CLOSE)
            )
            assert found.count(b"access-control-allow-origin") == 1
            await answers(port, request("/whole", f"origin: {ORIGIN}", CLOSE))
        assert app.ways == ["asgi"] * 3

    for new_loop in each.pytestmark[0].args[1]:
        each(new_loop)


@in_each_loop
async def test_an_answered_request_is_freed_without_the_collector() -> None:
    app = App()
    async with served(app) as port:
        gc.disable()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(3):
                writer.write(request("/whole"))
                await one(reader)
            assert [answer() for answer in app.answers] == [None] * 3
            writer.close()
        finally:
            gc.enable()


@in_each_loop
async def test_a_head_does_not_wait_for_a_body_that_is_not_there_yet() -> None:
    app = App()
    app.wait.clear()
    async with served(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("/stream", CLOSE))
        found = await asyncio.wait_for(reader.readuntil(BODY[:5]), 300)
        assert found.startswith(b"HTTP/1.1 200 OK\r\n")
        app.wait.set()
        assert BODY[5:] in await asyncio.wait_for(reader.read(), 300)
        writer.close()


@in_each_loop
async def test_an_application_waits_for_a_client_that_does_not_read() -> None:
    app = App()
    paused = asyncio.Event()
    pause = FlowControl.pause_writing

    def noted(flow: FlowControl) -> None:
        pause(flow)
        paused.set()

    with patch.object(FlowControl, "pause_writing", noted):
        async with served(app) as port:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(request("/endless"))
                await asyncio.wait_for(paused.wait(), 300)
                count = app.sent
                for _ in range(100):
                    await asyncio.sleep(0)
                assert app.sent == count < 1_000


async def answered(app: App, protocol: Protocol) -> None:
    protocol.data_received(request("/whole"))
    await asyncio.gather(*protocol.tasks)
    assert set(app.ways) == {"whole"}


@in_each_loop
async def test_a_stop_answers_one_request_more_on_an_idle_connection() -> None:
    for path in ("/whole", "/steps"):
        app = App()
        async with connected(app) as (protocol, transport, _):
            await answered(app, protocol)
            protocol.shutdown()
            assert not transport.closed  # a request may be on its way
            protocol.data_received(request(path))
            await until(lambda transport=transport: transport.closed)
            assert b"connection: close" in b"".join(transport.written)


@in_each_loop
async def test_a_stop_closes_a_connection_that_asks_nothing_more() -> None:
    async with connected(App()) as (protocol, transport, clock):
        protocol.shutdown()
        clock.move(DRAIN_SECONDS - 0.1)
        assert not transport.closed
        clock.move(0.2)
        assert transport.closed
    assert DRAIN_SECONDS <= 0.5  # an idle gateway has to end within a second


@in_each_loop
async def test_a_stop_does_not_wait_for_the_rest_of_a_request() -> None:
    whole = request("/whole", body="x" * 100)
    for sent in (20, len(whole) - 50, len(whole) - 1):
        for before in (whole[:sent], b""):  # before the stop, or after it
            app = App()
            async with connected(app) as (protocol, transport, clock):
                if before:
                    protocol.data_received(before)
                protocol.shutdown()
                if not before:
                    protocol.data_received(whole[:sent])
                clock.move(LAST_SECONDS - 0.1)
                assert not transport.closed
                assert transport.written == []
                clock.move(0.2)
                assert b"".join(transport.written).startswith(b"HTTP/1.1 503 "), sent
                await asyncio.gather(*protocol.tasks)
                clock.move(DRAIN_SECONDS + 0.1)
                assert transport.closed
                assert app.bodies == []
    assert LAST_SECONDS + DRAIN_SECONDS < 5  # uvicorn cancels later, and logs an exception


@in_each_loop
async def test_a_request_that_is_complete_soon_after_a_stop_is_answered() -> None:
    for cut in (20, -1):
        app, whole = App(), request("/whole", body="x" * 100)
        async with connected(app) as (protocol, transport, clock):
            protocol.data_received(whole[:cut])
            protocol.shutdown()
            clock.move(LAST_SECONDS - 0.1)
            protocol.data_received(whole[cut:])
            await until(lambda transport=transport: transport.closed)
            found = b"".join(transport.written)
            assert found.startswith(b"HTTP/1.1 200 ")
            assert b"connection: close" in found


@in_each_loop
async def test_a_connection_is_closed_when_it_has_been_idle_for_the_time() -> None:
    app = App()
    async with connected(app) as (protocol, transport, clock):
        await answered(app, protocol)
        clock.move(4.9)
        assert not transport.closed
        clock.move(0.2)
        assert transport.closed


@in_each_loop
async def test_each_response_begins_the_time_anew_with_one_timer() -> None:
    app = App()
    async with connected(app) as (protocol, transport, clock):
        for _ in range(4):
            await answered(app, protocol)
            assert len(clock.timers) == 1
            clock.move(3)
            assert not transport.closed
        clock.move(1.9)
        assert not transport.closed
        clock.move(0.2)
        assert transport.closed


@in_each_loop
async def test_a_connection_is_not_closed_while_a_request_is_answered() -> None:
    app = App()
    async with connected(app) as (protocol, transport, clock):
        await answered(app, protocol)
        app.wait.clear()
        protocol.data_received(request("/whole"))
        clock.move(50)
        assert not transport.closed
        app.wait.set()
        await asyncio.gather(*protocol.tasks)
        clock.move(4.9)
        assert not transport.closed
        clock.move(0.2)
        assert transport.closed


@in_each_loop
async def test_a_lost_connection_has_no_timer() -> None:
    app = App()
    async with connected(app) as (protocol, _, clock):
        await answered(app, protocol)
        assert len(clock.timers) == 1


@in_each_loop
async def test_an_answer_waits_until_the_client_has_read_the_last_one() -> None:
    app = App()
    async with connected(app) as (protocol, transport, _):
        protocol.pause_writing()
        protocol.data_received(request("/whole"))
        await asyncio.wait_for(app.answering_now.wait(), 300)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert transport.written == []
        protocol.resume_writing()
        await asyncio.gather(*protocol.tasks)
        await asyncio.sleep(0)
        assert b"".join(transport.written).endswith(BODY)


@in_each_loop
async def test_a_request_in_parts_that_is_wrong_is_refused_once() -> None:
    app = App()
    async with connected(app) as (protocol, transport, _):
        chunked = b"POST /whole HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
        protocol.data_received(chunked + b"2\r\n{}\r\nnonsense\r\n")
        await asyncio.sleep(0)
        assert transport.ended
        assert protocol.tasks == set()
        assert [text[:12] for text in transport.written] == [b"HTTP/1.1 400"]
        assert app.ways == []
