"""The open-loop client answers each arrival and measures it from its arrival time; and a share of
the time is not a share of the requests."""

import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from bench.execution.openloop import Client, Second, drive
from bench.execution.tail import dearer, middle

REQUEST = b"POST /graphql HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 70000\r\n\r\n"


def _answer(connection: socket.socket) -> None:
    with connection:
        while connection.recv(1 << 16):
            connection.sendall(HEAD)
            connection.sendall(b"x" * 70_000)


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server that answers each connection in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=_answer, args=[connection], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """A clock of the client that moves by 0.2 ms whenever it is read: it never misses a time."""
    ticks = itertools.count()

    def now() -> float:
        return next(ticks) * 0.0002

    ours = SimpleNamespace(perf_counter=now, clock_gettime=time.clock_gettime)
    monkeypatch.setattr("bench.execution.openloop.time", ours)
    return now


@pytest.mark.usefixtures("clock")
def test_all_that_arrives_is_answered_and_counts_from_its_arrival(port: int) -> None:
    seconds = drive(Client(port, [REQUEST]), os.getpid(), busy=0.1, seconds=2)
    assert len(seconds) == 2
    for each in seconds:
        assert each.rate > 1
        assert each.busy > 0
        assert each.cost > 0
        assert each.saturated > 0
        assert 0 < each.p50 <= each.p99


def test_what_must_wait_for_a_connection_counts_from_its_arrival(
    port: int, clock: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(port, [REQUEST])
    with monkeypatch.context() as only:
        only.setattr("bench.execution.openloop.CONNECTIONS", 0)
        begin = clock()
        client.arrive(2000, begin + 0.1)
        assert client.answered == []
    client.finish()
    arrived = [at for at, _ in client.answered]
    assert len(arrived) > 50
    assert all(begin < at <= begin + 0.1 for at in arrived)
    assert all(at + took > begin + 0.1 for at, took in client.answered)


def test_a_request_is_dearer_where_the_server_sleeps() -> None:
    def second(cost: float, saturated: float) -> Second:
        return Second(100, 0.7, cost, saturated, 0.01, 0.02, 0.0)

    assert dearer([second(3.0, 2.0), second(2.0, 2.0)]) == 1.25


def test_the_middle_is_of_the_seconds_in_which_the_machine_was_there() -> None:
    def second(ratio: float, stolen: float) -> Second:
        return Second(100, 0.7, 1.0, 1.0, 1.0, ratio, stolen)

    there = [second(ratio, 0.01) for ratio in (3, 5, 4)]
    away = [second(ratio, 0.02) for ratio in (9, 8, 7)]
    assert middle([*there, *away]).p99 == 4
    assert middle([*there[:2], *away]).p99 == 7
