"""Runs random schedules of the feeds on embedded stores that trim as RocksDB and as HBase. Several
processes can share the work by different first seeds.

python -m tests.following --schedules 50000 [--first 0] [--of following|visits|home] [--fault NAME]
"""

import argparse
import asyncio
import sys
import time

import pytest
import uvloop

from tests.faulty import marking
from tests.feeds import Feeding
from tests.following.faults import FAULTS
from tests.following.home import run_home
from tests.following.quick import quick_stores
from tests.following.schedule import run_schedule
from tests.following.visit_faults import HOME_FAULTS, VISIT_FAULTS
from tests.following.visits import run_visits

MODELS = {"following": run_schedule, "visits": run_visits, "home": run_home}
FRESH = 500  # schedules after which new stores are used, because stores grow


async def _run(model: str, first: int, schedules: int) -> int:
    wrong, began = 0, time.monotonic()
    for start in range(first, first + schedules, FRESH):
        wrong += await _some(model, range(start, min(start + FRESH, first + schedules)))
        done = min(start + FRESH - first, schedules)
        rate = done / (time.monotonic() - began)
        print(f"{done} schedules, {rate:.1f}/s: {wrong} wrong", flush=True)
    return wrong


async def _some(model: str, seeds: range) -> int:
    wrong = 0
    async with quick_stores() as stores:
        sides = {name: marking(getattr(stores, name)) for name in ("feeds", "pools")}
        marked = stores._replace(**sides)
        for seed in seeds:
            for line in await MODELS[model](Feeding(marked if seed % 2 else stores), seed):
                wrong += 1
                print(line, flush=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.following", description=__doc__)
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first schedule")
    parser.add_argument("--of", choices=MODELS, default="following", help="the model")
    faults = FAULTS | VISIT_FAULTS | HOME_FAULTS
    parser.add_argument("--fault", choices=faults, help="a deliberate fault to be found")
    args = parser.parse_args()
    with (
        pytest.MonkeyPatch.context() as patch,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        if args.fault:
            faults[args.fault](patch)
        wrong = runner.run(_run(args.of, args.first, args.schedules))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
