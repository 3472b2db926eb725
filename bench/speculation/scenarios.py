"""The race and other projects' rules in the same scenarios, in virtual time."""

from bench.rows import Row
from bench.speculation.peers import PEERS, Peer
from datasources.errors import StoreError
from feed_engine.speculation import ADAPTIVE, Raced, Side
from tests.unit.feed_engine.speculation.scenarios import (
    EQUAL_SIDES,
    RATE,
    UNEQUAL_SIDES,
    Scenario,
    lognormal,
    slower,
    steadily,
)
from tests.unit.feed_engine.speculation.scripts import NEVER, Act, Store, make, race
from tests.unit.feed_engine.virtual_time import run

SETTLED = 5.0  # seconds until enough latencies were seen
Seen = list[tuple[float, float, Raced[str] | StoreError]]


def _hanging(begin: float, end: float) -> Act:
    well = lognormal(1)
    return lambda now: NEVER if begin <= now < end else well(now)


OUTAGES = (
    Scenario(
        "the primary hangs for 20 s",
        lambda: (_hanging(20.0, 40.0), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
        equal=False,
    ),
    Scenario(
        "half of the primary's calls 100 x longer",
        lambda: (slower(lognormal(1), 0.5, 100, 3), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
        equal=False,
    ),
)


def rows(seconds: float) -> list[Row]:
    """p99.9, the standby's share of the answers, extra calls and failures, by scenario and rule."""
    return [
        row
        for scenario in (*EQUAL_SIDES, *UNEQUAL_SIDES, *OUTAGES)
        for row in _of(scenario, seconds)
    ]


def _of(scenario: Scenario, seconds: float) -> list[Row]:
    if "idle" in scenario.name:
        seconds = max(seconds, 600.0)
    found: list[Row] = []
    for peer in PEERS:
        seen, hedges = _peer(scenario, peer, seconds)
        found += _rows(scenario, peer.name, seen, hedges)
    seen, hedges, outages = _race(scenario, seconds)
    found += _rows(scenario, "Pinway", seen, hedges)
    goal = "<= 0" if scenario.equal else ""
    return [*found, Row(f"{scenario.name}: Pinway, outages", outages, "", goal)]


def _peer(scenario: Scenario, peer: type[Peer], seconds: float) -> tuple[Seen, int]:
    async def main() -> tuple[Seen, int]:
        rule = peer(*(Store(act) for act in scenario.sides()))
        return await make(rule, scenario.calls(seconds)), rule.hedges

    return run(main())


def _race(scenario: Scenario, seconds: float) -> tuple[Seen, int, int]:
    async def main() -> tuple[Seen, int, int]:
        primary, standby = (Store(act) for act in scenario.sides())
        raced = race(primary, standby, ADAPTIVE, deadline=2.0)
        seen = await make(raced, scenario.calls(seconds))
        await raced.close()
        stats = raced.report().stats
        return seen, stats.hedges, stats.outages

    return run(main())


def _rows(scenario: Scenario, name: str, seen: Seen, hedges: int) -> list[Row]:
    took = sorted(one[1] for one in seen if one[0] >= SETTLED)
    answers = [answer for *_, answer in seen if not isinstance(answer, StoreError)]
    standby = sum(answer.side is Side.STANDBY for answer in answers)
    label = f"{scenario.name}: {name}"
    return [
        Row(f"{label}, p99", 1000 * took[int(0.99 * len(took))], "ms"),
        Row(f"{label}, p99.9", 1000 * took[int(0.999 * len(took))], "ms"),
        Row(f"{label}, by the standby", 100 * standby / max(1, len(answers)), "%"),
        Row(f"{label}, hedges", 100 * hedges / len(seen), "%"),
        Row(f"{label}, failed", len(seen) - len(answers), "calls"),
    ]
