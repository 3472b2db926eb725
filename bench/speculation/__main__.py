"""The race by itself: its effect on a tail, its extra calls, and its cost.

The tail and the extra calls are measured in virtual time, from latencies with a known distribution
(lognormal, median 3 ms, sigma 0.5), with and without the race. The cost is measured in real time,
against a bare await. Then the race and the rules of Finagle, Cassandra and gRPC run on the same
scenarios: see `scenarios`.
"""

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import uvloop

from bench.rows import Row, table, write
from bench.speculation import scenarios
from datasources.errors import StoreError
from datasources.protocols import Sides, WideColumnStore
from feed_engine.speculation import ADAPTIVE, FIXED, Policy, Race, Stats
from feed_engine.speculation.policy import NEVER
from tests.unit.feed_engine.speculation.scripts import Act, Store, load, race
from tests.unit.feed_engine.virtual_time import run

RATE = 200  # calls a second
SETTLED = 5.0  # seconds until the cutoff has enough latencies
STALLED, TIMES = 0.01, 100

PUBLISHED = replace(ADAPTIVE, multiple=NEVER, ceiling=NEVER, floor=0.0)
"""The published cutoff: the 99.9th percentile alone."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    quick = parser.parse_args().quick
    seconds = 60.0 if quick else 600.0
    rows = [*_tail(seconds), *_extra(seconds), *_cost(5_000 if quick else 50_000)]
    rows += scenarios.rows(60.0 if quick else 300.0)
    print(table(rows))
    write("speculation", rows)


def _tail(seconds: float) -> list[Row]:
    alone = replace(FIXED, extra=0.0, burst=0.0)
    without, _ = _simulated(_stalling(1), alone, seconds)
    published, _ = _simulated(_stalling(1), PUBLISHED, seconds)
    raced, stats = _simulated(_stalling(1), ADAPTIVE, seconds)
    contenders = (("without", without), ("published policy", published), ("with", raced))
    rows = [
        Row(f"1% stalled x {TIMES}: {name} {label}", 1000 * _quantile(took, share), "ms")
        for label, share in (("p99", 0.99), ("p99.9", 0.999))
        for name, took in contenders
    ]
    ratio = _quantile(without, 0.999) / _quantile(raced, 0.999)
    rows.append(Row("p99.9 without over with", ratio, "x", ">= 10", "1% of the calls stalled"))
    share = 100 * stats.hedges / stats.calls
    rows.append(Row("extra calls while 1% stall", share, "%", "", "warming apart"))
    return rows


def _extra(seconds: float) -> list[Row]:
    rows = []
    for name, policy, goal in (
        ("published policy (p99.9 alone)", PUBLISHED, "<= 0.2"),
        ("default policy", ADAPTIVE, "<= 1"),
    ):
        _, stats = _simulated(_healthy(1), policy, seconds)
        share = 100 * stats.hedges / stats.calls
        rows.append(Row(f"extra calls when all is well: {name}", share, "%", goal, "warming apart"))
        rows.append(Row(f"warm calls: {name}", 100 * stats.warm / stats.calls, "%"))
    return rows


def _cost(calls: int) -> list[Row]:
    """Processor time of alternating rounds of bare awaits and of calls through a race, all answered
    at once."""
    sides = Sides(cast(WideColumnStore, object()), cast(WideColumnStore, object()))
    cutoffs = {"default policy": ADAPTIVE, "without shadows": replace(ADAPTIVE, warm=0, run_on=0)}
    found: dict[str, list[float]] = {"bare await": [], **{name: [] for name in cutoffs}}

    async def at_once(store: WideColumnStore) -> int:
        return 1

    async def rounds() -> None:
        races = {
            name: Race(sides, cutoff=0.05, deadline=2.0, policy=policy)
            for name, policy in cutoffs.items()
        }
        for _ in range(7):
            for name, ask in (("bare await", None), *races.items()):
                began = time.process_time()
                if ask is None:
                    for _ in range(calls):
                        await at_once(sides.primary)
                else:
                    for _ in range(calls):
                        await ask(at_once)
                found[name].append((time.process_time() - began) / calls)
            await asyncio.sleep(0)
        for one in races.values():
            await one.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(rounds())
    # other processes use this machine, too
    cost = {name: 1e6 * min(some) for name, some in found.items()}
    bare = cost["bare await"]
    rows = [Row("bare await answered at once", bare, "us", "", "uvloop")]
    for name in cutoffs:
        goal = "<= 15" if name == "default policy" else ""
        rows.append(Row(f"a race's own cost: {name}", cost[name] - bare, "us", goal, "bare await"))
    return rows


def _simulated(primary: Act, policy: Policy, seconds: float) -> tuple[list[float], Stats]:
    """The latencies of all calls after the start, sorted."""

    async def main() -> tuple[list[float], Stats]:
        raced = race(Store(primary), Store(_healthy(2)), policy, deadline=2.0)
        seen = await load(raced, rate=RATE, seconds=seconds)
        await raced.close()
        assert not [answer for *_, answer in seen if isinstance(answer, StoreError)]
        return sorted(took for began, took, _ in seen if began >= SETTLED), raced.stats

    return run(main())


def _healthy(seed: int) -> Act:
    rng = random.Random(seed)
    return lambda _: 0.003 * rng.lognormvariate(0, 0.5)


def _stalling(seed: int) -> Act:
    rng, calls = random.Random(seed), _healthy(seed + 1)
    return lambda now: cast(float, calls(now)) * (TIMES if rng.random() < STALLED else 1)


def _quantile(took: Sequence[float], share: float) -> float:
    return took[int(share * len(took))]


if __name__ == "__main__":
    main()
