"""Connections and bodies of one IPv6 network are counted together."""

import asyncio

import pytest

from gateway.server.connections import Connections
from gateway.server.fairness.lines import LOOKED_AT, Lines
from gateway.server.fairness.reads import Reading
from gateway.server.fairness.shares import Shares
from tests.unit.gateway.server.fairness.test_arrivals import Door, Open, each, turn

MOST, OF_CLIENT = 4_096, 10


def neighbor(number: int, step: int = 1) -> str:
    """An address in a network of 64 bits of its own, in a network of 48 bits."""
    return f"2001:db8:0:{step * number:x}::1"


def admitted(connections: Connections, step: int, count: int) -> int:
    opened = (connections.admit(Open(neighbor(number, step))) for number in range(count))
    return sum(refused is None for refused in opened)


@pytest.mark.parametrize(("step", "times", "bits"), [(1, 4, 56), (256, 16, 48)])
def test_a_network_has_several_times_a_clients_connections(
    step: int, times: int, bits: int
) -> None:
    connections = Connections(MOST, OF_CLIENT)
    assert admitted(connections, step, 200) == times * OF_CLIENT
    told = connections.admit(Open(neighbor(201, step)))
    assert told == f"the network 2001:db8::/{bits} may have {times * OF_CLIENT} connections open"
    assert connections.admit(Open("2001:db8:1::1")) is None
    assert connections.admit(Open("198.51.100.1")) is None


def test_a_network_never_has_more_than_half_of_all_connections() -> None:
    connections = Connections(4 * OF_CLIENT, OF_CLIENT)
    assert admitted(connections, 256, 200) == 2 * OF_CLIENT
    alone = Connections(OF_CLIENT, OF_CLIENT)
    assert [alone.admit(Open(neighbor(0))) for _ in range(OF_CLIENT)] == [None] * OF_CLIENT


def test_connections_that_end_are_no_longer_counted() -> None:
    connections = Connections(MOST, OF_CLIENT)
    opened = [Open(neighbor(number)) for number in range(100)]
    for connection in opened:
        connections.admit(connection)
    for connection in opened:
        connections.leave(connection)
    assert not connections._of_unit
    assert admitted(connections, 1, 200) == 4 * OF_CLIENT


def test_the_bodies_of_a_network_are_half_of_all_bytes_at_most() -> None:
    connections = Connections(MOST, OF_CLIENT, lambda peer: peer == "10.0.0.1", most_bytes=1_000)
    assert connections.hold(neighbor(0), 250)
    assert not connections.hold(neighbor(0), 1)
    assert connections.hold(neighbor(1), 250)
    assert not connections.hold(neighbor(2), 1)
    assert connections.hold("198.51.100.1", 250)
    assert connections.hold("10.0.0.1", 250)
    assert not connections.hold("198.51.100.2", 1)
    for peer in (neighbor(0), neighbor(1), "198.51.100.1", "10.0.0.1"):
        connections.let_go(peer, 250)
    assert connections.held == 0
    assert not connections._bodies._of_unit


@each
async def test_connections_of_a_network_that_wait_count_too(door: Door) -> None:
    ends = [door.arrive(neighbor(number % 200)) for number in range(401)]  # 100 for a client
    ends[-1].setblocking(False)
    assert b"2001:db8::/56" in ends[-1].recv(100)
    door.arrive("198.51.100.7")
    for _ in range(2 * 401 // LOOKED_AT):
        await turn()
    assert "198.51.100.7" in door.served


@each
async def test_a_network_with_many_connections_comes_last(door: Door) -> None:
    for number in range(40):
        door.open_before(neighbor(number), 1)
    for number in range(40, 60):
        door.arrive(neighbor(number))
    door.arrive("198.51.100.7")
    door.open_before("198.51.100.7", 2)
    await turn()
    assert door.served[0] == "198.51.100.7"


@pytest.mark.anyio
async def test_some_connections_of_a_network_are_read_in_a_turn() -> None:
    connections = Connections(MOST, OF_CLIENT)
    reading, read = Reading(Shares(0.25), connections.client), list[str]()

    class Large:
        def __init__(self, peer: str) -> None:
            self.peer = peer

        def go_on(self) -> None: ...

        def next_part(self) -> None:
            read.append(self.peer)

    for number in range(12):
        reading.wait(connections.client(neighbor(number)), Large(neighbor(number)))
    reading.wait("198.51.100.1", Large("198.51.100.1"))
    await asyncio.sleep(0)
    assert len(read) == 5
    assert "198.51.100.1" in read
    for _ in range(2):
        await asyncio.sleep(0)
    assert len(read) == 13


def test_things_are_taken_by_their_network_and_nothing_is_left() -> None:
    lines = Lines[int]()
    clients = [f"2001:db8:0:{number:x}::/64" for number in range(1, 200)]
    for number, client in enumerate([*clients, "b", "b", ""]):
        lines.append(client, number)
    assert (len(lines), lines.longest() in clients) == (202, True)
    first, *others = lines.turns()
    assert (len(first), others) == (LOOKED_AT, [["b"], [""]])
    again, *_ = lines.turns()
    assert not {*first} & {*again}
    assert [lines.pop("b"), lines.pop("b")] == [199, 200]
    assert "b" not in lines
    for client in clients:
        lines.pop(client)
    assert lines.longest() is None
    assert lines.clear() == [201]
    assert (len(lines), lines.counts, lines._networks) == (0, {}, {})
