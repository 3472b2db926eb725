"""A contender's server process, pinned to its own core, and its CPU time."""

import http.client
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.execution.requests import Request, Workload

SERVER_CORE, LOAD_CORE = "0", "1"
START_SECONDS = 120.0
CHECKED = 20  # requests whose answers are compared before the measurements
COUNTED = "pinway_http_request_duration_seconds_count"
_TICKS = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    """A reason why the benchmark can't run, as one line."""


@dataclass(frozen=True)
class Contender:
    """How to start a server. `{port}` in the command or the environment is replaced by the port.
    `metered`: the server has metrics, whose counts are compared with the answers."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    metered: bool = False


@dataclass
class Server:
    """A contender's server at 127.0.0.1:`port`."""

    process: subprocess.Popen[bytes]
    port: int

    def ask(self, request: Request) -> bytes:
        """The body of the answer. Raises OSError; raises AssertionError unless the status is
        200."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"content-type": "application/json", "authorization": request.authorization}
        try:
            connection.request("POST", "/graphql", request.body, headers)
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        assert response.status == 200, f"status {response.status}: {body[:300]!r}"
        return body

    def check(self, workload: Workload) -> None:
        """Compare answers with the expected answers."""
        step = max(1, len(workload.requests) // CHECKED)
        for number in range(0, len(workload.requests), step):
            workload.check(number, self.ask(workload.requests[number]))

    def counted(self, metric: str = COUNTED) -> float:
        """The sum of a metric of the server; by default, the number of answered requests."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        counts = [line.split()[1] for line in lines if line.startswith(f"{metric}{{")]
        return sum(map(float, counts))

    def cpu_seconds(self) -> float:
        """The CPU time of the process and its children so far, on all cores."""
        pids = [self.process.pid]
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            pids += map(int, (task / "children").read_text().split())
        ticks = 0
        for pid in pids:
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / _TICKS


def ahead_of_others() -> list[str]:
    """The prefix of a command that keeps other processes off its core, if that is allowed.
    Latencies mean nothing if other processes use a part of the core. (It is not a real-time
    process: the kernel stops such a process for the rest of each second after 0.95 s, and saturated
    servers reach that.)"""
    command = ["nice", "-n", "-20"]
    niceness = subprocess.run([*command, "nice"], capture_output=True, text=True).stdout.strip()
    return command if niceness == "-20" else []


@contextmanager
def running(contender: Contender, log: Path, before: Sequence[str] = ()) -> Iterator[Server]:
    """The contender's server, which answers inside the block. Raises BenchError."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [part.replace("{port}", str(port)) for part in contender.command]
    given = {
        name: text.replace("{port}", str(port)) for name, text in contender.environment.items()
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*before, "taskset", "-c", SERVER_CORE, *command],
            env={**os.environ, **given},
            stdout=output,
            stderr=output,
        )
    try:
        _wait(process, port, contender, log)
        yield Server(process, port)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, contender: Contender, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-1500:]
            raise BenchError(f"{contender.name} did not start:\n{tail}")
        time.sleep(0.05)
