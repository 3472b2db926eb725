"""The report of an import: its progress, its bad lines, and the objects it loaded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from datasources.errors import PinwayError

KEPT = 1000  # bad lines kept in a report; all are counted, and told one by one as they are found


class Progress(NamedTuple):
    """How far a stage is: `done` of `total` (None: not known), counted in `unit`."""

    stage: str
    done: int
    total: int | None
    unit: str


class Bad(NamedTuple):
    """A line that was left out, wholly or in the part that the message names."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


OnProgress = Callable[[Progress], None]
OnBad = Callable[[Bad], None]


def silent(progress: Progress) -> None:
    """Reports no progress."""


class ImportStopped(PinwayError):
    """A strict import met a bad line."""

    code = "BAD_USER_INPUT"


@dataclass(frozen=True)
class ImportOptions:
    """`owner` is the user name that bookmarks are imported as (its user is made if there is none);
    `secret` keeps their boards secret. `strict` stops at the first bad line, before anything is
    written where the file alone shows the fault. `spool_dir` has room for about the file's size."""

    format: str = "auto"  # or "bookmarks", "jsonl"
    owner: str | None = None
    secret: bool = False
    strict: bool = False
    feeds: bool = True
    spool_dir: str | None = None
    batch: int = 5000


@dataclass
class ImportReport:
    """`loaded` counts the good lines of each type, `new` the objects that were not in the stores
    before this run."""

    loaded: dict[str, int] = field(default_factory=dict)
    new: dict[str, int] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)
    bad_lines: int = 0
    feeds: int = 0  # users whose feeds were built


class Complaints:
    """Collects bad lines in the report and passes them to a listener; a strict import stops."""

    def __init__(self, report: ImportReport, strict: bool, on_bad: OnBad | None) -> None:
        self._report, self._strict, self._on_bad = report, strict, on_bad

    def add(self, line: int, message: str) -> None:
        """Raises ImportStopped in a strict import."""
        bad = Bad(line, message)
        self._report.bad_lines += 1
        if len(self._report.bad) < KEPT:
            self._report.bad.append(bad)
        if self._strict:
            raise ImportStopped(str(bad))
        if self._on_bad is not None:
            self._on_bad(bad)


def summary(report: ImportReport) -> str:
    """The summary of an import in one line: "new: 1 user, 3 boards; already there: 2 boards"."""
    there = {kind: count - report.new.get(kind, 0) for kind, count in report.loaded.items()}
    parts = [
        f"{title}: {', '.join(counted)}"
        for title, counts in (("new", report.new), ("already there", there))
        if (counted := [_counted(n, kind) for kind, n in counts.items() if n > 0])
    ]
    return "; ".join([*(parts or ["nothing imported"]), _counted(report.bad_lines, "bad line")])


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"
