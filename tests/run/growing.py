"""The blocks of docs/how-to/grow.md, and how each is applied to a copy of the sources."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.pinway_process import ROOT

PAGE = ROOT / "docs" / "how-to" / "grow.md"
NEW_FILE = "# New file: "
CHANGED = "--- "
ELSEWHERE = "@@"
_PARTS = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```(?:diff|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of the page: a new file or, if not `new`, places of a file that change. `step` is the
    heading that the block is under."""

    step: str
    path: str
    new: bool
    lines: Sequence[str]

    def marked(self, mark: str) -> int:
        """The number of lines with a mark: "+" or "-"."""
        if self.new:
            return len(self.lines) if mark == "+" else 0
        return sum(line.startswith(mark) for line in self.lines)


def blocks(page: str) -> list[Block]:
    """The blocks of the page, in order. Raises ValueError for a block that names no file."""
    return [
        _block(step, text) for step, part in _PARTS.findall(page) for text in _BLOCK.findall(part)
    ]


def _block(step: str, text: str) -> Block:
    first, *lines = text.splitlines()
    for mark in (NEW_FILE, CHANGED):
        if first.startswith(mark):
            return Block(step, first.removeprefix(mark), mark == NEW_FILE, lines)
    raise ValueError(f"a block names no file: {first!r}")


def table(given: Sequence[Block]) -> str:
    """The page's table: what each step touches."""
    rows = [
        "| step | files changed | new files | lines added | lines removed |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for step in dict.fromkeys(block.step for block in given):
        some = [block for block in given if block.step == step]
        new, added, removed = (
            sum(block.new for block in some),
            *(sum(block.marked(mark) for block in some) for mark in "+-"),
        )
        rows.append(f"| {step} | {len(some) - new} | {new} | {added} | {removed} |")
    return "\n".join(rows)


def copy_sources(folder: Path) -> None:
    """Copy the files that Git knows: sources only, nothing compiled."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def apply(given: Iterable[Block], folder: Path) -> None:
    """Apply blocks in order. Raises ValueError for a block that does not fit."""
    for block in given:
        path = folder / block.path
        if block.new != (not path.exists()):
            raise ValueError(f"{block.path} {'exists already' if block.new else 'is missing'}")
        if block.new:
            path.write_text("".join(f"{line}\n" for line in block.lines))
        else:
            path.write_text(changed(path.read_text(), block))


def changed(text: str, block: Block) -> str:
    """The text of a file after the block's changes. Raises ValueError for a place that the file
    does not have exactly once."""
    for place in "\n".join(block.lines).split(f"\n{ELSEWHERE}\n"):
        lines = place.split("\n")
        before, whole = _without(lines, "+"), f"\n{text}"
        at = whole.find(before)
        if at < 0 or whole.find(before, at + 1) >= 0:
            raise ValueError(f"{block.path} does not have these lines exactly once:\n{before}")
        text = whole.replace(before, _without(lines, "-"))[1:]
    return text


def _without(lines: Sequence[str], mark: str) -> str:
    """The lines of a place, each after a line break, without the lines with this mark."""
    return "".join(f"\n{line[1:]}" for line in lines if not line.startswith(mark)) + "\n"
