"""`python -m bench.abuse [--quick] [--only ATTACK ...] [--page]`: what a stranger can do to the
gateway's other clients, a table last, and bench/results/abuse.json."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.abuse import beside, dearest, documents, fuzz, page
from bench.abuse.attacks import ATTACKS, CRITICAL
from bench.abuse.site import prepare
from bench.execution.servers import BenchError
from bench.machine import machine
from bench.rows import Row, table, write

ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.abuse", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short windows, 5,000 mutants")
    parser.add_argument(
        "--only", nargs="*", metavar="TEXT", help="attacks whose names hold this, written nowhere"
    )
    parser.add_argument("--page", action="store_true", help="write the figures to bench/README.md")
    chosen = parser.parse_args()
    os.chdir(ROOT)
    try:
        if chosen.only is not None:
            only(chosen.only, quick=chosen.quick)
        else:
            run(quick=chosen.quick, to_page=chosen.page)
    except BenchError as error:
        sys.exit(f"bench.abuse: {error}")


def only(texts: list[str], *, quick: bool) -> None:
    """Some attacks alone."""
    names = [name for name in ATTACKS if any(text in name for text in texts)] or list(CRITICAL)
    effort = beside.QUICK if quick else beside.FULL
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        folder = Path(directory)
        found = beside.measure(folder, prepare(folder), names, effort)
    print(table([row for each in found for row in each.rows()]))


def run(*, quick: bool, to_page: bool) -> None:
    load = os.getloadavg()[0]
    effort = beside.QUICK if quick else beside.FULL
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        folder = Path(directory)
        prepared = prepare(folder)
        say("the dearest request")
        rows += dearest.measure(folder, prepared, dearest.QUICK if quick else dearest.FULL)
        say("documents")
        rows.append(documents.row(rounds=1 if quick else 3))
        say("mutated requests")
        rows += fuzz.measure(folder, prepared, fuzz.QUICK if quick else fuzz.FULL).rows()
        say("an honest client beside attacks")
        for each in beside.measure(folder, prepared, list(ATTACKS), effort):
            rows += each.rows()
    write("abuse", rows)
    if to_page:
        command = "python -m bench.abuse" + (" --quick" if quick else "")
        busy = f"load average {load:.1f} before the run" + (", a crowded machine" * (load > 0.5))
        page.write(rows, [f"`{command}`", f"{machine()}; {busy}"])
    print(table(rows))


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
