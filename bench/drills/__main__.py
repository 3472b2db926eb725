"""`python -m bench.drills [--quick]`: runs all drills and prints a table at the end. The page and
plots are in bench/drills."""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import uvloop

from bench.drills import page, report
from bench.drills.faults import DRILLS, Drill, Plan
from bench.drills.load import readers
from bench.drills.report import Outcome, together
from bench.drills.run import all_is_well, run, visitors, warm_up
from bench.drills.site import Site, open_site, settle
from bench.rows import Row, table, write
from deploy.stack import Stack

FULL, QUICK = (60.0, 20_040), (20.0, 400)  # requests a second, and requests in a drill
WARM_UP, QUICK_WARM_UP = 30.0, 5.0  # seconds
HOUR, AROUND_HOUR = 3600.0, 60.0


@dataclass(frozen=True)
class Effort:
    """The size of a run: the drills, their rate and their repetitions; the seconds of each drill
    and of the warm-up."""

    drills: list[Drill]
    rate: float
    plan: Plan
    passes: int
    warm_up: float
    hour: bool


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.drills", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="rough figures, which are not kept")
    parser.add_argument("--rate", type=float, help="requests a second")
    parser.add_argument("--requests", type=int, help="requests a drill")
    parser.add_argument("--passes", type=int, default=1, help="do each so often, for as many each")
    parser.add_argument("--drill", type=int, action="append", help="only this drill; repeatable")
    parser.add_argument("--hour", action="store_true", help="drill 1 with an outage of an hour")
    parser.add_argument("--overload", action="store_true", help="keep the figures as an overload's")
    parser.add_argument("--stack", type=Path, help="a stack that runs, left running")
    parser.add_argument("--log", type=Path, help="a folder for the gateway's log and each request")
    given = parser.parse_args()
    rate, requests = QUICK if given.quick else FULL
    rate = given.rate or rate
    plan = Plan.of((given.requests or requests) / rate / given.passes)
    chosen = [d for d in DRILLS if not given.drill or d.number in given.drill]
    if given.hour:
        chosen = [replace(DRILLS[0], name="hour", most=0.0)]
        plan = Plan.lasting(HOUR, AROUND_HOUR)
    if given.log:
        given.log.mkdir(parents=True, exist_ok=True)
    warm_up = QUICK_WARM_UP if given.quick else WARM_UP
    effort = Effort(chosen, rate, plan, given.passes, warm_up, given.hour)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        plots = not given.quick and not given.overload
        rows = runner.run(_run(effort, given.stack, given.log, plots=plots))
    print(table(rows))
    if not given.quick:
        name = "drills_hour" if given.hour else "drills_overload" if given.overload else "drills"
        write(name, page.merged(page.kept(name), rows))
        page.write()


async def _run(effort: Effort, at: Path | None, log: Path | None, *, plots: bool) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pinway-drills-") as name:
        directory = Path(name)
        stack = Stack.open(at) if at else Stack(directory / "stack")
        try:
            await asyncio.to_thread(stack.up)
            (directory / "data").mkdir()
            async with open_site(stack, directory / "data", log=log) as site, site.serving():
                await warm_up(site, effort.rate, effort.warm_up)
                for drill in effort.drills:
                    passes = [await _drill(site, drill, effort) for _ in range(effort.passes)]
                    outcome = together(passes)
                    rows += outcome.rows()
                    _tell(outcome, log, plots=plots)
            count, differing = await settle(site.settings)
            rows.append(Row("afterwards: rows in the feed stores", count, ""))
            rows.append(
                Row("afterwards: rows that differ between the clusters", differing, "", "<= 0")
            )
        finally:
            if not at:
                await asyncio.to_thread(stack.down)
    return rows


async def _drill(site: Site, drill: Drill, effort: Effort) -> Outcome:
    if not await all_is_well(site):
        print("the primary is too slow to be trusted here", file=sys.stderr)
    # After an hour, few users would still have new pins.
    viewers = readers(site) if effort.hour else visitors(site, drill)
    return await run(site, drill, rate=effort.rate, plan=effort.plan, viewers=viewers)


def _tell(outcome: Outcome, log: Path | None, *, plots: bool) -> None:
    name = f"{outcome.drill.number}-{outcome.drill.name}"
    print(f"drill {outcome.drill.number}: {outcome.drill.says}", *outcome.faults(),
          sep="\n  ", file=sys.stderr)  # fmt: skip
    if log:
        lines = b"\n".join(map(orjson.dumps, outcome.seen))
        (log / f"{name}.jsonl").write_bytes(lines)
    if plots:
        page.PLOTS.mkdir(exist_ok=True)
        (page.PLOTS / f"{name}.svg").write_text(report.plot(outcome))


if __name__ == "__main__":
    main()
