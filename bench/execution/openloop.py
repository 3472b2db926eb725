"""Open-loop load: requests arrive when a Poisson process says, whether or not others are answered.

A latency counts from the scheduled arrival, so waiting for the server counts (Tene, "coordinated
omission"). The client has a core of its own and does not sleep through the last moment before an
arrival. An ideal server with constant service times has p99 / p50 of 4.3 at 70% of saturation.

`python -m bench.execution.openloop PORT REQUESTS RATE SECONDS WARMUP` prints {"p50", "p99",
"count", "late"}: seconds; `late` is the 99th percentile of how late the client itself sent.
"""

import heapq
import json
import random
import select
import socket
import sys
import time
from collections import deque
from pathlib import Path

CONNECTIONS = 256  # at most; opened when they are needed, as a pool of clients would
PATIENCE = 10.0  # seconds after the last arrival
AWAKE = 0.0001  # seconds before an arrival: a timer may be as late as that


class _Connection:
    """One request at a time; `feed` says when its answer is whole."""

    __slots__ = ("arrived", "buffer", "busy", "closed", "socket", "wanted")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.arrived, self.closed = 0.0, False
        self._reset()

    def _reset(self) -> None:
        self.buffer, self.wanted, self.busy = b"", -1, False

    def send(self, request: bytes, arrived: float) -> None:
        self.arrived, self.busy = arrived, True
        sent = self.socket.send(request)
        assert sent == len(request), "a request did not fit into the socket's buffer"

    def feed(self) -> bool:
        data = self.socket.recv(1 << 18)
        if not data:
            if self.busy:
                raise SystemExit("the server closed a connection before it answered")
            self.closed = True
            self.socket.close()
            return False
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


def drive(
    port: int, requests: list[bytes], rate: float, seconds: float, warmup: float
) -> tuple[list[float], list[float]]:
    """Latencies, and how late each request was sent (seconds), of those after the warm-up."""
    rng = random.Random(1)
    poll = select.epoll()
    by_fd: dict[int, _Connection] = {}
    idle: list[_Connection] = []
    waiting: deque[float] = deque()
    latencies: list[float] = []
    late: list[float] = []
    clock = time.perf_counter
    begin = clock()
    measured, end = begin + warmup, begin + warmup + seconds
    arrival = begin + rng.expovariate(rate)
    while True:
        now = clock()
        while arrival <= now and arrival < end:
            waiting.append(arrival)
            arrival += rng.expovariate(rate)
        while waiting and (idle or len(by_fd) < CONNECTIONS):
            if not idle:
                opened = _Connection(port)
                by_fd[opened.socket.fileno()] = opened
                poll.register(opened.socket.fileno(), select.EPOLLIN)
                idle.append(opened)
            arrived = waiting.popleft()
            idle.pop().send(rng.choice(requests), arrived)
            if arrived >= measured:
                late.append(now - arrived)
        # It sleeps where it can: a process ahead of others that never does is stopped for the
        # rest of each second after 0.95 of it (sched_rt_runtime_us).
        gap = arrival - clock() - AWAKE
        if gap > 0:
            select.select([poll], [], [], gap)
        for fd, _ in poll.poll(0):
            connection = by_fd[fd]
            if connection.feed():
                if connection.arrived >= measured:
                    latencies.append(clock() - connection.arrived)
                idle.append(connection)
            elif connection.closed:  # for it was idle
                idle.remove(connection)
                del by_fd[fd]
        if now > end and len(idle) == len(by_fd) and not waiting:
            return latencies, late
        if now > end + PATIENCE:  # overloaded: what is left has waited at least until now
            busy = [each.arrived for each in by_fd.values() if each.busy]
            left = [arrived for arrived in (*busy, *waiting) if arrived >= measured]
            return [*latencies, *(now - arrived for arrived in left)], late


def percentile(values: list[float], share: float) -> float:
    count = max(1, round(len(values) * (1 - share)))
    return heapq.nlargest(count, values)[-1]


if __name__ == "__main__":
    _port, _path, _rate, _seconds, _warmup = sys.argv[1:]
    _latencies, _late = drive(
        int(_port), read_requests(Path(_path)), float(_rate), float(_seconds), float(_warmup)
    )
    print(
        json.dumps(
            {
                "p50": percentile(_latencies, 0.5),
                "p99": percentile(_latencies, 0.99),
                "count": len(_latencies),
                "late": percentile(_late, 0.99),
            }
        )
    )
