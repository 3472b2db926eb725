"""A viewer's shares of the sources: what they are learned from, and what bounds them."""

from collections import Counter
from itertools import islice, pairwise
from math import isclose

from hypothesis import strategies as st

from datasources.mappings import SEQUENCE_STEP, Edge
from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.smart.diversity import is_diverse
from feed_engine.feeds.smart.generator import Candidate, board_of, generate
from feed_engine.feeds.smart.shares import (
    HALF_LIFE,
    PARTS,
    PRIOR,
    READ,
    SKEW,
    Likes,
    Rates,
    Tally,
    learned,
    of_page,
    tallied,
)
from feed_engine.feeds.visits import Chunk, Remembered
from tests.generated import given

NOW = 1_700_000_000_000
F, I, R, P = Source.FOLLOWED, Source.INTEREST, Source.RELATED, Source.POPULAR  # noqa: E741
RATES = {F: 5, I: 3, R: 2, P: 0}

counts = st.integers(0, 200).flatmap(lambda shown: st.tuples(st.just(shown), st.integers(0, shown)))
tallies = st.fixed_dictionaries({source: counts.map(lambda it: Tally(*it)) for source in Source})
some_rates = st.fixed_dictionaries({source: st.integers(0, 9) for source in (F, I, R)}).filter(
    lambda rates: any(rates.values())
)
powers, leasts = st.floats(0.1, 10), st.floats(0, 0.3)


def visit(
    *pins: tuple[int, Reason], at: int = NOW, roots: dict[int, int] | None = None
) -> Remembered:
    return Remembered(1, "a visit", Chunk(pins, roots=roots or {}), True, at)


def shares(rates: Rates) -> dict[Source, float]:
    total = sum(rates.values())
    return {source: rate / total for source, rate in rates.items()}


@given(some_rates, tallies, powers, leasts)
def test_every_source_that_is_mixed_keeps_a_share_and_fillers_stay_fillers(
    rates: Rates, found: dict[Source, Tally], power: float, least: float
) -> None:
    rates = {**rates, P: 0}
    after = learned(rates, found, power=power, least=least)
    assert learned(rates, found, power=power, least=least) == after
    before, told = shares(rates), shares(after)
    for source, share in told.items():
        assert (share > 0) == (before[source] > 0)
        assert share >= min(least, before[source]) - 3 / PARTS


@given(some_rates, tallies, powers, leasts)
def test_the_source_that_is_liked_more_gains_more(
    rates: Rates, found: dict[Source, Tally], power: float, least: float
) -> None:
    shown, liked = (sum(found[source][n] for source in rates if rates[source]) for n in range(2))
    after = shares(learned(rates, found, power=power, least=0))
    bounded = shares(learned(rates, found, power=power, least=least))
    if not liked:
        assert after == bounded == shares(rates)
        return

    def like_rate(source: Source) -> float:
        tally = found[source]
        return (tally.liked + PRIOR * liked / shown) / (tally.shown + PRIOR)

    mixed = sorted((s for s in rates if rates[s]), key=like_rate)
    for less, more in pairwise(mixed):
        assert after[less] * rates[more] <= after[more] * rates[less] + 10 / PARTS
        if bounded[less] > least + 3 / PARTS:
            assert bounded[less] * rates[more] <= bounded[more] * rates[less] + 10 / PARTS


def test_rates_are_the_settings_without_likes_and_with_the_power_0() -> None:
    shown = {F: Tally(100), I: Tally(60), R: Tally(40)}
    assert learned(RATES, {}, power=2, least=0.1) is RATES
    assert learned(RATES, shown, power=2, least=0.1) is RATES
    liked = {**shown, R: Tally(40, 20)}
    assert learned(RATES, liked, power=0, least=0.1) is RATES
    assert learned(RATES, {P: Tally(10, 10)}, power=2, least=0.1) is RATES


def test_the_shares_follow_like_rates_and_a_few_likes_do_not_swing_them() -> None:
    much = {F: Tally(1e6, 1e5), I: Tally(1e6, 2e5), R: Tally(1e6, 3e5)}
    told = shares(learned(RATES, much, power=1, least=0))
    assert all(
        isclose(told[source], share / 17, abs_tol=2 / PARTS)
        for source, share in {F: 5, I: 6, R: 6}.items()
    )
    told = shares(learned(RATES, much, power=2, least=0.25))
    assert isclose(told[F], 0.25, abs_tol=1 / PARTS)
    one = {F: Tally(5), I: Tally(3), R: Tally(2, 1)}
    assert 0.2 < shares(learned(RATES, one, power=1, least=0.1))[R] < 0.3


@given(some_rates, tallies, powers, st.integers(1, 30))
def test_a_chunk_has_the_shares_and_a_source_that_runs_out_leaves_its_turns(
    rates: Rates, found: dict[Source, Tally], power: float, few: int
) -> None:
    rates = learned({**rates, P: 0}, found, power=power, least=0.1)
    pools = {source: pool(source, 100) for source in Source}
    chunk = list(islice(generate(pools, rates=rates, floor=-1e9), 100))
    told = Counter(c.source for c in chunk)
    for source, share in shares(rates).items():
        assert abs(told[source] - 100 * share) < 2
    pools[F] = pool(F, few)
    mixed = sum(len(pools[source]) for source, rate in rates.items() if rate)
    chunk = list(generate(pools, rates=rates, floor=-1e9))
    assert len(chunk) == 300 + few
    assert {c.source for c in chunk[:mixed]} == {source for source, rate in rates.items() if rate}
    assert not any(rates[c.source] for c in chunk[mixed:])


@given(some_rates, tallies, powers, st.integers(1, 40))
def test_the_limits_of_owners_hold_with_learned_rates(
    rates: Rates, found: dict[Source, Tally], power: float, busy: int
) -> None:
    rates = learned({**rates, P: 0}, found, power=power, least=0.1)
    pools = {source: pool(source, 60, busy=busy) for source in Source}
    chunk = list(islice(generate(pools, rates=rates, floor=-1e9), 25))
    assert len(chunk) == 25
    assert is_diverse([board_of(c) for c in chunk])


def pool(source: Source, count: int, *, busy: int = 0) -> list[Candidate]:
    """Pins of a source, the first `busy` of which are on one board."""
    start = 1000 * source
    return [
        Candidate(start + n, -float(n), source, Reason.RELATED, 0, 1 if n < busy else start + n)
        for n in range(count)
    ]


def test_a_like_counts_for_the_source_that_showed_the_pin() -> None:
    shown = visit((1, Reason.FOLLOWED_USER), (2, Reason.FOLLOWED_BOARD), (3, Reason.RELATED))
    other = visit((4, Reason.FOLLOWED_INTEREST), (5, Reason.POPULAR), (6, Reason.RELATED))
    likes = Likes({2: NOW + 1, 3: NOW, 99: NOW})
    assert tallied([shown, other], likes, NOW) == {
        F: Tally(2, 1),
        R: Tally(2, 1),
        I: Tally(1),
        P: Tally(1),
    }


def test_a_like_of_the_first_pin_of_a_chain_counts() -> None:
    shown = visit((7, Reason.RELATED), roots={7: 5})
    assert tallied([shown], Likes({5: NOW}), NOW) == {R: Tally(1, 1)}


def test_a_like_before_the_visit_does_not_count() -> None:
    shown = visit((1, Reason.RELATED), (2, Reason.RELATED))
    likes = Likes({1: NOW - SKEW - 1, 2: NOW - SKEW})
    assert tallied([shown], likes, NOW) == {R: Tally(2, 1)}


def test_what_a_visit_tells_halves_with_age() -> None:
    old = visit((1, Reason.RELATED), at=NOW - HALF_LIFE)
    assert tallied([old, visit((2, Reason.RELATED))], Likes({1: NOW}), NOW) == {R: Tally(1.5, 0.5)}
    ahead = visit((3, Reason.RELATED), at=NOW + HALF_LIFE)  # by a clock that was ahead
    assert tallied([ahead], Likes(), NOW) == {R: Tally(1)}


def test_a_visit_before_the_known_likes_tells_nothing() -> None:
    old, new = (visit((n, Reason.RELATED), at=NOW + n) for n in range(2))
    edges = [Edge(1, 10 + n, (NOW + 1 + n) * SEQUENCE_STEP, 1) for n in range(READ)]
    some = of_page(edges[:-1])
    assert some.at == {10 + n: NOW + 1 + n for n in range(READ - 1)}
    assert tallied([new, old], some, NOW) == {R: Tally(2)}
    assert tallied([new, old], of_page(edges), NOW) == {R: Tally(1)}
