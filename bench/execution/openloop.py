"""Open-loop load: requests arrive when a Poisson process says, whether or not others are answered.

A latency counts from the scheduled arrival, so waiting for the server counts (Tene, "coordinated
omission"). The client has a core of its own and does not sleep through the last moment before an
arrival. An ideal server with constant service times has p99 / p50 of 4.3 when it is busy for 70% of
the time.

Other tenants of a machine make a core up to twice as slow for a moment or a minute. So arrivals
come at a share of what the server could answer *just then*: each moment as many as would keep it
busy for that share, by the CPU time that a request took in the last moments. Before each second the
server is saturated for a while: a request takes less where the next one waits already.

`python -m bench.execution.openloop PORT PID REQUESTS BUSY SECONDS`, where PID is the server's and
BUSY the share of the time that it is to be busy, prints a list of such seconds (see Second).
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

CONNECTIONS = 256  # at most; opened when they are needed, as a pool of clients would
UNUSED = 2.0  # seconds after which a connection is closed, before the server does that
PATIENCE = 10.0  # seconds
AWAKE = 0.0001  # seconds before an arrival: a timer may be as late as that
MOMENTS, RECENT = 100, 2  # in a second; those by which the cost of a request is told
CROWD, WHILE = 16, 0.25  # requests at once where the server is saturated, and for how many seconds


@dataclass(frozen=True)
class Second:
    """The arrivals of one second: requests a second, the share of the second that the server was
    busy, its CPU time for a request, that time when it was saturated just before, the latencies,
    and for how long the machine's host took its cores away. All times in seconds."""

    rate: float
    busy: float
    cost: float
    saturated: float
    p50: float
    p99: float
    stolen: float


class Mark(NamedTuple):
    """A moment: the clock, the server's CPU time so far, and how many answers there were."""

    at: float
    cpu: float
    answered: int


class _Connection:
    """One request at a time; `feed` says when its answer is whole."""

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
    """Sends what arrives, and keeps when it arrived and how long it took."""

    def __init__(self, port: int, requests: Sequence[bytes]) -> None:
        self._port, self._requests = port, requests
        self._random = random.Random(1)
        self._poll = select.epoll()
        self._by_fd: dict[int, _Connection] = {}
        self._idle: deque[_Connection] = deque()  # the last used last
        self._waiting: deque[float] = deque()
        self.answered: list[tuple[float, float]] = []

    def saturate(self, until: float) -> None:
        """Keep a crowd waiting until the clock says `until`, and let it be answered."""
        while time.perf_counter() < until:
            while len(self._by_fd) - len(self._idle) + len(self._waiting) < CROWD:
                self._waiting.append(time.perf_counter())
            self._turn(until)
        self.finish()

    def arrive(self, rate: float, until: float) -> None:
        """Let requests arrive, `rate` a second, until the clock says `until`."""
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
        """Wait for what is under way."""
        patience = time.perf_counter() + PATIENCE
        while self._waiting or len(self._idle) < len(self._by_fd):
            now = time.perf_counter()
            if now > patience:
                raise SystemExit(f"the server did not answer within {PATIENCE:.0f} s")
            self._turn(now + 0.001)

    def _turn(self, until: float) -> None:
        """Send what waits, then take what is answered until then."""
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
    """The requests of a workload's file (see wrk.lua) as they go over the wire."""
    lines = path.read_text().splitlines()
    return [
        (
            f"POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            f"authorization: {authorization}\r\ncontent-length: {len(body.encode())}\r\n\r\n{body}"
        ).encode()
        for authorization, body in zip(lines[::2], lines[1::2], strict=True)
    ]


def drive(client: Client, pid: int, busy: float, seconds: int) -> list[Second]:
    """Load a server for so long, as the module's text says."""
    cpu = (~pid << 3) | 2  # clock_getcpuclockid(3): of all threads of the process

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
    """Seconds so far that the machine's cores were taken away by its host."""
    fields = Path("/proc/stat").read_text().split(maxsplit=9)
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def _cost(marks: Sequence[Mark]) -> float:
    """CPU time of a request between the first mark and the last; 0 when none was answered."""
    answered = marks[-1].answered - marks[0].answered
    return (marks[-1].cpu - marks[0].cpu) / answered if answered else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    count = max(1, round(len(values) * (1 - share)))
    return heapq.nlargest(count, values)[-1]


if __name__ == "__main__":
    gc.disable()  # a collection would make it late
    _port, _pid, _path, _busy, _seconds = sys.argv[1:]
    _client = Client(int(_port), read_requests(Path(_path)))
    _found = drive(_client, int(_pid), float(_busy), int(_seconds))
    print(json.dumps([asdict(each) for each in _found]))
