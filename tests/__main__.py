"""`make test`: the whole suite in two parts, with one summary of both parts on the last line.

First come the tests that may share the machine, on several workers; then the tests marked `alone`,
one after the other. `make test ARGS="..."` runs pytest itself.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from tests.lanes import WORKERS

PARTS = {
    f"the tests that may share the machine, on {WORKERS} workers": (
        *("-m", "not alone", "-n", str(WORKERS), "--dist", "loadscope", "--no-loadscope-reorder"),
    ),
    "the tests that have the machine to themselves": ("-m", "alone"),
}
NEEDED = 6
"""GB of temporary files that the suite writes, with room to spare."""
_KINDS = {"failure": "failed", "error": "failed", "skipped": "skipped"}


def run(options: Iterable[str], report: Path) -> tuple[int, Counter[str], list[str]]:
    """Run pytest. Returns its exit status, the number of tests by outcome, and the names of the
    failed tests."""
    command = (sys.executable, "-m", "pytest", *options, f"--junitxml={report}")
    status = subprocess.run(command, check=False).returncode
    if not report.exists():
        return status or 1, Counter(failed=1), [f"pytest ended with status {status}, without tests"]
    return (status, *read(report))


def read(report: Path) -> tuple[Counter[str], list[str]]:
    """The number of tests by outcome in a JUnit report, and the names of the failed tests."""
    ended, failed = Counter[str](), []
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {_KINDS[child.tag] for child in case if child.tag in _KINDS}
        kind = min(kinds, default="passed")  # a failed test is not a skipped test, too
        ended[kind] += 1
        if kind == "failed":
            failed.append(f"{case.get('classname')}::{case.get('name')}{_reason(case)}")
    return ended, failed


def _reason(case: ElementTree.Element) -> str:
    """ ": " and the first line of a failed test's message; or an empty text."""
    said = [child.get("message") for child in case if _KINDS.get(child.tag) == "failed"]
    line = next((message.splitlines()[0] for message in said if message), "")
    return f": {line[:200]}" if line else ""


def summary(ended: Counter[str]) -> str:
    """The last line: "5 passed, 0 failed", with the skipped tests if there are any."""
    kinds = ["passed", "failed", *(["skipped"] if ended["skipped"] else [])]
    return ", ".join(f"{ended[kind]} {kind}" for kind in kinds)


def main() -> int:
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < NEEDED * 1e9:
        print(
            f"{tempfile.gettempdir()} has {free / 1e9:.1f} GB free, and the tests need {NEEDED} GB:"
            " delete files there, or name another directory in TMPDIR."
        )
        return 1
    started, statuses, ended, failed = time.monotonic(), [], Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, options) in enumerate(PARTS.items(), 1):
            print(f"\nPart {number} of {len(PARTS)}: {title}\n", flush=True)
            status, kinds, names = run(options, Path(folder) / f"{number}.xml")
            statuses.append(status)
            ended += kinds
            failed += names
    print(f"\nBoth parts took {time.monotonic() - started:.0f} s.")
    for name in failed:
        print(f"FAILED {name}")
    print(summary(ended), flush=True)
    return max(statuses, key=abs)  # a part killed by a signal has a negative status


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    sys.exit(main())
