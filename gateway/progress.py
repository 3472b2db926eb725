"""Progress of long work on standard error: bars on a terminal, else a line for each stage."""

import sys
from types import TracebackType
from typing import Any

from tqdm import tqdm

from gateway.importing.report import Progress


class Bars:
    """One bar a stage; call it with each step's Progress."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._stage = ""
        self._told: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        if not sys.stderr.isatty():
            if self._told is not None and self._told.stage != progress.stage:
                self._tell()
            self._told = progress
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
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        if error is None:
            self._tell()

    def _tell(self) -> None:
        """Write the stage that has ended, where there are no bars."""
        told, self._told = self._told, None
        if told is not None:
            unit = told.unit.removesuffix("s") if told.done == 1 else told.unit
            print(f"{told.stage}: {told.done:,} {unit}", file=sys.stderr)

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
