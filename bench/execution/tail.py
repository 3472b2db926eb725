"""Latencies at Poisson arrivals, at a share of what a server can answer at that moment.

The share can be defined in two ways. A request takes more CPU time if the server slept before it
than if the next request is already waiting: on a virtual machine, by a fifth or more. So a server
that is busy for 70% of the time (the load at which an ideal server has a p99 / p50 of 4.3) answers
fewer requests than 70% of what it answers when it never sleeps. Both are measured.
"""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.execution import wrk
from bench.execution.measures import Effort, child, say
from bench.execution.openloop import Second
from bench.execution.requests import Workload
from bench.execution.servers import LOAD_CORE, Contender, Server, ahead_of_others, running

SECONDS = 4  # of arrivals in a round
STOLEN = 0.01  # share of a second, at most: the requests that wait for it are the slowest hundredth


@dataclass(frozen=True)
class Tail:
    """The median second by p99 / p50, among the seconds that count."""

    middle: Second

    @property
    def ratio(self) -> float:
        return self.middle.p99 / self.middle.p50


@dataclass(frozen=True)
class Tails:
    """The tails of a contender: when it is busy for a share of the time, and at this share of the
    requests that it answers when it never sleeps."""

    of_time: Tail
    of_requests: Tail


def tails(
    contenders: Sequence[Contender], workload: Workload, share: float, effort: Effort, folder: Path
) -> dict[str, Tails]:
    """Load the contenders in turn, round by round."""
    requests = folder / "requests.txt"
    workload.write(requests)
    before = ahead_of_others()
    of_time: dict[str, list[Second]] = {each.name: [] for each in contenders}
    of_requests: dict[str, list[Second]] = {each.name: [] for each in contenders}
    with ExitStack() as stack:
        servers = {
            each.name: stack.enter_context(running(each, folder / "servers.log", before))
            for each in contenders
        }
        for server in servers.values():
            wrk.load(server, requests, effort.warmup, before)
        for number in range(effort.rounds):
            for name, server in servers.items():
                of_time[name] += _arrivals(server, requests, share, before)
                busy = share * dearer(of_time[name])
                of_requests[name] += _arrivals(server, requests, busy, before)
                found = _tails(of_time[name], of_requests[name])
                say(
                    f"round {number + 1}: {name}: p99 / p50 {found.of_time.ratio:.2f} "
                    f"and {found.of_requests.ratio:.2f}"
                )
    return {name: _tails(of_time[name], of_requests[name]) for name in servers}


def dearer(seconds: Sequence[Second]) -> float:
    """How much more CPU time a request took than on a saturated server."""
    return sum(each.cost for each in seconds) / sum(each.saturated for each in seconds)


def _arrivals(server: Server, requests: Path, busy: float, before: Sequence[str]) -> list[Second]:
    command = [
        *(*before, "taskset", "-c", LOAD_CORE, sys.executable, "-m", "bench.execution.openloop"),
        *(str(server.port), str(server.process.pid), str(requests), str(busy), str(SECONDS)),
    ]
    return [Second(**each) for each in child(command, pinned=False)]


def _tails(of_time: Sequence[Second], of_requests: Sequence[Second]) -> Tails:
    return Tails(Tail(middle(of_time)), Tail(middle(of_requests)))


def middle(seconds: Sequence[Second]) -> Second:
    """The median of the seconds without stolen time; of all seconds, if fewer than half are
    without."""
    there = [each for each in seconds if each.stolen <= STOLEN]
    chosen = there if 2 * len(there) >= len(seconds) else seconds
    by_ratio = sorted(chosen, key=lambda each: each.p99 / each.p50)
    return by_ratio[len(by_ratio) // 2]
