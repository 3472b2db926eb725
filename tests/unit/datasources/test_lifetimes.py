"""Entries live from 90% to 100% of the longest time."""

from random import Random

import pytest

from datasources.lifetimes import lifetime


@pytest.mark.parametrize("longest", [1, 9, 10, 86_400])
def test_lives_are_spread_over_the_last_tenth_of_the_longest(longest: int) -> None:
    rng = Random(1)
    lives = [lifetime(longest, rng) for _ in range(2_000)]
    assert longest * 0.9 <= min(lives) < longest * 0.91 or longest < 10
    assert longest * 0.99 < max(lives) <= longest
