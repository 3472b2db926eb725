"""Connections of a client in debt are read later; other clients' connections are read at once."""

import asyncio

from gateway.server.fairness.reads import MUCH
from gateway.server.fairness.shares import A_CONNECTION, BURST, WINDOW, Shares
from gateway.server.process import Server
from gateway.settings import Http, Settings
from tests.unit.gateway.server.apps import App, Clock, connect, request, until
from tests.unit.gateway.server.loops import in_each_loop

FLOOD, HONEST, PROXY = "192.0.2.1", "192.0.2.2", "10.0.0.1"


def crowded() -> tuple[Server, Clock]:
    """A server with a client in debt, while a request of another client is in progress."""
    clock = Clock()
    shares = Shares(0.25, clock=clock.time, used=clock.time)
    server = Server(App(), Settings(http=Http(trusted_proxies=(PROXY,))), shares=shares)
    shares.begin(HONEST)
    shares.charge(FLOOD, 2 * BURST)
    return server, clock


@in_each_loop
async def test_a_client_in_debt_is_read_when_its_debt_is_worked_off() -> None:
    server, clock = crowded()
    protocol, transport = connect(server, clock, FLOOD)
    assert transport.paused, "a new connection is charged too"
    protocol.data_received(request("/whole"))  # it was on its way
    protocol.flow.resume_reading()  # the answer is sent
    assert transport.paused
    clock.now += 2 * BURST / 0.25 + WINDOW
    await until(lambda: not transport.paused)


@in_each_loop
async def test_another_client_and_a_trusted_proxy_are_read_at_once() -> None:
    server, clock = crowded()
    for peer in (HONEST, PROXY, ""):
        protocol, transport = connect(server, clock, peer)
        protocol.data_received(request("/whole"))
        assert not transport.paused


@in_each_loop
async def test_connections_without_a_request_put_a_client_in_debt() -> None:
    server, clock = crowded()
    many = int(BURST / A_CONNECTION) + 2
    opened = [connect(server, clock, "192.0.2.3")[1].paused for _ in range(many)]
    assert not opened[0]
    assert opened[-1]


@in_each_loop
async def test_a_connection_that_closed_while_it_was_not_read_is_left_alone() -> None:
    server, clock = crowded()
    _, transport = connect(server, clock, FLOOD)
    _, second = connect(server, clock, FLOOD)
    transport.close()
    clock.now += 2 * BURST / 0.25 + WINDOW
    await until(lambda: not second.paused)
    assert transport.paused


@in_each_loop
async def test_one_connection_of_a_client_that_sends_much_is_read_in_a_turn() -> None:
    clock = Clock()
    server = Server(App(), Settings(http=Http(trusted_proxies=(PROXY,))), shares=Shares(0.25))
    head = request("/steps", body="x" * 500_000)[:MUCH]
    several = [connect(server, clock, FLOOD) for _ in range(4)]
    other, proxied = connect(server, clock, HONEST), connect(server, clock, PROXY)
    for protocol, _ in (*several, other, proxied):
        protocol.data_received(head)
    assert not proxied[1].paused, "a proxy carries many clients"
    for read in range(5):
        assert [transport.paused for _, transport in several] == [n >= read for n in range(4)]
        assert other[1].paused == (read == 0)
        await asyncio.sleep(0)
    for protocol, _ in (*several, other, proxied):
        protocol.connection_lost(None)


@in_each_loop
async def test_a_small_part_of_a_request_takes_no_turn() -> None:
    clock = Clock()
    server = Server(App(), Settings(), shares=Shares(0.25))
    protocol, transport = connect(server, clock, FLOOD)
    protocol.data_received(request("/steps", body="x" * 500_000)[: MUCH - 1])
    assert not transport.paused
    protocol.connection_lost(None)
