"""An honest client beside each attack: its p99 and worst latency, over the same without."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.abuse.attacks import ATTACKS
from bench.abuse.site import Site, site, spawn
from bench.execution.openloop import percentile
from bench.execution.servers import LOAD_CORE
from bench.rows import Row

RATE = 20.0
RATIO, WORST = 2.0, 250.0
"""The goals: of p99 with over p99 without, and of the worst in milliseconds."""


@dataclass(frozen=True)
class Effort:
    """Seconds of each window with an attack, and of each one without; `rounds` of both."""

    attack: float
    calm: float
    rounds: int


FULL, QUICK = Effort(10.0, 5.0, 3), Effort(4.0, 2.0, 1)


@dataclass
class Window:
    """The honest client's answers in some seconds. Times in seconds."""

    took: list[float]
    failed: list[str]
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
        return Window(self.took + other.took, self.failed + other.failed, slowest)


@dataclass
class Beside:
    """One attack's figures. `grown` is by how many bytes the server's memory grew."""

    name: str
    calm: Window
    attacked: Window
    answers: dict[str, int]
    grown: int

    def rows(self) -> list[Row]:
        ratio = self.attacked.p99 / self.calm.p99
        told = ", ".join(f"{answer}: {count}" for answer, count in sorted(self.answers.items()))
        details = (
            f"p50 {self.attacked.p50 * 1e3:.1f} ms over {self.calm.p50 * 1e3:.1f}, p99 "
            f"{self.attacked.p99 * 1e3:.1f} over {self.calm.p99 * 1e3:.1f}; "
            f"{len(self.attacked.failed)} failed; +{self.grown / 2**20:.0f} MiB"
        )
        return [
            Row(f"{self.name}: p99", ratio, "x", f"<= {RATIO:g}", details),
            Row(
                f"{self.name}: worst",
                self.attacked.worst * 1e3,
                "ms",
                f"<= {WORST:g}",
                f"{self.attacked.slowest[0]}; {told}",
            ),
        ]


def measure(folder: Path, prepared: Path, names: Sequence[str], effort: Effort) -> list[Beside]:
    """Each attack in turn on one site, from an address of its own."""
    found = []
    with site(prepared, folder) as one:
        path = folder / "facts.json"
        one.facts.write(path)
        _honest(path, 3.0)  # warm up
        for name in names:
            found.append(beside(one, path, name, effort))
            print(_line(found[-1]), file=sys.stderr, flush=True)
    return found


def beside(one: Site, path: Path, name: str, effort: Effort) -> Beside:
    number = list(ATTACKS).index(name)
    calm, attacked = Window([], []), Window([], [])
    answers: dict[str, int] = {}
    before, most = one.memory, 0
    for turn in range(effort.rounds):
        calm += _honest(path, effort.calm)
        address = f"127.0.{turn + 2}.{number + 2}"
        arguments = (str(path), str(number), address, str(effort.attack + 1.0))
        attacker = spawn("bench.abuse.attacking", *arguments, core=LOAD_CORE, nice=-10)
        time.sleep(1.0)  # the attack begins
        attacked += _honest(path, effort.attack - 0.5)
        most = max(most, one.memory)
        printed, _ = attacker.communicate()
        for answer, count in json.loads(printed or b"{}").items():
            answers[answer] = answers.get(answer, 0) + count
        time.sleep(0.5)  # what is left of it ends
    return Beside(name, calm, attacked, answers, most - before)


def _honest(path: Path, seconds: float) -> Window:
    process = spawn(
        "bench.abuse.honest", str(path), str(RATE), str(seconds), core=LOAD_CORE, nice=-20
    )
    printed, _ = process.communicate()
    found: dict[str, Any] = json.loads(printed)
    return Window(found["took"], found["failed"], tuple(found["slowest"]))


def _line(each: Beside) -> str:
    first, second = each.rows()
    failed = f" FAILED {each.attacked.failed[0][:150]}" if each.attacked.failed else ""
    return (
        f"{each.name:42} {first.value:7.2f} x {second.value:8.1f} ms  {first.versus}; "
        f"{second.versus}{failed}"
    )
