"""The measures. Each is a function from the contenders to its raw figures."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.execution import wrk
from bench.execution.apps.real import PAGES
from bench.execution.contenders import REAL_OURS, REAL_STOCK, real_contenders
from bench.execution.data import data
from bench.execution.requests import Request, Workload
from bench.execution.servers import (
    SERVER_CORE,
    BenchError,
    Contender,
    Server,
    running,
)


@dataclass(frozen=True)
class Effort:
    """The size of a run: seconds of one load, at least; seconds of warm-up before the first; and
    rounds."""

    seconds: float
    warmup: float
    rounds: int


COUNTED = 20 * wrk.CONNECTIONS
"""The least number of requests in a load. The work for requests that are in progress at the end
must be estimated."""
FULL, QUICK = Effort(3.0, 4.0, 10), Effort(1.0, 1.0, 3)


@dataclass(frozen=True)
class Rate:
    """Requests for each second of the server's CPU time, and of wall time, round by round."""

    rounds: Sequence[float]
    walls: Sequence[float]

    @property
    def per_cpu(self) -> float:
        return statistics.median(self.rounds)

    @property
    def wall(self) -> float:
        return statistics.median(self.walls)

    def over(self, peer: "Rate") -> float:
        """The median of the rounds' ratios: if the machine is slow for a while, both sides of a
        ratio are."""
        return statistics.median(
            ours / theirs for ours, theirs in zip(self.rounds, peer.rounds, strict=True)
        )


Inside = Mapping[str, Any]


def write_data(path: Path) -> None:
    """Write the data for contenders in other languages."""
    path.write_text(json.dumps(data()))


def rates(
    contenders: Sequence[Contender], workload: Workload, effort: Effort, folder: Path
) -> dict[str, Rate]:
    """Load all contenders in turn, round by round. Answers are compared before and after."""
    requests = folder / "requests.txt"
    workload.write(requests)
    runs: dict[str, list[wrk.Run]] = {each.name: [] for each in contenders}
    with ExitStack() as stack:
        servers = {
            each.name: stack.enter_context(running(each, folder / "servers.log"))
            for each in contenders
        }
        seconds = {}
        for name, server in servers.items():
            server.check(workload)
            rate = wrk.load(server, requests, effort.warmup).rate
            seconds[name] = max(effort.seconds, COUNTED / rate)
        for number in range(effort.rounds):
            for name, server in servers.items():
                run = wrk.load(server, requests, seconds[name])
                runs[name].append(run)
                say(f"round {number + 1}: {name}: {run.per_cpu:,.0f} ({run.rate:,.0f} wall)")
        for each in contenders:
            servers[each.name].check(workload)
            if each.metered:
                _check_counts(servers[each.name], runs[each.name])
    return {name: _rate(each) for name, each in runs.items()}


def _check_counts(server: Server, runs: Sequence[wrk.Run]) -> None:
    answered, counted = sum(run.count for run in runs), server.counted()
    if counted < answered:
        raise BenchError(f"{answered} requests were answered, and the metrics count {counted:.0f}")


def _rate(runs: Sequence[wrk.Run]) -> Rate:
    return Rate([run.per_cpu for run in runs], [run.rate for run in runs])


def real_rates(python: Path, effort: Effort, folder: Path) -> dict[str, dict[str, Rate]]:
    """The rates of the gateway on embedded stores, and of stock's execution of the same schema:
    page → contender → rate."""
    made = folder / "stores"
    requests_of = real_requests(python, made)
    stores = {name: folder / name.replace(" ", "-") for name in (REAL_OURS, REAL_STOCK)}
    for path in stores.values():
        shutil.copytree(made, path)
    found = {}
    for page in PAGES:
        requests = requests_of[page]
        contenders = real_contenders(python, stores, page)
        with running(contenders[REAL_STOCK], folder / "servers.log") as stock:
            answers = [_parsed(stock.ask(request)) for request in requests]

        def check(number: int, answer: bytes, answers: list[Any] = answers) -> None:
            assert b'"errors":[{"message' not in answer, answer[:500]
            assert _parsed(answer) == answers[number], answer[:500]

        workload = Workload(requests, check)
        found[page] = rates(list(contenders.values()), workload, effort, folder)
    return found


def real_requests(python: Path, made: Path) -> dict[str, list[Request]]:
    """Create the stores in a folder, with the demo content. Returns the requests for each page,
    and for FIRST_VISIT.
    Raises BenchError if the content is not enough."""
    given = child([str(python), "-m", "bench.execution.apps.real", "prepare", str(made)])
    for page, requests in given.items():
        if not requests:
            raise BenchError(f"the demo content has no full page of the {page}")
    return {
        page: [Request(each["authorization"], each["body"].encode()) for each in requests]
        for page, requests in given.items()
    }


def _parsed(answer: bytes) -> Any:
    response: Any = json.loads(answer)
    return response


def in_process(python: Path, quick: bool) -> Inside:
    """The figures that bench/execution/inprocess.py and bench/execution/memory.py measure."""
    command = [str(python), "-m", "bench.execution.inprocess", *(["--quick"] if quick else [])]
    found: Inside = child(command)
    return {**found, "memory": child([str(python), "-m", "bench.execution.memory"])}


def child(command: Sequence[str], *, pinned: bool = True) -> Any:
    """The JSON on the last line of a child process' output. Raises BenchError."""
    core = ["taskset", "-c", SERVER_CORE] if pinned else []
    done = subprocess.run([*core, *command], capture_output=True, text=True, env=os.environ)
    if done.returncode:
        raise BenchError(f"{' '.join(command[:4])} failed:\n{done.stderr[-2500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
