"""When requests leave a side, and how they return."""

import random

import pytest

from feed_engine.speculation.health import Health, Mode
from feed_engine.speculation.policy import ADAPTIVE


def driven(
    bad_share: float, calls: int, health: Health | None = None, start: float = 0.0
) -> Health:
    """A side whose calls, live or probes, fail at random; a hundred a second."""
    health = health or Health(ADAPTIVE)
    rng = random.Random(5)
    for call in range(calls):
        now = start + call * 0.01
        health.trust(now)
        if rng.random() < bad_share:
            health.bad(now)
        else:
            health.good()
    return health


def test_a_side_is_left_after_a_few_failures_in_a_row() -> None:
    health = Health(ADAPTIVE)
    for failures in range(1, ADAPTIVE.patience + 1):
        assert health.mode is Mode.WELL
        assert health.suspect == (failures > 3)
        health.bad(0.0)
    assert (health.mode, health.trust(0.0)) == (Mode.AVOIDED, 0.0)


@pytest.mark.parametrize("bad_share", [0.0, 0.01, 0.03])
def test_a_side_with_few_failures_is_never_left(bad_share: float) -> None:
    assert driven(bad_share, 100_000).outages == 0


@pytest.mark.parametrize("bad_share", [0.3, 0.5, 0.9])
def test_a_side_that_fails_a_third_of_the_time_or_more_is_left_once_and_for_all(
    bad_share: float,
) -> None:
    health = driven(bad_share, 100_000)
    assert (health.mode, health.outages) == (Mode.AVOIDED, 1)


@pytest.mark.parametrize("bad_share", [0.08, 0.1, 0.12, 0.15, 0.2])
def test_no_share_of_failures_makes_it_go_back_and_forth(bad_share: float) -> None:
    seconds = 1000
    assert driven(bad_share, seconds * 100).outages <= seconds / 30


def test_the_share_that_returns_doubles_step_by_step_until_all_do() -> None:
    health = driven(1.0, 10)
    driven(0.0, 60, health, start=1.0)
    seen = [health.trust(2.0 + second) for second in range(6)]
    assert seen == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 1.0]
    assert (health.mode, health.returns) == (Mode.WELL, 1)


def test_each_relapse_doubles_the_time_away_up_to_a_limit() -> None:
    health, now, away = Health(ADAPTIVE), 0.0, []
    for _ in range(8):
        while health.mode is not Mode.AVOIDED:
            health.bad(now)
        left = now
        for _ in range(100):
            health.good()
        while health.trust(now) == 0:
            now += 0.5
        away.append(now - left)
    assert away == [1, 2, 4, 8, 16, 32, 60, 60]


def test_probes_come_at_a_bounded_rate() -> None:
    health = Health(ADAPTIVE)
    due = sum(health.probe_due(call * 0.001, ADAPTIVE.probe_every) for call in range(10_000))
    assert due == pytest.approx(10 / ADAPTIVE.probe_every, rel=0.05)
