"""An honest client during each attack: its p99 and worst latency, compared with times without
attack."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.abuse.attacks import ATTACKS
from bench.abuse.site import Site, site, spawn
from bench.execution.openloop import percentile
from bench.execution.servers import LOAD_CORE, ahead_of_others
from bench.rows import Row

RATIO, WORST = 2.0, 250.0
"""The goals: p99 during the attack divided by p99 without, and the worst latency in
milliseconds."""
A_SITE = 10
"""Attacks on one site. Home feeds take longer after each visit of a viewer, because more pins were
shown. If one site had all attacks, the honest clients would become the load."""


@dataclass(frozen=True)
class Effort:
    """Seconds of each window with an attack; seconds without one, for each attack and before the
    first one on a site; `rounds` of both; the honest client's requests a second, at most."""

    attack: float
    calm: float
    rounds: int
    rate: float


FULL, QUICK = Effort(6.0, 1.5, 1, 50.0), Effort(3.0, 1.0, 1, 30.0)
HONEST_SHARE = 0.3
"""The share of the server's core that the honest client uses at most. On a slow machine, 50
requests a second would be an attack themselves."""
SLOW_RATE = 5.0
"""The honest client's requests a second while their processor time is measured."""


@dataclass
class Window:
    """The honest client's answers in one window. Times are in seconds."""

    took: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    """By how much the client began each request after it was due."""
    failed: list[str] = field(default_factory=list)
    slowest: tuple[str, float] = ("", 0.0)

    @property
    def p50(self) -> float:
        return percentile(self.took, 0.5)

    @property
    def p99(self) -> float:
        return percentile(self.took, 0.99)

    @property
    def worst(self) -> float:
        return max(self.took)

    def __add__(self, other: Window) -> Window:
        slowest = max(self.slowest, other.slowest, key=lambda each: each[1])
        return Window(
            self.took + other.took, self.late + other.late, self.failed + other.failed, slowest
        )


@dataclass
class Beside:
    """One attack's figures. `grown`: the growth of the server's memory in bytes."""

    name: str
    attacked: Window
    answers: dict[str, int]
    grown: int

    def rows(self, calm: Window, prefix: str, *, judged: bool) -> list[Row]:
        ratio = self.attacked.p99 / calm.p99
        told = ", ".join(f"{answer}: {count}" for answer, count in sorted(self.answers.items()))
        details = (
            f"p50 {self.attacked.p50 * 1e3:.1f} ms over {calm.p50 * 1e3:.1f}, p99 "
            f"{self.attacked.p99 * 1e3:.1f} over {calm.p99 * 1e3:.1f}; "
            f"client late by {percentile(self.attacked.late, 0.99) * 1e3:.1f} (p99); "
            f"{len(self.attacked.failed)} failed; +{self.grown / 2**20:.0f} MiB"
        )
        goals = (f"<= {RATIO:g}", f"<= {WORST:g}") if judged else ("", "")
        worst = f"{self.attacked.slowest[0]}; {told}"
        return [
            Row(f"{prefix}{self.name}: p99", ratio, "x", goals[0], details),
            Row(f"{prefix}{self.name}: worst", self.attacked.worst * 1e3, "ms", goals[1], worst),
        ]


@dataclass
class Course:
    """Attacks in turn, each from an address of its own. `environment` is the clients' environment.
    The windows before the first attack on each site give the latencies without an attack."""

    path: Path
    effort: Effort
    environment: Mapping[str, str] = field(default_factory=dict)
    calm: Window = field(default_factory=Window)
    found: list[Beside] = field(default_factory=list)
    rate: float = SLOW_RATE
    """The honest client's requests a second."""
    a_request: float = 0.0
    """The processor time of an honest request without an attack, in seconds."""
    _windows: int = 0

    def run(self, one: Site, names: Sequence[str]) -> None:
        """Attack a site."""
        one.facts.write(self.path)
        self._honest(2.0)  # warm up
        if not self.a_request:
            self._choose_rate(one)
        # before the first attack: jobs of an attack that writes continue after it
        self.calm += self._honest(self.effort.calm * self.effort.rounds * len(names))
        for name in names:
            self._beside(one, name)

    def rows(self, prefix: str, *, judged: bool = True) -> list[Row]:
        if not self.found:
            return []
        rows = [row for each in self.found for row in each.rows(self.calm, prefix, judged=judged)]
        ratios, worst = rows[::2], rows[1::2]
        most, longest = (max(each, key=lambda row: row.value) for each in (ratios, worst))
        many = f"{prefix}all {len(self.found)} attacks"
        return [
            Row(f"{many}: largest p99", most.value, "x", most.goal, most.measure),
            Row(f"{many}: worst", longest.value, "ms", longest.goal, longest.measure),
            Row(
                f"{prefix}an honest request without an attack: processor time",
                self.a_request * 1e3,
                "ms",
                versus=f"{self.rate:.1f} requests a second",
            ),
            *rows,
        ]

    def _choose_rate(self, one: Site) -> None:
        """Measure an honest request, and choose the rate of all further windows."""
        before = one.processor_time
        asked = len(self._honest(8.0).took)
        self.a_request = (one.processor_time - before) / asked
        self.rate = min(self.effort.rate, HONEST_SHARE / self.a_request)

    def _beside(self, one: Site, name: str) -> None:
        effort, number = self.effort, list(ATTACKS).index(name)
        attacked, answers = Window(), dict[str, int]()
        before, most = one.memory, 0
        for turn in range(effort.rounds):
            address = f"127.0.{turn + 2}.{number + 2}"
            arguments = (str(self.path), str(number), address, str(effort.attack + 1.0))
            attacker = self._spawn("bench.abuse.attacker_process", *arguments, nice=-10)
            time.sleep(1.0)  # the attack begins
            attacked += self._honest(effort.attack - 0.5)
            most = max(most, one.memory)
            printed, _ = attacker.communicate()
            for answer, count in json.loads(printed or b"{}").items():
                answers[answer] = answers.get(answer, 0) + count
            time.sleep(0.5)  # the rest of the attack ends
        self.found.append(Beside(name, attacked, answers, most - before))
        first, second = self.found[-1].rows(self.calm, "", judged=True)
        failed = f" FAILED {attacked.failed[0][:150]}" if attacked.failed else ""
        print(
            f"{name:42} {first.value:7.2f} x {second.value:8.1f} ms  {first.versus}; "
            f"{second.versus}{failed}",
            file=sys.stderr,
            flush=True,
        )

    def _honest(self, seconds: float) -> Window:
        self._windows += 1  # other viewers in each window
        arguments = (str(self.path), str(self.rate), str(seconds), str(self._windows))
        process = self._spawn("bench.abuse.honest", *arguments, nice=-20)
        printed, _ = process.communicate()
        found: dict[str, Any] = json.loads(printed)
        return Window(found["took"], found["late"], found["failed"], tuple(found["slowest"]))

    def _spawn(self, module: str, *arguments: str, nice: int) -> Any:
        environment = {**os.environ, **self.environment}
        return spawn(module, *arguments, core=LOAD_CORE, nice=nice, environment=environment)


def measure(folder: Path, prepared: Path, names: Sequence[str], effort: Effort) -> list[Row]:
    """The figures of the gateway under each attack."""
    course = Course(folder / "facts.json", effort)
    for first in range(0, len(names), A_SITE):
        with site(prepared, folder, ahead_of_others()) as one:
            course.run(one, names[first : first + A_SITE])
    return course.rows("beside: ")
