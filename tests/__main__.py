"""`make test`: the whole suite, in lanes that run side by side (tests/lanes.py). `make test-all`
also runs what takes long, with new random seeds. `make test ARGS="..."` runs pytest itself.

A failed test is named when it fails, and its lane's report follows when the lane has ended. The
last lines name the files that took longest and all failed tests, and count the tests.
"""

import argparse
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.demo import FOLDER
from tests.lane_process import Lane, Outcome, arguments, environment
from tests.lanes import LANES, LAST, ON_ONE_STACK
from tests.scale import ALL, SEED
from tests.servers import STACK, stop

WORKERS = 3 * (os.cpu_count() or 1)  # a lane with real servers mostly waits
SLOWEST = 30
NEEDED = 6
"""GB of temporary files that the suite writes, with room to spare."""
MEMORY = Path("/dev/shm")
"""A file system in memory, where Linux has one. A disk makes the suite twice as slow: stores wait
for it in each transaction."""
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Suite:
    """Runs lanes, at most WORKERS at once, and tells what happens in them."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder, self._variables = folder, variables
        self._changed = threading.Condition()
        self._running = set[Lane]()
        self._stopped = False
        self.outcomes = dict[str, Outcome]()

    def run(self, names: Iterable[str]) -> None:
        """Run lanes in this order, but at most one lane of ON_ONE_STACK at a time. Returns when all
        have ended."""
        waiting = list(names)
        workers = [
            threading.Thread(target=self._work, args=[waiting], daemon=True) for _ in range(WORKERS)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def stop(self) -> None:
        """Interrupt the lanes that run. Returns when all of their processes have ended."""
        with self._changed:
            self._stopped = True
            running = list(self._running)
            self._changed.notify_all()
        for lane in running:
            lane.interrupt()
        for lane in running:
            lane.end()

    def stop_servers(self) -> None:
        """Stop the servers that lanes have left to each other."""
        stop(self._folder / "stack")

    def _work(self, waiting: list[str]) -> None:
        while (lane := self._next(waiting)) is not None:
            began = time.monotonic()
            outcome = lane.follow(self._tell_failure)
            with self._changed:
                self._running.discard(lane)
                self._changed.notify_all()
                if self._stopped:
                    return
                self.outcomes[lane.name] = outcome
            report = lane.output.read_text(errors="replace") if outcome.failed else ""
            took = f"{time.monotonic() - began:.0f} s, {outcome.processor:.0f} s of processor time"
            say(f"{report}{lane.name}: {summary(outcome.ended)}; {took}")

    def _tell_failure(self, failure: str) -> None:
        if not self._stopped:  # otherwise the interruption is the reason
            say(f"FAILED {failure}")

    def _next(self, waiting: list[str]) -> Lane | None:
        """Start the next lane, if there is one. If it must wait for another, wait."""
        with self._changed:
            while waiting and not self._stopped and not any(map(self._may_start, waiting)):
                self._changed.wait()
            if self._stopped or not waiting:
                return None
            name = next(filter(self._may_start, waiting))
            waiting.remove(name)
            output = self._folder / f"{name}.txt"
            variables = {**self._variables, FOLDER: str(self._folder / "demo")}
            if name in ON_ONE_STACK and STACK not in os.environ:
                variables[STACK] = str(self._folder / "stack")
            lane = Lane(name, arguments(name), output, environment(**variables))
            self._running.add(lane)
            return lane

    def _may_start(self, name: str) -> bool:
        used = ON_ONE_STACK & {lane.name for lane in self._running}
        return name not in ON_ONE_STACK or not used


def say(text: str) -> None:
    print(text, flush=True)


def summary(ended: Counter[str]) -> str:
    """ "5 passed, 0 failed", with the skipped tests if there are any."""
    kinds = ["passed", "failed", *(["skipped"] if ended["skipped"] else [])]
    return ", ".join(f"{ended[kind]} {kind}" for kind in kinds)


def slowest(outcomes: Iterable[Outcome], most: int = SLOWEST) -> list[str]:
    """The files that took longest, with their seconds."""
    costs = sorted(
        ((cost, name) for outcome in outcomes for name, cost in outcome.files.items()),
        key=lambda found: -found[0].seconds,
    )
    return [
        f"{cost.seconds:7.1f} s {cost.processor:7.1f} s of processor time  {name}"
        for cost, name in costs[:most]
    ]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests", description=__doc__)
    parser.add_argument("--all", action="store_true", help="also what takes long, with new seeds")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of the random tests of --all")
    parser.add_argument("--slowest", type=int, default=SLOWEST, help="files that the end names")
    parser.add_argument("lanes", nargs="*", metavar="lane", help=f"of {', '.join(LANES)}")
    asked = parser.parse_args(words)
    if unknown := set(asked.lanes) - LANES.keys():
        parser.error(f"there is no lane {', '.join(sorted(unknown))}: choose of {', '.join(LANES)}")
    if "TMPDIR" not in os.environ and memory_has_room():
        tempfile.tempdir = str(MEMORY)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < NEEDED * 1e9:
        say(
            f"{tempfile.gettempdir()} has {free / 1e9:.1f} GB free, and the tests need {NEEDED} GB:"
            " delete files there, or name another directory in TMPDIR."
        )
        return 1
    variables = {"TMPDIR": tempfile.gettempdir()}
    if asked.all:
        variables |= {ALL: "1", SEED: asked.seed}
        say(f"The random tests have the seed {asked.seed} (`python -m tests --all --seed`).")
    with tempfile.TemporaryDirectory(prefix="pinway-tests-") as folder:
        suite = Suite(Path(folder), **variables)
        return run(suite, asked.lanes or list(LANES), asked.slowest)


def memory_has_room() -> bool:
    """Whether the temporary files fit into memory, twice."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
        free = shutil.disk_usage(MEMORY).free
    except (OSError, StopIteration):
        return False
    return os.access(MEMORY, os.W_OK) and min(available * 1024, free) > 2 * NEEDED * 1e9


def run(suite: Suite, lanes: list[str], most: int = SLOWEST) -> int:
    """Run lanes, and tell how they ended, with the slowest files. Returns the exit status."""
    began, status = time.monotonic(), 0
    try:
        suite.run(lane for lane in lanes if lane != LAST)
        suite.run(lane for lane in lanes if lane == LAST)
    except KeyboardInterrupt:
        ignore_interrupts()
        say("stopped: ending what runs")
        suite.stop()
        status = 130
    finally:
        suite.stop_servers()
    outcomes = list(suite.outcomes.values())
    ended = sum((outcome.ended for outcome in outcomes), Counter[str]())
    say("\nThe files that took longest:")
    for line in slowest(outcomes, most):
        say(line)
    processor = sum(outcome.processor for outcome in outcomes)
    say(f"\n{time.monotonic() - began:.0f} s, {processor:.0f} s of processor time.")
    for outcome in outcomes:
        for failure in outcome.failed:
            say(f"FAILED {failure}")
    say(summary(ended))
    return status or int(ended["failed"] > 0)


def heed_interrupts() -> None:
    """Let Ctrl-C and the like end the suite. A shell that isn't interactive starts its background
    jobs with SIGINT ignored, and Python and its children would go on ignoring it."""
    for number in INTERRUPTS:
        signal.signal(number, signal.default_int_handler)


def ignore_interrupts() -> None:
    """Let nothing interrupt the end of the lanes."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    heed_interrupts()
    sys.exit(main())
