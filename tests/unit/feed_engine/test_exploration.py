"""Properties of exploration: the share of its places, the propensities, and the limits."""

from collections import Counter

from hypothesis import strategies as st

from feed_engine.feeds.rows import Reason, Source
from feed_engine.feeds.smart.diversity import Groups, is_diverse
from feed_engine.feeds.smart.exploration import explore
from feed_engine.feeds.smart.generator import Candidate
from tests.generated import given

SHARES = st.floats(0, 0.5)
OWNERS = st.lists(st.integers(1, 12), max_size=30)


def pins(owners: list[int], start: int) -> list[Candidate]:
    """A pin of each owner, who has one board."""
    return [
        Candidate(start + n, -float(n), Source.FOLLOWED, Reason.FOLLOWED_USER, owner, owner)
        for n, owner in enumerate(owners)
    ]


def groups(c: Candidate) -> Groups:
    return (c.cause_id,)


@given(OWNERS, OWNERS, SHARES, st.text())
def test_the_share_of_the_places_is_explored_and_the_other_pins_keep_theirs(
    owners: list[int], others: list[int], share: float, seed: str
) -> None:
    chosen, unknown = pins(owners, 100), pins(others, 200)
    found, odds = explore(chosen, unknown, share=share, groups_of=groups, seed=seed)
    assert explore(chosen, unknown, share=share, groups_of=groups, seed=seed) == (found, odds)
    new = set(others) - set(owners)
    assert len(odds) == min(int(share * len(chosen) + 1e-9), len(new))
    changed = [after for before, after in zip(chosen, found, strict=True) if before != after]
    assert {c.pin_id for c in changed} == odds.keys()
    assert set(changed) <= set(unknown)
    assert all(0 < p <= 1 and abs(p - len(odds) / len(new)) < 1e-4 for p in odds.values())


@given(OWNERS, OWNERS, SHARES, st.text())
def test_exploration_keeps_the_limits_of_an_owner(
    owners: list[int], others: list[int], share: float, seed: str
) -> None:
    found, _ = explore(
        pins(owners, 100), pins(others, 200), share=share, groups_of=groups, seed=seed
    )
    if is_diverse([(owner,) for owner in owners]):
        assert is_diverse([groups(c) for c in found])


def test_over_many_visits_each_pin_comes_as_often_as_its_propensity_says() -> None:
    chosen, unknown = pins([1] * 25, 100), pins(list(range(2, 12)), 200)
    counts = Counter[int]()
    for visit in range(2_000):
        _, odds = explore(chosen, unknown, share=0.08, groups_of=groups, seed=f"{visit}")
        counts.update(odds.keys())
        assert set(odds.values()) == {0.2}
    assert all(330 < counts[c.pin_id] < 470 for c in unknown)
