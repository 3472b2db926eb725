"""Open-loop load: requests arrive at the times of a Poisson process, without waiting for answers.

A latency is measured from the scheduled arrival, so waiting for the server counts (Tene,
"coordinated omission"). The client has its own core, and does not sleep just before an arrival. An
ideal server with constant service times has p99 / p50 of 4.3 when it is busy for 70% of the time.

Other tenants of a machine make a core up to twice as slow for a moment or a minute. So the arrival
rate is a share of what the server can answer *at that moment*: it is chosen so that the server is
busy for this share of the time, from the CPU time of the most recent requests. Before each second
the server is saturated for a while, because a request takes less time if the next is already
waiting.

`python -m bench.execution.openloop PORT PID REQUESTS BUSY SECONDS` prints a list of such seconds
(see Second). PID is the server's process, and BUSY the share of the time for which it should be
busy.
"""

import gc
import heapq
import json
import os
import random
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

CONNECTIONS = 256  # at most; opened on demand, as a client's pool does
UNUSED = 2.0  # seconds after which an unused connection is closed, before the server closes it
PATIENCE = 10.0  # seconds
# seconds before an arrival from which the client does not sleep: a timer may be this late
AWAKE = 0.0001
# in a second; the recent ones, from which the cost of a request is computed
MOMENTS, RECENT = 100, 2
CROWD, WHILE = 16, 0.25  # concurrent requests that saturate the server, and for how many seconds


@dataclass(frozen=True)
class Second:
    """The arrivals of one second: requests a second, the share of the second for which the server
    was busy, its CPU time for a request, that CPU time when it was saturated just before, the
    latencies, and the time for which the machine's host took its cores away. All times are in
    seconds."""

    rate: float
    busy: float
    cost: float
    saturated: float
    p50: float
    p99: float
    stolen: float


class Mark(NamedTuple):
    """A moment: the time, the server's CPU time so far, and the number of answers."""

    at: float
    cpu: float
    answered: int


class _Connection:
    """A connection with one request at a time. `feed` returns whether its answer is complete."""

    __slots__ = ("arrived", "buffer", "socket", "used", "wanted")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.arrived = 0.0
        self._reset()

    def _reset(self) -> None:
        self.buffer, self.wanted = b"", -1
        self.used = time.perf_counter()

    def send(self, request: bytes, arrived: float) -> None:
        self.arrived = arrived
        sent = self.socket.send(request)
        assert sent == len(request), "a request did not fit into the socket's buffer"

    def feed(self) -> bool:
        data = self.socket.recv(1 << 18)
        if not data:
            raise SystemExit("the server closed a connection")
        if self.wanted < 0:
            self.buffer += data
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return False
            if not head.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"the server answered {head[:80]!r}")
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            self.wanted = int(length) - len(rest)
        else:
            self.wanted -= len(data)
        if self.wanted > 0:
            return False
        self._reset()
        return True


class Client:
    """Sends requests, and records each arrival and latency."""

    def __init__(self, port: int, requests: Sequence[bytes]) -> None:
        self._port, self._requests = port, requests
        self._random = random.Random(1)
        self._poll = select.epoll()
        self._by_fd: dict[int, _Connection] = {}
        self._idle: deque[_Connection] = deque()  # the most recently used is last
        self._waiting: deque[float] = deque()
        self.answered: list[tuple[float, float]] = []

    def saturate(self, until: float) -> None:
        """Keep CROWD requests in progress until the time `until`, and wait for their answers."""
        while time.perf_counter() < until:
            while len(self._by_fd) - len(self._idle) + len(self._waiting) < CROWD:
                self._waiting.append(time.perf_counter())
            self._turn(until)
        self.finish()

    def arrive(self, rate: float, until: float) -> None:
        """Send `rate` requests a second until the time `until`."""
        arrival = time.perf_counter() + self._random.expovariate(rate)
        while True:
            now = time.perf_counter()
            while arrival <= min(now, until):
                self._waiting.append(arrival)
                arrival += self._random.expovariate(rate)
            if now >= until:
                return
            self._turn(min(arrival, until))

    def finish(self) -> None:
        """Wait for the requests in progress."""
        patience = time.perf_counter() + PATIENCE
        while self._waiting or len(self._idle) < len(self._by_fd):
            now = time.perf_counter()
            if now > patience:
                raise SystemExit(f"the server did not answer within {PATIENCE:.0f} s")
            self._turn(now + 0.001)

    def _turn(self, until: float) -> None:
        """Send waiting requests, then read answers until the time `until`."""
        while self._waiting and (self._idle or len(self._by_fd) < CONNECTIONS):
            if not self._idle:
                opened = _Connection(self._port)
                self._by_fd[opened.socket.fileno()] = opened
                self._poll.register(opened.socket.fileno(), select.EPOLLIN)
                self._idle.append(opened)
            arrived = self._waiting.popleft()
            self._idle.pop().send(self._random.choice(self._requests), arrived)
        gap = until - time.perf_counter() - AWAKE
        if gap > 0:
            select.select([self._poll], [], [], gap)
        for fd, _ in self._poll.poll(0):
            connection = self._by_fd[fd]
            if connection.feed():
                took = connection.used - connection.arrived
                self.answered.append((connection.arrived, took))
                self._idle.append(connection)
        while self._idle and time.perf_counter() - self._idle[0].used > UNUSED:
            unused = self._idle.popleft().socket
            del self._by_fd[unused.fileno()]
            unused.close()


def read_requests(path: Path) -> list[bytes]:
    """The requests in a workload's file (see wrk.lua), as bytes for the connection."""
    lines = path.read_text().splitlines()
    return [
        (
            f"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: {authorization}\r\ncontent-length: {len(body.encode())}\r\n\r\n{body}"
        ).encode()
        for authorization, body in zip(lines[::2], lines[1::2], strict=True)
    ]


def drive(client: Client, pid: int, busy: float, seconds: int) -> list[Second]:
    """Load a server for `seconds`, as the module's docstring describes."""
    cpu = (~pid << 3) | 2  # clock_getcpuclockid(3): for all threads of the process

    def mark() -> Mark:
        return Mark(time.perf_counter(), time.clock_gettime(cpu), len(client.answered))

    found = []
    for _ in range(seconds):
        crowd = [mark()]
        client.saturate(crowd[0].at + WHILE)
        crowd.append(mark())
        cost = _cost(crowd)
        stolen = _stolen()
        marks = [mark()]
        for moment in range(1, MOMENTS + 1):
            client.arrive(busy / cost, marks[0].at + moment / MOMENTS)
            marks.append(mark())
            cost = _cost(marks[-RECENT - 1 :]) or cost
        client.finish()
        begin, end = marks[0], marks[-1]
        latencies = [took for at, took in client.answered if begin.at <= at < end.at]
        found.append(
            Second(
                len(latencies) / (end.at - begin.at),
                (end.cpu - begin.cpu) / (end.at - begin.at),
                _cost(marks),
                _cost(crowd),
                percentile(latencies, 0.5),
                percentile(latencies, 0.99),
                _stolen() - stolen,
            )
        )
    return found


def _stolen() -> float:
    """The seconds so far for which the host took the machine's cores away."""
    fields = Path("/proc/stat").read_text().split(maxsplit=9)
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def _cost(marks: Sequence[Mark]) -> float:
    """The CPU time of a request between the first and the last mark; 0 if none was answered."""
    answered = marks[-1].answered - marks[0].answered
    return (marks[-1].cpu - marks[0].cpu) / answered if answered else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    count = max(1, round(len(values) * (1 - share)))
    return heapq.nlargest(count, values)[-1]


if __name__ == "__main__":
    gc.disable()  # a collection would delay it
    _port, _pid, _path, _busy, _seconds = sys.argv[1:]
    _client = Client(int(_port), read_requests(Path(_path)))
    _found = drive(_client, int(_pid), float(_busy), int(_seconds))
    print(json.dumps([asdict(each) for each in _found]))
