"""Which crowded rows are spread, and where to: as properties, and under adversaries."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.order.simulation import ADVERSARIES, Adversary, Board, simulate
from datasources.mappings import SEQUENCE_STEP
from feed_engine.spacing import FEW, SPACING, Search, Spacing, Surroundings, Window, choose, crowded


@given(st.integers(0, 10**37), st.integers(1, 120), st.integers(1, 400), st.data())
def test_spread_rows_ascend_strictly_inside_their_window_and_stand_a_step_apart(
    lower: int, bits: int, rows: int, data: st.DataObject
) -> None:
    window = Window(lower, lower + rows + 1 + 2**bits)
    places = window.spread(rows, data.draw(st.integers(0, rows - 1)))
    assert len(places) == rows
    gaps = [b - a for a, b in pairwise([lower, *places, window.upper])]
    assert min(gaps) >= max(window.step(rows), 1)


@pytest.mark.parametrize("center", [5, 50])
def test_the_narrowest_gap_of_many_rows_is_beside_the_wide_middle(center: int) -> None:
    window = Window(0, 2**80)
    places = window.spread(60, center)
    gaps = [b - a for a, b in pairwise([0, *places, 2**80])]
    widest = gaps.index(max(gaps))
    assert gaps[widest] > 2**79
    assert min(gaps[center : center + 2]) > 2**73
    assert min(gaps) == min(gaps[widest - 1], gaps[widest + 1])
    assert gaps.count(min(gaps)) == 1


def test_one_row_beside_a_wide_gap_is_enough() -> None:
    places = [0, *(2**80 - 2**n for n in range(60, 5, -1)), 2**80, 2**82, 2**83]
    window = choose(places, len(places) - 4, SPACING)
    assert window is not None
    moved = [place for place in places if window.lower < place < window.upper]
    assert len(moved) <= 2


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60, unique=True), st.data())
def test_after_spreading_every_gap_there_has_the_room_asked_for(
    sequences: list[int], data: st.DataObject
) -> None:
    rows = sorted(10**37 + sequence for sequence in sequences)
    at = data.draw(st.integers(0, len(rows) - 1))
    around = Surroundings(rows[: at + 1][::-1], rows[at + 1 :], True, True)
    search = crowded(SPACING)
    next(search)
    window = _sent(search, around)
    if window is None:
        assert around.is_roomy(SPACING)
        return
    inside = [row for row in rows if window.lower < row < window.upper]
    places = window.spread(len(inside), inside.index(rows[at]))
    gaps = [b - a for a, b in pairwise([window.lower, *places, window.upper])]
    assert min(gaps) >> SPACING.room


def _sent(search: Search, around: Surroundings) -> Window | None:
    """What a search finds that is told of all rows at once."""
    while True:
        try:
            search.send(around)
        except StopIteration as done:
            found: Window | None = done.value
            return found


@given(st.integers(1, 50), st.integers(0, 2**60), st.integers(2, 2**60))
def test_only_the_row_that_makes_a_gap_narrow_asks_for_a_job(
    threshold: int, lower: int, gap: int
) -> None:
    spacing, place = Spacing(threshold, 52), lower + gap // 2
    bits = gap.bit_length() - 1
    asks = spacing.asks(lower, place, lower + gap)
    assert asks == ((gap // 2).bit_length() - 1 < threshold <= bits)


@pytest.mark.parametrize("pins", [100, 3_000])
@pytest.mark.parametrize("late", [False, True], ids=["jobs at once", "jobs held back"])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_an_adversary_costs_few_rows_a_move_and_never_finds_no_room(
    adversary: Adversary, pins: int, late: bool
) -> None:
    board = simulate(pins, 20_000, adversary, SPACING, late=lambda: late)
    ascending = [board.sequence[row] for row in board.ascending()]
    assert len(ascending) == pins
    assert all(a < b for a, b in pairwise(ascending))
    assert ascending[0] > 0
    assert ascending[-1] < 10**38
    assert board.tally.failures == 0
    assert board.tally.mean < (0.1 if adversary == "same side" else 2)
    assert (board.tally.by_job == 0) == late


def test_a_gap_of_a_millisecond_serves_more_moves_than_it_has_bisections() -> None:
    board = simulate(3_000, 2_000, "same side", SPACING)
    assert 0 < board.tally.worst <= FEW
    assert board.tally.by_job < 2_000 / 10
    assert SEQUENCE_STEP.bit_length() - 1 == 83


def test_a_simulated_move_that_finds_no_room_is_counted_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = Board(5, SPACING)
    board.sequence[3] = board.sequence[2] + 1
    monkeypatch.setattr(board, "_spread", lambda *_: 0)
    assert board.move(5, 2) is None
    assert board.tally.failures == 1
    assert board.ascending() == [1, 2, 3, 4, 5]
