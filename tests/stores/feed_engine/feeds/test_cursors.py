"""Cursors of feeds: opaque, checked, and never an error of ours."""

import pytest
from hypothesis import strategies as st

from datasources.errors import BadInput
from feed_engine.feeds import cursors
from feed_engine.feeds.cursors import CursorKind
from tests.generated import given


@given(st.binary(min_size=3, max_size=40))
def test_a_cursor_gives_back_its_place(place: bytes) -> None:
    cursor = cursors.encode(CursorKind.HOME_1, place)
    assert cursors.decode(CursorKind.HOME_1, cursor, least=3, most=40) == place


@given(st.text(max_size=500) | st.binary().map(lambda raw: cursors.encode(CursorKind.HOME_1, raw)))
def test_whatever_is_no_cursor_of_this_feed_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput):
        cursors.decode(CursorKind.FOLLOWING_1, text, least=24)


def test_a_cursor_of_the_wrong_length_is_bad_input() -> None:
    with pytest.raises(BadInput, match="is not a cursor of this feed"):
        cursors.decode(CursorKind.HOME_1, cursors.encode(CursorKind.HOME_1, b"x"), least=2)
