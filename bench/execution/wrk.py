"""Closed-loop load by wrk: as many requests as sixteen connections can have answered."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from bench.execution.servers import LOAD_CORE, BenchError, Server

SCRIPT = Path(__file__).with_name("wrk.lua")
CONNECTIONS = 16


@dataclass(frozen=True)
class Run:
    """`count` requests; `rate` a second of wall time; `per_cpu` a second of the server's own time:
    the same on an idle machine, and right also where others take part of the core."""

    count: int
    rate: float
    per_cpu: float
    cores: float


ENOUGH = 20


def load(server: Server, requests: Path, seconds: float, before: Sequence[str] = ()) -> Run:
    """Load the server for so long, longer if too few requests are answered to count. Raises
    BenchError when an answer was not 200."""
    while True:
        run = _load(server, requests, seconds, before)
        if run.count >= ENOUGH:
            return run
        seconds *= 3


def _load(server: Server, requests: Path, seconds: float, before: Sequence[str]) -> Run:
    cpu, started = server.cpu_seconds(), time.monotonic()
    done = subprocess.run(
        [
            *before,
            *("taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{ceil(seconds)}s"),
            *("--timeout", "20s", "-s", str(SCRIPT), f"http://127.0.0.1:{server.port}"),
        ],
        env={**os.environ, "BENCH_REQUESTS": str(requests)},
        capture_output=True,
        text=True,
    )
    cpu, wall = server.cpu_seconds() - cpu, time.monotonic() - started
    found = re.search(r"(\d+) requests in ([\d.]+)(m?s)", done.stdout)
    if done.returncode or not found or "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise BenchError(f"wrk: {done.stdout}{done.stderr}")
    count = int(found[1])
    took = float(found[2]) / (1000 if found[3] == "ms" else 1)
    # On average, half the work is done for the requests that are under way at the end.
    done = count + CONNECTIONS / 2
    return Run(count, count / took, done / max(cpu, 0.01), cpu / wall)
