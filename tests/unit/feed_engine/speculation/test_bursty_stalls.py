"""Bursts of stalls that lose to the standby have the right weight in the estimate.

Only four losers at a time run on to be measured. A burst of long stalls fills this room at once: of
200 losers of one second about four are measured, but of 200 losers of 60 ms spread over the window,
all drawn losers are. With one weight for all losers of the window, the estimate of the stalls'
share was a fifth of the true share here. Now a drawn loser without room adds to the weight of a
loser that is running on.
"""

import random

import pytest

from feed_engine.speculation.cutoff import Cutoff, RunOn
from feed_engine.speculation.policy import ADAPTIVE

SHORT, LONG = 0.06, 1.0  # seconds that a single loser and a burst's loser take


def estimated(seed: int, *, counted: bool = True) -> tuple[float, float]:
    """The estimated and the true share of calls that take LONG, over a window."""
    rng, cutoff = random.Random(seed), Cutoff(0.05, ADAPTIVE)
    running: list[tuple[float, float, RunOn]] = []  # ends, took
    long = total = 0
    for call in range(int(ADAPTIVE.window * 1000)):
        now = call * 0.001
        for one in [one for one in running if one[0] <= now]:
            running.remove(one)
            cutoff.ended(one[2])
            cutoff.ran_on(one[1], now, one[2].weight)
        total += 1
        burst = now % 5 >= 4.8
        if not burst and rng.random() > 0.04:
            cutoff.answered(0.003, now)
            continue
        took = LONG if burst else SHORT
        long += burst
        cutoff.lost(now)
        if rng.random() < ADAPTIVE.run_on:
            if len(running) < ADAPTIVE.run_on_most:
                running.append((now + took, took, cutoff.runs_on()))
            elif counted:
                cutoff.no_room()
    weights: dict[int, float] = {}
    unknown = cutoff.weigh(weights)
    heavy = weights[max(weights)]
    return heavy / (sum(weights.values()) + unknown), long / total


def test_losers_without_room_are_counted_in_the_burst_that_they_are_of() -> None:
    for seed in range(5):
        found, true = estimated(seed)
        assert found == pytest.approx(true, rel=0.25)


def test_one_weight_for_all_losers_would_miss_most_of_a_burst() -> None:
    found, true = estimated(1, counted=False)
    assert found < 0.5 * true
