"""Whole stretches of load in virtual time, under the default policy: what a race is for."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from datasources.errors import StoreError, StoreUnavailable
from feed_engine.speculation import ADAPTIVE, EAGER, FIXED, Policy, Side, Stats
from tests.unit.feed_engine.speculation.scripts import NEVER, Act, Store, load, race
from tests.unit.feed_engine.virtual_time import run

RATE = 200
Seen = list[tuple[float, float, object]]


def healthy(seed: int, median: float = 0.003) -> Act:
    rng = random.Random(seed)
    return lambda _: median * rng.lognormvariate(0, 0.5)


def stalling(seed: int, share: float = 0.01) -> Act:
    rng, calls = random.Random(seed), healthy(seed + 1)

    def act(now: float) -> float | StoreError:
        took = calls(now)
        assert isinstance(took, float)
        return took * 100 if rng.random() < share else took

    return act


def sometimes(act: Act, share: float, seed: int) -> Act:
    rng = random.Random(seed)
    return lambda now: StoreUnavailable("sometimes") if rng.random() < share else act(now)


def between(begin: float, end: float, then: Act, otherwise: Act) -> Act:
    return lambda now: (then if begin <= now < end else otherwise)(now)


def simulated(
    primary: Act, standby: Act, *, seconds: float, policy: Policy = ADAPTIVE
) -> tuple[Seen, Stats]:
    async def main() -> tuple[Seen, Stats]:
        raced = race(Store(primary, "p"), Store(standby, "s"), policy, deadline=2.0)
        seen = await load(raced, rate=RATE, seconds=seconds)
        await raced.close()
        return list(seen), raced.report().stats

    return run(main())


def percentile(seen: Seen, share: float, begin: float = 0.0, end: float = NEVER) -> float:
    took = sorted(one[1] for one in seen if begin <= one[0] < end)
    return took[int(share * len(took))]


def errors(seen: Seen) -> Sequence[object]:
    return [answer for *_, answer in seen if isinstance(answer, StoreError)]


def test_when_all_is_well_extra_calls_are_few() -> None:
    _, stats = simulated(healthy(1), healthy(2), seconds=50)
    assert stats.hedges <= 0.01 * stats.calls
    assert stats.warm == pytest.approx(0.01 * stats.calls, rel=0.3)
    assert (stats.outages, stats.refused, stats.failed) == (0, 0, 0)


def test_the_eager_policy_hedges_stalls_that_are_beyond_the_budget_of_the_adaptive() -> None:
    p99 = {}
    for policy in (ADAPTIVE, EAGER):
        seen, stats = simulated(stalling(1, 0.05), stalling(7, 0.05), seconds=40, policy=policy)
        p99[policy.extra] = percentile(seen, 0.99, 5.0)
        assert stats.hedges + stats.warm <= policy.extra * stats.calls + policy.burst
    assert p99[EAGER.extra] <= p99[ADAPTIVE.extra] / 5


def test_a_tail_of_stalls_is_ten_times_shorter() -> None:
    alone = replace(FIXED, extra=0.0, burst=0.0)
    without, _ = simulated(stalling(1), healthy(2), seconds=60, policy=alone)
    with_race, stats = simulated(stalling(1), healthy(2), seconds=60)
    settled = 5.0
    ratio = percentile(without, 0.999, settled) / percentile(with_race, 0.999, settled)
    assert ratio >= 10
    assert stats.hedges <= 0.02 * stats.calls
    assert stats.outages == 0


@pytest.mark.parametrize(
    "outage", [lambda _: StoreUnavailable("down"), lambda _: NEVER], ids=["fails", "hangs"]
)
def test_an_outage_costs_nobody_an_answer_and_is_come_back_from(outage: Act) -> None:
    primary = between(20, 40, outage, healthy(1))
    seen, stats = simulated(primary, healthy(2), seconds=70)
    assert not errors(seen)
    assert percentile(seen, 0.99, 22, 40) <= 2 * percentile(seen, 0.99, 0, 20)
    assert (stats.outages, stats.returns, stats.trust) == (1, 1, 1.0)
    late = [answer for began, _, answer in seen if began > 60 and answer[1] is Side.STANDBY]  # type: ignore[index]
    assert len(late) <= 0.01 * 10 * RATE
    assert stats.probes <= 1.1 * (20 + 15) / ADAPTIVE.probe_every


def test_a_primary_with_half_its_calls_a_hundred_times_slower_is_left() -> None:
    rng, calls = random.Random(3), healthy(4)
    slow: Act = lambda now: calls(now) * (100 if rng.random() < 0.5 else 1)  # type: ignore[operator] # noqa: E731
    seen, stats = simulated(between(20, 60, slow, healthy(1)), healthy(2), seconds=60)
    assert not errors(seen)
    assert stats.outages == 1
    assert percentile(seen, 0.99, 22, 60) <= 2 * percentile(seen, 0.99, 0, 20)


def test_a_primary_that_fails_half_the_time_is_left_once() -> None:
    seen, stats = simulated(sometimes(healthy(1), 0.5, 3), healthy(2), seconds=50)
    assert not errors(seen)
    assert (stats.outages, stats.returns) == (1, 0)
    assert stats.primary_failures < 0.1 * stats.calls


def test_a_primary_that_flaps_every_three_seconds_loses_nothing() -> None:
    up = healthy(1)
    flapping: Act = lambda now: NEVER if int(now / 3) % 2 else up(now)  # noqa: E731
    seen, stats = simulated(flapping, healthy(2), seconds=60)
    assert not errors(seen)
    assert stats.outages <= 5


def test_a_dead_standby_does_no_harm_to_a_primary_that_lives() -> None:
    dead: Act = lambda _: StoreUnavailable("dead")  # noqa: E731
    seen, stats = simulated(healthy(1), dead, seconds=60)
    assert not errors(seen)
    assert stats.outages == 0


def test_after_both_were_down_all_is_well_at_once() -> None:
    dead: Act = lambda _: StoreUnavailable("dead")  # noqa: E731
    seen, stats = simulated(
        between(10, 15, dead, healthy(1)), between(10, 15, dead, healthy(2)), seconds=30
    )
    failed = [began for began, _, answer in seen if isinstance(answer, StoreError)]
    assert len(failed) == stats.failed
    assert min(failed) >= 10 and max(failed) < 15.1  # noqa: PT018


def test_extra_load_stays_bounded_when_both_sides_are_slow() -> None:
    slow = healthy(1, median=0.2)
    seen, stats = simulated(slow, healthy(2, median=0.2), seconds=30)
    assert not errors(seen)
    asked = stats.hedges + stats.warm
    assert asked <= ADAPTIVE.extra * stats.calls + 3 * ADAPTIVE.burst


def test_of_two_sides_that_were_left_the_one_that_is_back_is_asked_first() -> None:
    primary = between(10, NEVER, lambda _: NEVER, healthy(1))
    standby = between(10, 15, lambda _: StoreUnavailable("dead"), healthy(2))
    seen, _ = simulated(primary, standby, seconds=30)
    assert not [1 for began, _, answer in seen if began > 15.5 and isinstance(answer, StoreError)]
    assert percentile(seen, 0.99, 17) < 0.02
