"""What an import tells about itself: how far it is, which lines were bad, what it loaded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from datasources.errors import PinwayError

KEPT = 1000  # bad lines kept in a report; all are counted, and told one by one as they are found


class Progress(NamedTuple):
    """`done` of `total` (None: not known) in a stage; `unit` is what they count."""

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
    """`loaded` counts the lines of each type that are in the stores now, new or from before."""

    loaded: dict[str, int] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)
    bad_lines: int = 0
    feeds: int = 0  # users whose feeds were built


class Complaints:
    """Where bad lines go: into the report and to whoever listens, or, strictly, up."""

    def __init__(self, report: ImportReport, strict: bool, on_bad: OnBad | None) -> None:
        self._report, self._strict, self._on_bad = report, strict, on_bad

    def add(self, line: int, message: str) -> None:
        """Raises ImportStopped in a strict import."""
        bad = Bad(line, message)
        self._report.bad_lines += 1
        if len(self._report.bad) < KEPT:
            self._report.bad.append(bad)
        if self._on_bad is not None:
            self._on_bad(bad)
        if self._strict:
            raise ImportStopped(str(bad))
