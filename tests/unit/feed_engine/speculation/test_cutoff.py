"""The estimator, on synthetic latencies whose percentiles are known."""

import random
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist

import pytest

from feed_engine.speculation.cutoff import Cutoff
from feed_engine.speculation.policy import ADAPTIVE

QUANTILE_ALONE = replace(ADAPTIVE, multiple=float("inf"), ceiling=float("inf"), floor=0.0)
Draw = Callable[[random.Random], float]


def lognormal(median: float = 0.003, sigma: float = 0.5) -> Draw:
    return lambda rng: median * rng.lognormvariate(0, sigma)


def stalling(share: float = 0.01, times: float = 100) -> Draw:
    calls = lognormal()
    return lambda rng: calls(rng) * (times if rng.random() < share else 1)


def truth(draw: Draw, share: float) -> float:
    rng = random.Random(99)
    drawn = sorted(draw(rng) for _ in range(200_000))
    return drawn[int(share * len(drawn))]


def fed(
    draw: Draw,
    *,
    losing_after: float,
    calls: int = 28_000,
    run_on: float = 0.1,
    room: Callable[[int], bool] = lambda call: True,
) -> Cutoff:
    """An estimator after calls that lose if they take longer than `losing_after`."""
    rng, cutoff = random.Random(1), Cutoff(0.05, QUANTILE_ALONE)
    for call in range(calls):
        now, took = call * 0.001, draw(rng)
        if took <= losing_after:
            cutoff.answered(took, now)
            continue
        cutoff.lost(now)
        if rng.random() < run_on and room(call):
            cutoff.ran_on(took, now)
    return cutoff


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_quantiles_of_answers_are_one_percent_off_at_most(share: float) -> None:
    rng, cutoff = random.Random(1), Cutoff(0.05, QUANTILE_ALONE)
    drawn = sorted(0.003 * rng.lognormvariate(0, 0.5) for _ in range(20_000))
    for took in drawn:
        cutoff.answered(took, 1.0)
    exact = drawn[int(share * len(drawn)) - 1]
    assert cutoff.quantiles(share) == [pytest.approx(exact, rel=0.0105)]


@pytest.mark.parametrize(
    ("draw", "losing_after", "shares"),
    [
        (lognormal(), 0.008, (0.5, 0.9, 0.99)),
        (stalling(), 0.025, (0.5, 0.98, 0.995)),
        (stalling(share=0.6), 0.025, (0.2, 0.5, 0.9)),  # most calls are beaten, the median too
    ],
    ids=["well", "bimodal", "outage"],
)
def test_cancelled_losers_do_not_bend_the_quantiles(
    draw: Draw, losing_after: float, shares: tuple[float, ...]
) -> None:
    found = fed(draw, losing_after=losing_after, run_on=0.5).quantiles(*shares)
    assert found == pytest.approx([truth(draw, share) for share in shares], rel=0.12)


def test_leaving_cancelled_losers_out_would_have_hidden_the_stall() -> None:
    naive = fed(stalling(), losing_after=0.025, run_on=0.0)
    naive_answers = Cutoff(0.05, QUANTILE_ALONE)
    rng = random.Random(1)
    for call in range(28_000):
        if (took := stalling()(rng)) <= 0.025:
            naive_answers.answered(took, call * 0.001)
    assert naive_answers.quantiles(0.999)[0] < 0.025
    assert naive.quantiles(0.5)[0] == pytest.approx(0.003, rel=0.05)
    assert naive.quantiles(0.999) == [float("inf")]  # known to be longer; how much is not


def test_losers_that_found_no_room_to_run_on_are_stood_for_by_those_that_did() -> None:
    draw = stalling(share=0.1)
    found = fed(draw, losing_after=0.025, room=lambda call: call % 3 == 0).quantiles(0.95)[0]
    assert found == pytest.approx(truth(draw, 0.95), rel=0.15)


def test_losers_that_failed_while_running_on_have_no_latency_and_lend_none() -> None:
    cutoff = Cutoff(0.05, QUANTILE_ALONE)
    for _ in range(900):
        cutoff.answered(0.003, 1.0)
    for call in range(100):
        cutoff.lost(1.0)
        cutoff.ran_on(0.3 if call % 2 else None, 1.0)
    assert cutoff.quantiles(0.94, 0.96) == pytest.approx([0.003, 0.3], rel=0.011)


def test_the_cutoff_follows_a_slow_degradation_through_its_window() -> None:
    rng, cutoff = random.Random(1), Cutoff(0.05, replace(QUANTILE_ALONE, quantile=0.99))
    z = NormalDist().inv_cdf(0.99)
    for call in range(200_000):
        now = call * 0.001
        median = 0.003 * (1 + now / 100)  # three times as slow after 200 s
        cutoff.answered(median * rng.lognormvariate(0, 0.5), now)
    in_window = 0.003 * (1 + 185 / 100) * 2.718281828 ** (0.5 * z)
    assert cutoff.seconds == pytest.approx(in_window, rel=0.08)


def settled(draw: Draw) -> float:
    rng, cutoff = random.Random(1), Cutoff(0.04, ADAPTIVE)
    for call in range(5000):
        cutoff.answered(draw(rng), call * 0.002)
    return cutoff.seconds


def test_a_stall_of_one_percent_leaves_the_cutoff_at_a_multiple_of_the_median() -> None:
    assert settled(stalling()) == pytest.approx(8 * 0.003, rel=0.05)


def test_the_quantile_is_the_cutoff_where_it_is_the_smallest() -> None:
    assert settled(lognormal(0.010, 0.1)) == pytest.approx(0.010 * 2.71828 ** (0.1 * 3.09), rel=0.1)


def test_the_ceiling_and_the_floor_hold() -> None:
    assert settled(lognormal(0.016)) == ADAPTIVE.ceiling
    assert settled(lognormal(0.00001)) == ADAPTIVE.floor


def test_the_start_value_stands_until_enough_was_seen_and_again_when_that_is_long_ago() -> None:
    cutoff = Cutoff(0.04, ADAPTIVE)
    for call in range(99):
        cutoff.answered(0.001, call * 0.01)
    cutoff.answered(0.001, 2.0)
    assert cutoff.seconds == 0.04
    cutoff.answered(0.001, 3.0)
    assert cutoff.seconds == pytest.approx(0.005)
    cutoff.answered(0.001, 3.0 + 2 * ADAPTIVE.window)
    assert cutoff.seconds == 0.04


def test_a_start_value_past_the_ceiling_is_the_ceiling() -> None:
    assert Cutoff(1.0, ADAPTIVE).seconds == ADAPTIVE.ceiling
