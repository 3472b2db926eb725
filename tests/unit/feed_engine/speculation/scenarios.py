"""Latency scenarios for simulations of the race. Add scenarios for the tests and the benchmark
here.

A scenario describes both sides and the calls made to them. All randomness is seeded, so that a
simulation in virtual time gives the same counts in each run.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.unit.feed_engine.speculation.scripts import Act, Asked

MEDIAN, SIGMA = 0.003, 0.5  # of a healthy store, in seconds


def lognormal(seed: int, median: float = MEDIAN, sigma: float = SIGMA) -> Act:
    rng = random.Random(seed)
    return lambda _: median * rng.lognormvariate(0, sigma)


def slower(act: Act, share: float, times: float, seed: int) -> Act:
    """A share of the calls takes `times` as long."""
    rng = random.Random(seed)
    return lambda now: _seconds(act, now) * (times if rng.random() < share else 1)


def cold(
    act: Act, seed: int, *, idle: float = 10.0, warming: float = 0.3, most: float = 0.3
) -> Act:
    """After `idle` seconds without a call, calls take up to `most` s longer, for `warming` s."""
    rng, last, woken = random.Random(seed), -idle, 0.0

    def take(now: float) -> float:
        nonlocal last, woken
        if now - last >= idle:
            woken = now
        last = now
        return _seconds(act, now) + (rng.uniform(0, most) if now - woken < warming else 0.0)

    return take


def stalling_together(
    act: Act, *, every: float = 7.0, lasting: float = 0.4, seconds: float = 1.2
) -> Act:
    """Every call of a short burst stalls, as during a long pause of a region server's garbage
    collector."""
    return lambda now: seconds if now % every > every - lasting else _seconds(act, now)


def _seconds(act: Act, now: float) -> float:
    took = act(now)
    assert isinstance(took, float)
    return took


def steadily(rate: float, seconds: float) -> Iterator[Asked]:
    """A call every 1/rate s."""
    return (Asked(call / rate) for call in range(int(rate * seconds)))


def two_kinds(rate: float, seconds: float, *, named: bool) -> Iterator[Asked]:
    """30% of the calls take 11 times as long on either side. `named`: the race is told the kind of
    each call."""
    rng = random.Random(7)
    for call in steadily(rate, seconds):
        heavy = rng.random() < 0.3
        kind = ("feed", "long" if heavy else "short") if named else None
        yield Asked(call.at, times=11.0 if heavy else 1.0, kind=kind)


def in_bursts(seconds: float, *, every: float = 60.0, calls: int = 40) -> Iterator[Asked]:
    """Bursts of calls within 0.2 s, and nothing in between."""
    at = 1.0
    while at < seconds:
        yield from (Asked(at + 0.2 * call / calls) for call in range(calls))
        at += every


@dataclass(frozen=True)
class Scenario:
    """A scenario. `equal`: both sides behave alike, so that leaving the primary would be a false
    outage."""

    name: str
    sides: Callable[[], tuple[Act, Act]]
    calls: Callable[[float], Iterator[Asked]]  # from seconds
    equal: bool = True


RATE = 200.0
EQUAL_SIDES = (
    Scenario(
        "two kinds of calls, 30% need 11 x longer",
        lambda: (lognormal(1), lognormal(2)),
        lambda seconds: two_kinds(RATE, seconds, named=True),
    ),
    Scenario(
        "two kinds of calls, not told apart",
        lambda: (lognormal(1), lognormal(2)),
        lambda seconds: two_kinds(RATE, seconds, named=False),
    ),
    Scenario(
        "30% of the calls 11 x longer by chance",
        lambda: (slower(lognormal(1), 0.3, 11, 3), slower(lognormal(2), 0.3, 11, 4)),
        lambda seconds: steadily(RATE, seconds),
    ),
    Scenario(
        "both sides at 60 ms",
        lambda: (lognormal(1, 0.06, 0.1), lognormal(2, 0.06, 0.1)),
        lambda seconds: steadily(RATE, seconds),
    ),
    Scenario(
        "lognormal, sigma 1.6",
        lambda: (lognormal(1, sigma=1.6), lognormal(2, sigma=1.6)),
        lambda seconds: steadily(RATE, seconds),
    ),
    Scenario(
        "cold bursts after idle minutes",
        lambda: (cold(lognormal(1), 3), cold(lognormal(2), 4)),
        lambda seconds: in_bursts(seconds),
    ),
)

UNEQUAL_SIDES = (
    Scenario(
        "1% stalled 100 x",
        lambda: (slower(lognormal(1), 0.01, 100, 3), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
        equal=False,
    ),
    Scenario(
        "30% stalled 30 x",
        lambda: (slower(lognormal(1), 0.3, 30, 3), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
        equal=False,
    ),
    Scenario(
        "stalls in bursts",
        lambda: (stalling_together(lognormal(1)), lognormal(2)),
        lambda seconds: steadily(RATE, seconds),
        equal=False,
    ),
)
