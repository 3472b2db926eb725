"""Feeds' cursors are encrypted like the lists' cursors; readable cursors of earlier versions are
still read."""

from base64 import urlsafe_b64decode

import pytest
from hypothesis import strategies as st

from feed_engine.feeds import cursors
from feed_engine.feeds.cursors import CursorKind
from resolvers.cursors import Cursors
from tests.generated import given

CURSORS = Cursors(b"a secret")


def place(raw: bytes) -> str:
    return cursors.encode(CursorKind.HOME_1, raw)


@given(st.binary(min_size=1, max_size=110))
def test_a_feeds_cursor_is_read_as_it_was_written(raw: bytes) -> None:
    sealed = CURSORS.seal(place(raw))
    assert CURSORS.unseal(sealed) == place(raw)
    assert CURSORS.seal(place(raw)) == sealed
    assert Cursors(b"another").unseal(sealed) == sealed


@given(st.binary(min_size=16, max_size=110))
def test_nothing_of_the_place_can_be_read(raw: bytes) -> None:
    text = urlsafe_b64decode(CURSORS.seal(place(raw)) + "==")
    assert not any(raw[at : at + 6] in text for at in range(len(raw) - 5))


def test_every_changed_letter_is_left_for_the_feed_to_refuse() -> None:
    sealed = CURSORS.seal(place(b"x" * 25))
    for at in range(len(sealed)):
        for letter in "ABgw_-9":
            changed = sealed[:at] + letter + sealed[at + 1 :]
            if changed != sealed:
                assert CURSORS.unseal(changed) == changed


@pytest.mark.parametrize("text", ["", "é", "A", "!" * 40, "A" * 40, "A" * 1_000, place(b"y" * 25)])
def test_all_other_text_stays_as_it_is(text: str) -> None:
    assert CURSORS.unseal(text) == text
    assert CURSORS.unseal(None) is None


@given(st.text(max_size=500))
def test_no_text_is_an_error(text: str) -> None:
    CURSORS.unseal(text)
