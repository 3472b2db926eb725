"""`python -m bench.abuse [--quick] [--parts PART ...] [--only ATTACK ...] [--page]`: what an
attacker can do to the gateway's other clients. Prints a table at the end, and writes
bench/results/abuse.json."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.abuse import comparison, dearest, documents, fuzz, page, peers
from bench.abuse.attacks import ATTACKS, CRITICAL
from bench.abuse.site import prepare
from bench.execution.servers import BenchError
from bench.machine import machine
from bench.rows import Row, replace, table

ROOT = Path(__file__).parents[2]
PARTS = {
    "documents": ("documents: ",),
    "dearest": ("dearest ",),
    "mutants": ("mutants: ",),
    "beside": ("beside: ",),
    "peers": tuple(peers.NAMES.values()),
}
"""The parts of the benchmark, and the first words of each part's measures."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.abuse", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="short windows, 5,000 mutants; writes no file"
    )
    parser.add_argument(
        "--parts", nargs="*", choices=PARTS, default=[*PARTS], help="these parts; keep the others"
    )
    parser.add_argument(
        "--only", nargs="*", metavar="TEXT", help="attacks whose names hold this, writes no file"
    )
    parser.add_argument(
        "--page", action="store_true", help="write the figures to bench/abuse/README.md"
    )
    chosen = parser.parse_args()
    os.chdir(ROOT)
    try:
        if chosen.only is not None:
            only(chosen.only, quick=chosen.quick)
        else:
            run(chosen.parts, quick=chosen.quick, to_page=chosen.page)
    except BenchError as error:
        sys.exit(f"bench.abuse: {error}")


def only(texts: list[str], *, quick: bool) -> None:
    """Run only these attacks."""
    names = [name for name in ATTACKS if any(text in name for text in texts)] or list(CRITICAL)
    effort = comparison.QUICK if quick else comparison.FULL
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        folder = Path(directory)
        print(table(comparison.measure(folder, prepare(folder), names, effort)))


def run(parts: list[str], *, quick: bool, to_page: bool) -> None:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        folder = Path(directory)
        prepared = prepare(folder)
        effort = comparison.QUICK if quick else comparison.FULL
        measures: dict[str, Callable[[], list[Row]]] = {
            "documents": lambda: [documents.row(rounds=1 if quick else 3)],
            "dearest": lambda: dearest.measure(
                folder, prepared, dearest.QUICK if quick else dearest.FULL
            ),
            "mutants": lambda: fuzz.measure(
                folder, prepared, fuzz.QUICK if quick else fuzz.FULL
            ).rows(),
            "beside": lambda: comparison.measure(folder, prepared, list(ATTACKS), effort),
            "peers": lambda: peers.measure(folder, effort),
        }
        for part in (part for part in PARTS if part in parts):
            load = os.getloadavg()[0]
            print(f"{part} (load average {load:.1f})", file=sys.stderr, flush=True)
            found = measures[part]()
            rows += found
            if quick:  # the figures of a quick run are not kept
                continue
            kept = replace("abuse", PARTS[part], found)
            if to_page:
                command = f"python -m bench.abuse --parts {part}"
                page.write(kept, part, f"`{command}`: {machine()}; load average {load:.1f} before")
    print(table(rows))


if __name__ == "__main__":
    main()
