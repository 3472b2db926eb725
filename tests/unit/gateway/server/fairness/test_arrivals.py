"""A few new connections are served in a turn of the event loop, and a crowd is served last."""

import asyncio
import logging
import os
import resource
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import Any, cast

import pytest

from gateway.server.connections import Connections
from gateway.server.fairness import arrivals as arriving
from gateway.server.fairness.arrivals import LOOKED_AT, OVER, SERVED, SERVED_BESIDE, Arrivals
from gateway.server.fairness.shares import BURST, WINDOW, Shares
from tests.unit.gateway.server.apps import (
    BODY,
    CLOSE,
    App,
    Clock,
    answers,
    request,
    running,
    until,
)
from tests.unit.gateway.server.loops import in_each_loop

FLOOD, HONEST, PROXY = "192.0.2.1", "192.0.2.2", "10.0.0.1"
MOST_OF_CLIENT = 100


class Door:
    """Arrivals by hand. `served` are the clients whose connections were served, in their order."""

    def __init__(self, most: int = 1_000) -> None:
        self.clock = Clock()
        self.shares = Shares(0.25, clock=self.clock.time, used=self.clock.time)
        self.connections = Connections(1_000, MOST_OF_CLIENT, lambda peer: peer == PROXY)
        self.served: list[str] = []
        self._ends: dict[socket.socket, tuple[str, socket.socket]] = {}
        self.arrivals = Arrivals(
            self.connections, self.shares, self._serve, lambda why: why.encode(), most
        )

    def arrive(self, peer: str, *, closed: bool = False, sent: bytes = b"") -> socket.socket:
        """A connection of this client's; the client's end of it."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.sendall(sent)
        if closed:
            theirs.close()
        self._ends[ours] = peer, theirs
        self.arrivals.take(ours, peer)
        return theirs

    def open_before(self, peer: str, count: int) -> None:
        """The client has `count` connections open."""
        for _ in range(count):
            self.connections.admit(Open(peer))

    def close(self) -> None:
        self.arrivals.close()
        for ours, (_, theirs) in self._ends.items():
            ours.close()
            theirs.close()

    def _serve(self, sock: socket.socket) -> None:
        self.served.append(self._ends[sock][0])


class Open:
    """An open connection."""

    waits = True

    def __init__(self, peer: str) -> None:
        self.peer = peer

    def give_way(self) -> None:
        raise AssertionError("there is room")


async def turn() -> None:
    await asyncio.sleep(0)


def each(test: Callable[[Door], Awaitable[None]]) -> Any:
    """Run a test in each event loop, with a new door."""

    async def run() -> None:
        made = Door()
        try:
            await test(made)
        finally:
            made.close()

    run.__name__ = test.__name__
    return in_each_loop(run)


@each
async def test_a_few_connections_are_served_in_a_turn(door: Door) -> None:
    for _ in range(3 * SERVED):
        door.arrive(FLOOD)
    for number in range(1, 4):
        await turn()
        assert len(door.served) == number * SERVED


@each
async def test_one_connection_is_served_in_a_turn_beside_a_request(door: Door) -> None:
    begun = door.shares.begin(PROXY)
    for _ in range(3 * SERVED):
        door.arrive(FLOOD)
    for number in range(1, 4):
        await turn()
        assert len(door.served) == number * SERVED_BESIDE
    door.shares.end(PROXY, begun)
    await turn()
    assert len(door.served) == 3 * SERVED_BESIDE + SERVED


@each
async def test_a_client_with_fewer_connections_comes_first(door: Door) -> None:
    door.open_before(FLOOD, 20)
    for _ in range(50):
        door.arrive(FLOOD)
    door.arrive(HONEST)
    door.arrive(PROXY)
    await turn()
    assert set(door.served[:2]) == {HONEST, PROXY}


@each
async def test_many_clients_take_turns(door: Door) -> None:
    peers = [f"198.51.100.{n}" for n in range(2 * LOOKED_AT)]
    for peer in peers * 2:
        door.arrive(peer)
    while len(door.served) < len(peers):
        await turn()
    assert len(Counter(door.served)) > len(peers) - LOOKED_AT


@each
async def test_a_connection_that_is_closed_already_is_not_served(door: Door) -> None:
    door.arrive(FLOOD, closed=True)
    door.arrive(HONEST, closed=True, sent=b"POST")  # it closed its own side alone
    theirs = door.arrive(FLOOD)
    theirs.close()  # while it waits
    await turn()
    assert door.served == [HONEST]
    assert door.shares.wait(FLOOD) == 0


@each
async def test_connections_that_close_while_they_wait_do_not_fill_a_turn(door: Door) -> None:
    count = int(SERVED / OVER) + 2 * SERVED
    ends = [door.arrive(FLOOD) for _ in range(count)]
    for end in ends:
        end.close()
    await turn()
    door.arrivals.close()
    left = count - int(SERVED / OVER)
    assert left == 2 * SERVED
    assert door.served == []


@each
async def test_connections_that_close_at_once_put_a_client_in_debt(door: Door) -> None:
    door.shares.begin(HONEST)
    for _ in range(int(BURST / arriving.A_CLOSED) + 2):
        door.arrive(FLOOD, closed=True)
    assert door.shares.wait(FLOOD)


@each
async def test_a_client_in_debt_is_served_when_its_debt_is_worked_off(door: Door) -> None:
    door.shares.begin(HONEST)
    door.shares.charge(FLOOD, 2 * BURST)
    door.arrive(FLOOD)
    await turn()
    assert door.served == []
    door.arrive(HONEST)
    await turn()
    assert door.served == [HONEST]
    door.clock.now += 2 * BURST / 0.25 + WINDOW
    async with asyncio.timeout(300):
        while len(door.served) < 2:
            await turn()


@each
async def test_too_many_connections_of_a_client_are_refused(door: Door) -> None:
    door.open_before(FLOOD, MOST_OF_CLIENT - 1)
    first, second = door.arrive(FLOOD), door.arrive(FLOOD)
    assert second.recv(100) == b"a client may have 100 connections open"
    await turn()
    assert door.served == [FLOOD]
    first.setblocking(False)
    with pytest.raises(BlockingIOError):
        first.recv(1)


@in_each_loop
async def test_the_client_with_the_most_connections_makes_room() -> None:
    door = Door(most=5)
    first = door.arrive(FLOOD)
    for _ in range(3):
        door.arrive(FLOOD)
    door.arrive(HONEST)
    door.arrive(PROXY)
    assert first.recv(100) == arriving.FULL.encode()
    assert door.connections.refused["connections"] == 1
    door.close()


@each
async def test_connections_that_wait_are_closed_with_the_server(door: Door) -> None:
    theirs = door.arrive(FLOOD)
    door.arrivals.close()
    await turn()
    assert theirs.recv(1) == b""
    assert door.served == []


@each
async def test_all_connections_that_wait_are_served_when_no_more_are_taken(door: Door) -> None:
    door.shares.begin(HONEST)
    door.shares.charge(FLOOD, 2 * BURST)
    for peer in [FLOOD, HONEST] * SERVED:
        door.arrive(peer)
    door.arrivals.serve_all()
    assert Counter(door.served) == {FLOOD: SERVED, HONEST: SERVED}
    assert door.arrivals.count == 0


@in_each_loop
async def test_a_server_that_ends_answers_the_connections_that_it_took() -> None:
    async with running(App()) as (server, port), asyncio.timeout(300):
        with ExitStack() as opened, pytest.MonkeyPatch.context() as changed:
            changed.setattr(arriving, "SERVED", 0)  # all that are taken wait
            clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(arriving.TAKEN)]
            for client in clients:
                opened.enter_context(client)
                client.sendall(request("/whole", CLOSE))
                client.setblocking(False)
            await until(lambda: server.started)
            arrivals = cast(Any, server.servers[0]).arrivals
            await until(lambda: arrivals.count == arriving.TAKEN)
            await server.shutdown([])
            loop = asyncio.get_running_loop()
            for client in clients:
                assert await loop.sock_recv(client, 12) == b"HTTP/1.1 200"


@in_each_loop
async def test_connections_that_were_queued_by_the_system_are_all_answered() -> None:
    async with running(App()) as (_, port):
        with ExitStack() as opened:
            for _ in range(3 * arriving.TAKEN):
                opened.enter_context(socket.create_connection(("127.0.0.1", port)))
            assert BODY in await answers(port, request("/whole", CLOSE))


@in_each_loop
async def test_a_server_without_descriptors_goes_on_when_it_has_some() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    told = Told()
    async with running(App()) as (_, port):
        with socket.socket() as client, ExitStack() as taken:
            client.setblocking(False)
            arriving.log.addHandler(told)
            try:
                limit = max(map(int, os.listdir("/dev/fd"))) + 1
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
                with suppress(OSError):
                    while True:
                        taken.callback(os.close, os.dup(client.fileno()))
                with suppress(BlockingIOError):
                    client.connect(("127.0.0.1", port))
                await asyncio.wait_for(told.event.wait(), 300)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                arriving.log.removeHandler(told)
                taken.close()
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(client, request("/whole", CLOSE))
            found = b""
            while part := await asyncio.wait_for(loop.sock_recv(client, 1_000), 300):
                found += part
            assert BODY in found


class Told(logging.Handler):
    """Tells that a line was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.event = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        assert "Too many open files" in record.getMessage()
        self.event.set()
