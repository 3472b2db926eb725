"""The limits of the extra load."""

import pytest

from feed_engine.speculation.budget import Budget


@pytest.mark.parametrize("share", [0.01, 0.25, 1.0])
def test_extra_calls_are_the_share_and_the_burst_at_most(share: float) -> None:
    budget, made = Budget(share, 20), 0
    for _ in range(1000):
        budget.earn()
        made += budget.spend()
    assert made == pytest.approx(min(1000, 20 + share * 1000), abs=1)


def test_quiet_times_save_up_no_more_than_a_burst() -> None:
    budget = Budget(0.5, 20)
    for _ in range(1000):
        budget.earn()
    assert sum(budget.spend() for _ in range(100)) == 20


def test_what_may_wait_leaves_the_rest_of_the_burst_alone() -> None:
    budget = Budget(0.0, 20)
    assert sum(budget.spend(keep=0.5) for _ in range(100)) == 10
    assert sum(budget.spend() for _ in range(100)) == 10
