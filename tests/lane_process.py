"""One lane's process: pytest on the lane's files, what it tells while it runs, and its end."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests import lanes

ROOT = Path(__file__).parents[1]
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.lane_report")
GRACE = 60.0
"""Seconds in which a lane that was interrupted stops its servers."""
END = 600.0
"""Seconds in which a lane's process ends after its last test."""


@dataclass
class Cost:
    """The seconds that a file's tests took, and the processor's, without servers that still run."""

    seconds: float = 0.0
    processor: float = 0.0


@dataclass
class Outcome:
    """The tests of a lane by outcome, and the failed tests with their reasons."""

    ended: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    files: dict[str, Cost] = field(default_factory=dict)
    processor: float = 0.0
    finished: bool = False
    running: str | None = None
    """The test that has begun and not ended."""

    def take(self, line: bytes) -> str | None:
        """Take in a line of tests/lane_report.py. Returns its failure, if it has one."""
        told = json.loads(line)
        if "failed" in told:
            self.failed.append(f"{told['failed']}: {told['why']}")
            return self.failed[-1]
        if "began" in told:
            self.running = told["began"]
        elif "ended" in told:
            self.running = None
            self.ended[told["how"]] += 1
            cost = self.files.setdefault(told["ended"].partition("::")[0], Cost())
            cost.seconds += told["seconds"]
            cost.processor += told["processor"]
        else:
            self.finished, self.processor = True, told["processor"]
        return None


class Lane:
    """A lane that runs. `output` has all that pytest prints."""

    def __init__(
        self, name: str, arguments: list[str], output: Path, environment: dict[str, str]
    ) -> None:
        self.name, self.output, self.outcome = name, output, Outcome()
        self._pipe, told = os.pipe()
        with output.open("wb") as printed:
            self._process = subprocess.Popen(
                [*PYTEST, "--tell", str(told), *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                pass_fds=[told],
                start_new_session=True,
            )
        os.close(told)

    def follow(self, failed: Callable[[str], None]) -> Outcome:
        """Return when the process has ended. A failure is passed on as soon as it is told."""
        with os.fdopen(self._pipe, "rb") as lines:
            while not self.outcome.finished and (line := lines.readline()):
                if failure := self.outcome.take(line):
                    failed(failure)
        if self.outcome.finished:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END)
        if not self.outcome.finished or self._process.poll() is None:
            self.end()  # not always: servers of a lane may serve the next lane
        status = self._process.wait()
        if status not in (0, 1) or not self.outcome.ended or not self.outcome.finished:
            where = f", while {self.outcome.running} ran" if self.outcome.running else ""
            told = f"the lane {self.name} ended with status {status}{where}"
            self.outcome.failed.append(told)
            self.outcome.ended["failed"] += 1
            failed(told)
        return self.outcome

    def interrupt(self) -> None:
        """Ask the lane to end its tests and its servers."""
        self._signal(signal.SIGINT)

    def end(self, grace: float = GRACE) -> None:
        """Wait for the end of the lane's process; then end its whole process group."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def arguments(lane: str) -> list[str]:
    """The arguments with which pytest runs a lane."""
    return ["--lane", lane, *(str(path.relative_to(ROOT)) for path in lanes.files(lane))]


def environment(**more: str) -> dict[str, str]:
    """The environment of lanes. All processes below them keep their bytecode beside the sources,
    because a gateway without it takes three times as long to start."""
    own = {**os.environ, **more}
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    return own
