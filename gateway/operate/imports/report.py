"""The report of an import: its progress, its bad lines, and the objects it loaded."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from datasources.errors import BadInput, PinwayError

KEPT = 1000  # invalid lines in a report; all are counted, and reported one by one


class Progress(NamedTuple):
    """The progress of a stage: `done` of `total` (None: unknown), counted in `unit`."""

    stage: str
    done: int
    total: int | None
    unit: str


class Bad(NamedTuple):
    """A line that was left out, completely or in the part that the message names. `kept`: the line
    was imported with a change, and is no bad line."""

    line: int
    message: str
    kept: bool = False
    unit: str = "line"  # a JSON document's bookmarks are counted instead

    def __str__(self) -> str:
        return f"{self.unit} {self.line}: {self.message}"


SOURCE = r"^[a-z0-9][a-z0-9-]{0,29}\Z"
"""The name of an import's source, or of a migration."""
SOURCE_MEANING = "a name of 1 to 30 letters a to z, digits and hyphens"
OnProgress = Callable[[Progress], None]
OnBad = Callable[[Bad], None]


def silent(progress: Progress) -> None:
    """Reports no progress."""


class ImportStopped(PinwayError):
    """A strict import found an invalid line."""

    code = "BAD_USER_INPUT"


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import. `owner` is the user name for imported bookmarks (the user is
    created if missing); `secret` makes their boards secret. `strict` stops at the first invalid
    line, before any write if the file alone shows the fault. `spool_dir` needs room for about the
    file's size. An import recognizes the objects of earlier imports whose `source` has the same
    name, or none if it has none."""

    format: str = "auto"  # or "bookmarks", "jsonl"
    owner: str | None = None
    secret: bool = False
    strict: bool = False
    feeds: bool = True
    spool_dir: str | None = None
    source: str = ""
    batch: int = 5000

    def __post_init__(self) -> None:
        """Raises BadInput for a name that a source can't have."""
        if self.source and not re.match(SOURCE, self.source):
            raise BadInput(f"the source {self.source!r} is not {SOURCE_MEANING}")


@dataclass
class ImportReport:
    """The result of an import. `loaded` counts the valid lines of each type, `new` the objects that
    the stores did not have before."""

    loaded: dict[str, int] = field(default_factory=dict)
    new: dict[str, int] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)
    bad_lines: int = 0
    changed_lines: int = 0  # imported with a change: without a date, or into another folder
    private_links: int = 0  # imported to secret boards, because the file marks them as private
    trashed_links: int = 0  # left out, because they are in the browser's trash
    feeds: int = 0  # users whose feeds were built


class Complaints:
    """Collects invalid lines in the report, and passes them to a listener. A strict import
    stops. `unit` is the word for what the lines' numbers count."""

    def __init__(
        self, report: ImportReport, strict: bool, on_bad: OnBad | None, unit: str = "line"
    ) -> None:
        self._report, self._strict, self._on_bad, self._unit = report, strict, on_bad, unit

    def place(self, line: int) -> str:
        """The place of a line, for people."""
        return f"line {line}"

    def add(self, line: int, message: str, *, kept: bool = False) -> None:
        """Report a line. Raises ImportStopped in a strict import, unless the line is kept."""
        bad = Bad(line, message, kept, self._unit)
        if kept:
            self._report.changed_lines += 1
        else:
            self._report.bad_lines += 1
        if len(self._report.bad) < KEPT:
            self._report.bad.append(bad)
        if self._strict and not kept:
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
    changed = report.changed_lines
    told = [_counted(changed, "line") + " imported with a change"] if changed else []
    if report.private_links:
        told.insert(0, _counted(report.private_links, "private link") + " on secret boards")
    if report.trashed_links:
        told.append(_counted(report.trashed_links, "link") + " in the browser's trash left out")
    bad = _counted(report.bad_lines, "bad line")
    return "; ".join([*(parts or ["nothing imported"]), *told, bad])


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"
