"""Closed-loop load by wrk: as many requests as sixteen connections can make."""

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
    """The result. `count` requests; `rate` a second of wall time; `per_cpu` a second of the
    server's CPU time: equal on an idle machine, and also valid if other processes use a part of the
    core."""

    count: int
    rate: float
    per_cpu: float
    cores: float


ENOUGH = 20


def load(server: Server, requests: Path, seconds: float, before: Sequence[str] = ()) -> Run:
    """Load the server for `seconds`, or longer if too few requests are answered. Raises BenchError
    for an answer that is not 200."""
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
    # On average, half of the work for the requests in progress is done.
    done = count + CONNECTIONS / 2
    return Run(count, count / took, done / max(cpu, 0.01), cpu / wall)
