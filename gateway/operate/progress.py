"""Shows the progress of long work on standard error: bars on a terminal, lines elsewhere, and a
line about what a command waits for when that takes long."""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from types import TracebackType
from typing import Any, TypeVar

from tqdm import tqdm

from datasources.waits import Waits, collected
from gateway.operate.imports.report import Progress

T = TypeVar("T")

SILENCE = 2.0
"""Seconds after which a command says what it waits for; again each time the wait has doubled."""


def _say(line: str) -> None:
    tqdm.write(line, file=sys.stderr)


@contextmanager
def reporting_waits(waits_for: str, *, say: Callable[[str], None] = _say) -> Iterator[Waits]:
    """Say what the block waits for, if it takes longer than SILENCE, with each store that has not
    answered and the cause. A thread says it, because the block may keep the event loop busy, or
    have no event loop."""
    ended = Event()

    def report() -> None:
        pause, waited = SILENCE, 0.0
        while not ended.wait(pause):
            waited += pause
            stores = waits.told()
            detail = f": {stores}" if stores else ""
            say(f"still waiting for {waits_for}, after {waited:.0f} s{detail}")
            pause = waited

    thread = Thread(target=report, name="waits", daemon=True)
    with collected() as waits:
        thread.start()
        try:
            yield waits
        finally:
            ended.set()
            thread.join()


def run_reporting_waits(work: Coroutine[Any, Any, T], waits_for: str = "the stores") -> T:
    """Run a command's work inside `reporting_waits`."""
    with reporting_waits(waits_for):
        return asyncio.run(work)


class Bars:
    """One bar for each stage. Call it with each step's Progress. Until the first step,
    `reporting_waits` says what the command waits for."""

    def __init__(
        self, waits_for: str = "the stores", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._bar: tqdm[Any] | None = None
        self._stage = ""
        self._told: Progress | None = None
        self._waits_for, self._waiting = waits_for, ExitStack()
        self._clock, self._began, self._again = clock, 0.0, SILENCE

    def __call__(self, progress: Progress) -> None:
        self._waiting.close()
        if not sys.stderr.isatty():
            self._line(progress)
            return
        if self._bar is None or progress.stage != self._stage:
            self._end()
            self._stage = progress.stage
            self._bar = tqdm(
                desc=progress.stage,
                total=progress.total,
                unit=f" {progress.unit}",
                file=sys.stderr,
            )
        if self._bar.total != progress.total:
            self._bar.total = progress.total
        self._bar.update(progress.done - self._bar.n)

    def __enter__(self) -> "Bars":
        self._waiting.enter_context(reporting_waits(self._waits_for))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._waiting.close()
        self._end()
        if error is None:
            self._write_ended()

    def _line(self, progress: Progress) -> None:
        """Without bars: write a line for a stage that has ended, and from time to time for a long
        stage."""
        now = self._clock()
        if self._told is not None and self._told.stage != progress.stage:
            self._write_ended()
        if self._told is None:
            self._began, self._again = now, SILENCE
        self._told = progress
        if now - self._began >= self._again and progress.done != progress.total:
            of = f" of {progress.total:,}" if progress.total is not None else ""
            _say(f"{progress.stage}: {progress.done:,}{of} {progress.unit} so far")
            self._again = 2 * (now - self._began)

    def _write_ended(self) -> None:
        """Without bars: write the stage that has ended."""
        told, self._told = self._told, None
        if told is not None:
            unit = told.unit.removesuffix("s") if told.done == 1 else told.unit
            print(f"{told.stage}: {told.done:,} {unit}", file=sys.stderr)

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
