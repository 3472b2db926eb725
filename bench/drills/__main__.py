"""`python -m bench.drills [--quick]`: all drills, a table last; plots and table in bench/drills."""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.drills import report
from bench.drills.faults import DRILLS, Drill
from bench.drills.run import all_is_well, run
from bench.drills.site import open_site, settle
from bench.rows import Row, markdown, table, write
from deploy.stack import Stack

HERE = Path(__file__).parent
FULL, QUICK = (120.0, 20_040), (20.0, 400)  # requests a second, and a drill


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few hundred requests a drill")
    parser.add_argument("--rate", type=float, help="requests a second")
    parser.add_argument("--requests", type=int, help="requests a drill")
    parser.add_argument("--drill", type=int, action="append", help="only this drill; repeatable")
    parser.add_argument("--hour", action="store_true", help="drill 1 with an outage of an hour")
    parser.add_argument("--stack", type=Path, help="a stack that runs, left running")
    given = parser.parse_args()
    rate, requests = QUICK if given.quick else FULL
    rate = given.rate or rate
    seconds = (given.requests or requests) / rate
    chosen = [d for d in DRILLS if not given.drill or d.number in given.drill]
    if given.hour:
        chosen, seconds = [replace(DRILLS[0], name="hour")], 3600 / 0.4
    rows = asyncio.run(_run(chosen, rate, seconds, given.stack))
    print(table(rows))
    write("drills_hour" if given.hour else "drills", rows)
    (HERE / "table.md").write_text(markdown(rows) + "\n")


async def _run(chosen: list[Drill], rate: float, seconds: float, at: Path | None) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pinway-drills-") as name:
        directory = Path(name)
        stack = Stack.open(at) if at else Stack(directory / "stack")
        try:
            await asyncio.to_thread(stack.up)
            (directory / "data").mkdir()
            async with open_site(stack, directory / "data") as site:
                for drill in chosen:
                    if not await all_is_well(site):
                        print("the primary is too slow to be trusted here", file=sys.stderr)
                    outcome = await run(site, drill, rate=rate, seconds=seconds)
                    rows += outcome.rows()
                    plots = HERE / "plots"
                    plots.mkdir(exist_ok=True)
                    file = plots / f"{drill.number}-{drill.name}.svg"
                    file.write_text(report.plot(outcome))
                    print(f"drill {drill.number}: {drill.says}", *outcome.faults(),
                          sep="\n  ", file=sys.stderr)  # fmt: skip
                settings = site.settings
            count, differing = await settle(settings)
            rows.append(Row("afterwards: rows in the feed stores", count, ""))
            rows.append(
                Row("afterwards: rows that differ between the clusters", differing, "", "<= 0")
            )
        finally:
            if not at:
                await asyncio.to_thread(stack.down)
    return rows


if __name__ == "__main__":
    main()
