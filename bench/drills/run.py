"""One drill after another on one site."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import fields

from prometheus_client.parser import text_string_to_metric_families

from bench.drills.faults import Drill, Plan
from bench.drills.load import Load, readers
from bench.drills.report import Outcome
from bench.drills.site import Site
from feed_engine.speculation import Stats

DRILLS_IN_ALL = 8


def visitors(site: Site, drill: Drill) -> list[str]:
    """The users who begin a drill's visits. Each drill has its own users, so that every drill finds
    equally fresh feeds."""
    return readers(site)[drill.number % DRILLS_IN_ALL :: DRILLS_IN_ALL]


async def run(
    site: Site,
    drill: Drill,
    *,
    rate: float,
    plan: Plan,
    viewers: Sequence[str] | None = None,
    seed: int = 1,
) -> Outcome:
    """Run a drill with `rate` requests a second. `viewers`: the users who begin visits, if not the
    drill's own."""
    everybody, mine = readers(site), viewers or visitors(site, drill)
    rng = random.Random(seed * 100 + drill.number)
    load = Load(site, mine, everybody, site.settings.http.request_timeout, rng)

    async def act(start: float) -> None:
        loop = asyncio.get_running_loop()

        async def until(seconds: float) -> None:
            await asyncio.sleep(max(0.0, start + seconds - loop.time()))

        await drill.act(site, plan, until)

    before = await _counts(site)
    seen = await load.run(rate, plan.total, act)
    spent = {name: count - before[name] for name, count in (await _counts(site)).items()}
    return Outcome(drill, plan, rate, seen, spent)


async def all_is_well(site: Site, seconds: float = 30.0) -> bool:
    """Wait until the races trust their primaries again, so that each drill begins in the same
    state. Returns whether they do. It makes calls itself, because races only notice by calls that a
    primary has recovered."""
    until = asyncio.get_running_loop().time() + seconds
    load = Load(site, readers(site), readers(site), 10.0, random.Random(1))
    while not (well := min(await _trust(site)) >= 1):
        if asyncio.get_running_loop().time() > until:
            break
        await load.run(20, 1.0, _nothing)
    return well


async def warm_up(site: Site, rate: float, seconds: float) -> None:
    """Run the drills' load without a fault, so that the first drill finds the servers in the same
    state as later drills."""
    load = Load(site, readers(site), readers(site), 10.0, random.Random(2))
    await load.run(rate, seconds, _nothing)


async def _trust(site: Site) -> list[float]:
    return [
        sample.value
        for family in text_string_to_metric_families(await site.client.get("/metrics"))
        for sample in family.samples
        if sample.name == "pinway_feed_trust_ratio"
    ]


async def _nothing(start: float) -> None: ...


async def _counts(site: Site) -> dict[str, float]:
    """The counters of both races, added up."""
    found = dict.fromkeys((field.name for field in fields(Stats)), 0.0)
    for family in text_string_to_metric_families(await site.client.get("/metrics")):
        for sample in family.samples:
            name = sample.name.removeprefix("pinway_feed_").removesuffix("_total")
            if name in found:
                found[name] += sample.value
    return found
