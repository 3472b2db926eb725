"""The arithmetic of sequences, as properties."""

import pytest
from hypothesis import strategies as st

from datasources.mappings import SEQUENCE_STEP
from feed_engine.ordering import order
from tests.generated import given

MILLISECONDS = st.integers(1, 10**13 - 1)
SEQUENCES = st.integers(1, order.HIGHEST - SEQUENCE_STEP)


@given(MILLISECONDS, st.none() | SEQUENCES)
def test_a_new_pin_goes_above_every_row_whatever_the_clock_says(now, highest):
    new = order.top(now, highest)
    assert new % SEQUENCE_STEP == 0
    assert new >= now * SEQUENCE_STEP
    assert highest is None or new > highest


def test_pins_of_one_millisecond_stand_a_whole_step_apart():
    first = order.top(1_700_000_000_000, None)
    second = order.top(1_700_000_000_000, first)
    assert first == 1_700_000_000_000 * 10**25
    assert len(str(first)) == 38
    assert second - first == SEQUENCE_STEP


@given(SEQUENCES)
def test_below_the_lowest_there_is_room_until_one(lowest):
    new = order.bottom(lowest)
    assert (new is None) if lowest == 1 else (new is not None and 0 < new < lowest)


@given(SEQUENCES, SEQUENCES)
def test_a_midpoint_is_strictly_between_or_there_is_none(a, b):
    lower, upper = min(a, b), max(a, b)
    middle = order.bisect(lower, upper)
    assert (middle is None) == (upper - lower < 2)
    assert middle is None or lower < middle < upper


def test_a_midpoint_of_38_digits_is_exact():
    lower = 17_000_000_000_005_000_000_000_000_000_000_000_001
    assert order.bisect(lower, lower + 2) == lower + 1
    assert order.bisect(lower, lower + 1) is None


@given(MILLISECONDS, st.lists(st.booleans(), min_size=83, max_size=83))
def test_a_milliseconds_gap_takes_83_bisections_on_any_sides(now, sides):
    lower, upper = now * SEQUENCE_STEP, (now + 1) * SEQUENCE_STEP
    for left in sides:
        middle = order.bisect(lower, upper)
        assert middle is not None
        lower, upper = (lower, middle) if left else (middle, upper)


@pytest.mark.parametrize(
    "pick",
    [lambda turn: True, lambda turn: False, lambda turn: turn % 2 == 0],
    ids=["always below", "always above", "alternating"],
)
def test_the_worst_sides_leave_83_bisections_too(pick):
    lower, upper, done = 0, SEQUENCE_STEP, 0
    while (middle := order.bisect(lower, upper)) is not None:
        assert order.bisections(lower, upper) >= 83 - done
        lower, upper = (lower, middle) if pick(done) else (middle, upper)
        done += 1
    assert done >= 83


@given(st.integers(1, 10**6), st.data())
def test_the_promised_bisections_are_kept_on_any_path(gap, data):
    lower, upper = 0, gap
    for _ in range(order.bisections(lower, upper)):
        middle = order.bisect(lower, upper)
        assert middle is not None
        lower, upper = (lower, middle) if data.draw(st.booleans()) else (middle, upper)


def test_the_promise_is_the_best_that_can_be_given():
    def worst(gap: int) -> int:
        return 0 if gap < 2 else 1 + min(worst(gap // 2), worst(gap - gap // 2))

    assert [order.bisections(0, gap) for gap in range(1, 300)] == [worst(g) for g in range(1, 300)]
