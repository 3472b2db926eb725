"""Slow stores do not mislead the race: a side's lateness counts relative to the other side."""

import random
from dataclasses import replace
from typing import cast

import pytest

from datasources.errors import StoreError
from feed_engine.speculation import ADAPTIVE, Policy, Report, Side
from tests.unit.feed_engine.speculation.scenarios import (
    EQUAL_SIDES,
    RATE,
    Scenario,
    lognormal,
    slower,
    steadily,
    two_kinds,
)
from tests.unit.feed_engine.speculation.scripts import NEVER, Act, Store, make, race
from tests.unit.feed_engine.virtual_time import run

SECONDS = 60.0
Seen = list[tuple[float, float, object]]


def simulated(
    scenario: Scenario, *, seconds: float = SECONDS, policy: Policy = ADAPTIVE
) -> tuple[Seen, Report]:
    async def main() -> tuple[Seen, Report]:
        primary, standby = scenario.sides()
        raced = race(Store(primary, "p"), Store(standby, "s"), policy, deadline=2.0)
        seen = await make(raced, scenario.calls(seconds))
        await raced.close()
        return list(seen), raced.report()

    return run(main())


def percentile(seen: Seen, share: float) -> float:
    took = sorted(one[1] for one in seen)
    return took[int(share * len(took))]


@pytest.mark.parametrize("scenario", EQUAL_SIDES, ids=lambda scenario: scenario.name)
def test_equal_sides_are_no_outage_and_the_standby_answers_few_calls(scenario: Scenario) -> None:
    seconds = 400.0 if "idle" in scenario.name else SECONDS
    seen, report = simulated(scenario, seconds=seconds)
    stats = report.stats
    assert (stats.outages, stats.failed) == (0, 0)
    assert not [answer for *_, answer in seen if isinstance(answer, StoreError)]
    assert stats.standby_answers <= 0.06 * stats.calls
    bursts = ADAPTIVE.burst * (7 if "idle" in scenario.name else 1)
    assert stats.hedges <= ADAPTIVE.extra * stats.calls + bursts


def test_each_kind_of_call_has_a_cutoff_of_its_own() -> None:
    async def main() -> None:
        raced = race(Store(lognormal(1)), Store(lognormal(2)), ADAPTIVE, deadline=2.0)
        await make(raced, two_kinds(RATE, 20, named=True))
        cutoffs = raced._primary.cutoffs
        short, long = (cutoffs.of(("feed", kind)).seconds for kind in ("short", "long"))
        assert short == pytest.approx(0.013, rel=0.2)  # the 99.9th percentile
        assert long > 5 * short
        await raced.close()

    run(main())


def test_kinds_are_bounded_and_later_kinds_share_one_estimate() -> None:
    async def main() -> None:
        raced = race(Store(lognormal(1)), Store(lognormal(2)))
        for call in range(1000):
            await raced(lambda store: store.ask(), kind=("feed", call))  # type: ignore[attr-defined]
        cutoffs = raced._primary.cutoffs
        assert len(cutoffs) == ADAPTIVE.kinds_most
        assert cutoffs.of("new") is cutoffs.of("newer")
        assert cutoffs.of("new") is not cutoffs.of(("feed", 1))
        await raced.close()

    run(main())


def exponential_tail(seed: int) -> Act:
    """8% of the calls take 40 ms and, on average, another 40 ms."""
    rng, calls = random.Random(seed), lognormal(seed + 100)
    return lambda now: 0.04 + rng.expovariate(25) if rng.random() < 0.08 else calls(now)


def test_when_more_calls_are_late_than_the_budget_pays_for_the_longest_are_hedged() -> None:
    scenario = Scenario(
        "a tail beyond the budget",
        lambda: (exponential_tail(1), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
    )
    seen, report = simulated(scenario)
    stats = report.stats
    assert stats.refused <= 0.1 * stats.hedges
    assert stats.hedges <= ADAPTIVE.extra * stats.calls + ADAPTIVE.burst
    # The longest 2% are cut off. With a lower cutoff most of them were refused, and p99.9 was the
    # store's own.
    assert percentile(seen, 0.999) < 0.14
    store = exponential_tail(1)
    alone = sorted(cast(float, store(0.0)) for _ in seen)
    assert alone[int(0.999 * len(alone))] > 0.19


def test_a_primary_that_is_slow_from_the_start_is_left_once_the_standby_is_known() -> None:
    scenario = Scenario(
        "30% stalled 30 x",
        lambda: (slower(lognormal(1), 0.3, 30, 3), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
    )
    seen, report = simulated(scenario)
    assert report.stats.outages == 1
    assert report.sides[Side.PRIMARY].mode == "avoided"
    assert percentile([one for one in seen if one[0] > 40], 0.999) <= 0.04


def test_without_budget_late_calls_tell_nothing_against_a_side_that_is_not_slower() -> None:
    scenario = Scenario(
        "both sides at 60 ms",
        lambda: (lognormal(1, 0.06, 0.1), lognormal(2, 0.06, 0.1)),
        lambda seconds: steadily(RATE, seconds),
    )
    policy = replace(ADAPTIVE, extra=0.0, burst=0.0)
    _, report = simulated(scenario, seconds=20, policy=policy)
    assert (report.stats.outages, report.sides[Side.PRIMARY].distrust) == (0, 0)


def test_a_primary_that_hangs_is_noticed_also_when_the_budget_is_spent() -> None:
    """A refused call can't lose. A side that answers no call is hedged from the other budget."""
    calls = lognormal(1)
    scenario = Scenario(
        "hangs",
        lambda: (lambda now: NEVER if now >= 5 else calls(now), lognormal(2, 0.08)),
        lambda seconds: steadily(20, seconds),
    )
    seen, report = simulated(scenario, seconds=20, policy=replace(ADAPTIVE, extra=0.0))
    assert not [answer for *_, answer in seen if isinstance(answer, StoreError)]
    assert report.stats.outages == 1
