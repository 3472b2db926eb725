"""The choice of crowded rows and their new places: as properties, and under adversaries."""

from itertools import pairwise

import pytest
from hypothesis import strategies as st

from bench.order.simulation import ADVERSARIES, OTHERS, Adversary, Board, simulate
from datasources.mappings import SEQUENCE_STEP
from feed_engine.ordering.spacing import (
    SPACING,
    Search,
    Spacing,
    Surroundings,
    Window,
    choose,
    crowded,
    lasting,
)
from tests.generated import given


@given(
    st.integers(0, 10**37),
    st.integers(0, 120),
    st.integers(0, 30),
    st.integers(-1, 1),
    st.integers(1, 400),
    st.data(),
)
def test_spread_rows_ascend_strictly_inside_their_window_and_have_the_room_it_gives(
    lower: int, bits: int, shift: int, side: int, rows: int, data: st.DataObject
) -> None:
    window = Window(lower, lower + rows + 2**bits, shift, side)
    places = window.spread(rows, data.draw(st.integers(0, rows - 1)))
    assert len(places) == rows
    gaps = [b - a for a, b in pairwise([lower, *places, window.upper])]
    assert min(gaps) >= 2 ** max(window.room(rows), 0)


@pytest.mark.parametrize("center", [5, 50])
def test_the_narrowest_gap_of_spread_rows_is_beside_the_wide_middle(center: int) -> None:
    places = Window(0, 2**80, 20).spread(60, center)
    gaps = [b - a for a, b in pairwise([0, *places, 2**80])]
    widest = gaps.index(max(gaps))
    assert gaps[widest] > 2**79
    assert min(gaps[center : center + 2]) > 2**73
    assert min(gaps) == min(gaps[widest - 1], gaps[widest + 1])
    assert gaps.count(min(gaps)) == 1


def test_rows_spread_later_stand_no_wider_apart_so_the_narrowest_gap_is_always_the_latest() -> None:
    """Rows go into the narrowest gap again and again, and are spread into the middle."""
    lower, upper, latest = 0, 2**83, 2**83
    for _ in range(200):
        places = Window(lower, upper, 20).spread(50, 25)
        gaps = [b - a for a, b in pairwise([lower, *places, upper])]
        assert min(gaps) <= max(gap for gap in gaps if gap < 2**70) <= latest
        latest = min(gaps)
        lower, upper = places[24], places[25]
    assert upper - lower > 2**75


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize(("leaves", "side"), [(2, 0), (40, -1)])
def test_narrower_gaps_beside_a_window_are_spread_if_few_and_else_get_its_middle(
    leaves: int, side: int, is_mirrored: bool
) -> None:
    edge = 2**83 + leaves * 2**45
    narrower = [2**83 + row * 2**45 for row in range(leaves)]
    crowd = [edge + row * 2**7 for row in range(10)]
    places = [0, *narrower, *crowd, edge + 2**83, edge + 2**84]
    if is_mirrored:
        places = [2**85 - place for place in reversed(places)]
    window = choose(places, places.index(2**85 - crowd[5] if is_mirrored else crowd[5]), SPACING)
    assert window is not None
    assert window.side == (-side if is_mirrored else side)
    inside = [place for place in places if window.lower < place < window.upper]
    assert len(inside) == (10 if side else 10 + leaves)
    spread = window.spread(len(inside), len(inside) // 2)
    gaps = [b - a for a, b in pairwise([window.lower, *spread, window.upper])]
    assert min(gaps) >> SPACING.room
    if side:
        assert max(gaps) == gaps[-1 if is_mirrored else 0]


@pytest.mark.parametrize("rows", [100, 1_000, 10_000])
def test_a_larger_window_has_to_give_more_room(rows: int) -> None:
    places = list(range(0, rows * 2**20, 2**20))  # all of them crowded
    wide = [place + 2**90 for place in places]
    window = choose([0, *wide, 2**91], rows // 2, Spacing(room=20))
    assert window is not None
    room = window.room(sum(window.lower < place < window.upper for place in wide))
    assert room >= 20 + lasting(rows)
    assert (lasting(rows) > 0) == (rows > 127)


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
    """The result of a search that gets all rows at once."""
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
@pytest.mark.parametrize("adversary", [*ADVERSARIES, *OTHERS])
def test_an_adversary_costs_few_rows_a_move_and_never_finds_no_room(
    adversary: Adversary, pins: int, late: bool
) -> None:
    board = simulate(pins, 10_000, adversary, SPACING, late=lambda: late)
    ascending = [board.sequence[row] for row in board.ascending()]
    assert len(ascending) == pins
    assert all(a < b for a, b in pairwise(ascending))
    assert ascending[0] > 0
    assert ascending[-1] < 10**38
    assert board.tally.failures == 0
    assert board.tally.mean < (1.5 if adversary in ADVERSARIES else 2)
    assert (board.tally.by_job == 0) == late


def test_a_gap_of_a_millisecond_serves_more_moves_than_it_has_bisections() -> None:
    board = simulate(3_000, 2_000, "same side", SPACING)
    assert 0 < board.tally.worst <= SPACING.rows
    assert board.tally.by_job < 1.2 * 2_000
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
