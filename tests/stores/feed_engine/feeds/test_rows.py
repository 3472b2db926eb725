"""Row and column encodings: their order, and decoding."""

import math

from hypothesis import strategies as st

from feed_engine.feeds import rows
from feed_engine.feeds.rows import FollowingColumn, Place, PoolColumn, Reason, Source
from tests.generated import given

ids = st.integers(1, 2**62 - 1)
floats = st.floats(allow_nan=False).map(lambda f: f + 0.0)  # -0.0 is written as 0.0
times = st.integers(0, 2**42 - 1)


@given(st.tuples(floats, ids), st.tuples(floats, ids))
def test_pool_columns_sort_the_highest_score_first(
    a: tuple[float, int], b: tuple[float, int]
) -> None:
    one, two = rows.pool_column(PoolColumn(*a)), rows.pool_column(PoolColumn(*b))
    assert (one < two) == ((-a[0], a[1]) < (-b[0], b[1]))


@given(st.integers(1, 2**20), times, times)
def test_an_unfollow_hides_every_cell_of_follows_before_it_and_none_after(
    version: int, refilled: int, again: int
) -> None:
    hides = rows.unfollow_stamp(version)
    assert rows.follow_stamp(version) <= rows.follow_stamp(version, refilled) <= hides
    assert hides < rows.follow_stamp(version + 1, again) < 2**63


@given(floats, ids)
def test_pool_columns_come_back_as_they_were(score: float, pin_id: int) -> None:
    assert rows.parse_pool(rows.pool_column(PoolColumn(score, pin_id))) == (score, pin_id)


def test_infinite_scores_sort_too() -> None:
    scores = [math.inf, 1.5, 0.0, -1.5, -math.inf]
    assert sorted(scores, key=rows.inverted_score) == scores


@given(st.lists(st.tuples(times, ids, ids), min_size=2))
def test_following_columns_sort_the_newest_pin_first(columns: list[tuple[int, int, int]]) -> None:
    by_bytes = sorted(columns, key=lambda c: rows.following_column(FollowingColumn(*c)))
    assert by_bytes == sorted(columns, key=lambda c: (-c[0], c[1], c[2]))


@given(times, ids, ids, ids)
def test_the_place_behind_a_pin_is_behind_all_of_its_causes(
    created: int, pin_id: int, cause_id: int, other_id: int
) -> None:
    column = rows.following_column(FollowingColumn(created, pin_id, cause_id))
    assert rows.parse_following(column) == (created, pin_id, cause_id)
    other = rows.following_column(FollowingColumn(created, pin_id, other_id))
    next_pin = rows.following_column(FollowingColumn(created, pin_id + 1, 1))
    assert other < rows.behind_pin(column) < next_pin


@given(st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, rows.MAX_POSITION)), min_size=2))
def test_materialized_columns_sort_the_newest_generation_first(
    places: list[tuple[int, int]],
) -> None:
    by_bytes = sorted(places, key=lambda place: rows.place_column(Place(*place)))
    assert by_bytes == sorted(places, key=lambda place: (-place[0], place[1]))
    assert [rows.parse_place(rows.place_column(Place(*p))) for p in places] == places


@given(st.integers(1, 2**40))
def test_the_place_before_a_generation_is_behind_all_later_ones(generation: int) -> None:
    before = rows.before_generation(generation)
    assert before < rows.place_column(Place(generation, 0))
    assert before > rows.place_column(Place(generation + 1, rows.MAX_POSITION))


@given(ids, st.sampled_from(list(Reason)), st.integers(1, 2**40), st.integers(0, 2**16 - 1))
def test_values_come_back_as_they_were(
    pin_id: int, reason: Reason, generation: int, position: int
) -> None:
    assert rows.parse_shown_pin(rows.shown_pin(pin_id, reason)) == (pin_id, reason)
    place = Place(generation, position)
    assert rows.parse_shown_at(rows.shown_at(place)) == place
    assert rows.parse_why(rows.why(pin_id)).cause_id == pin_id


@given(st.integers(0, 2**63), st.integers(0, 2**63))
def test_a_newer_version_sorts_first(one: int, other: int) -> None:
    assert (rows.inverted_version(one) < rows.inverted_version(other)) is (one > other)


def test_each_pool_of_a_user_is_a_row_of_its_own() -> None:
    pool_rows = {rows.pool_row(user, source) for user in (1, 2, 2**61) for source in Source}
    assert len(pool_rows) == 12
