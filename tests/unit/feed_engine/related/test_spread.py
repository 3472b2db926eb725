"""The order of related pins: no board fills a page."""

from collections import Counter

from hypothesis import strategies as st

from feed_engine.related.spread import spread
from tests.generated import given


@given(
    boards=st.lists(st.integers(0, 6), max_size=80),
    window=st.integers(1, 10),
    most=st.integers(1, 4),
)
def test_no_window_has_more_of_one_board_than_allowed(
    boards: list[int], window: int, most: int
) -> None:
    found = list(enumerate(boards))
    placed = spread(found, lambda it: it[1], window=window, most=most)
    assert len(set(placed)) == len(placed)
    for start in range(len(placed)):
        counts = Counter(board for _, board in placed[start : start + window])
        assert not counts or max(counts.values()) <= most
    left_out = set(found) - set(placed)
    assert len({board for _, board in left_out}) <= len(boards) // max(1, most)
    for board in set(boards):
        of_board = [it for it in placed if it[1] == board]
        assert of_board == sorted(of_board), "pins of one board keep their order"


def test_pins_of_different_boards_keep_their_order() -> None:
    assert spread(range(30), lambda it: it) == list(range(30))


def test_a_board_alone_gives_what_a_page_may_have() -> None:
    assert spread(range(30), lambda it: 0) == [0, 1, 2, 3]
