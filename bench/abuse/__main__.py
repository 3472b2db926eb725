"""`python -m bench.abuse [--quick] [--only ATTACK ...] [--page]`: what a stranger can do to the
gateway's other clients, a table last, and bench/results/abuse.json."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.abuse import beside
from bench.abuse.attacks import ATTACKS, CRITICAL
from bench.execution.servers import BenchError
from bench.rows import Row, table, write

ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.abuse", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the critical attacks, short")
    parser.add_argument(
        "--only", nargs="*", metavar="TEXT", help="attacks whose names hold this, written nowhere"
    )
    chosen = parser.parse_args()
    os.chdir(ROOT)
    try:
        run(quick=chosen.quick, only=chosen.only)
    except BenchError as error:
        sys.exit(f"bench.abuse: {error}")


def run(*, quick: bool, only: list[str] | None) -> None:
    names = list(CRITICAL) if quick else list(ATTACKS)
    if only is not None:
        names = [name for name in ATTACKS if any(text in name for text in only)] or list(ATTACKS)
    effort = beside.QUICK if quick else beside.FULL
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        for each in beside.measure(Path(directory), names, effort):
            rows += each.rows()
    print(table(rows))
    if only is None:
        write("abuse", rows)


if __name__ == "__main__":
    main()
