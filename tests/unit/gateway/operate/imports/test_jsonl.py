"""The lines of the import format: what is taken, what is refused and why, and their one form."""

import json
import re
from typing import Any

import pytest

from datasources.mappings import SEQUENCE_STEP
from gateway.operate.imports.jsonl import (
    BadLine,
    UserLine,
    canonical,
    created_ms,
    decode,
    decode_again,
    sequence_of,
)
from tests.generated import given
from tests.importing.worlds import worlds

PIN: dict[str, Any] = {"type": "pin", "key": "p", "board": "b"}
USER: dict[str, Any] = {"type": "user", "key": "u", "username": "ann"}


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "truncated"),
        (b"[]", "Expected `object`"),
        (b"\xff", "malformed"),
        (b'{"type":"user","key":"\xff"}', "utf-8"),
        (line(type="song", key="x"), "'song'"),
        (line(key="x"), "`type`"),
        (line(**USER, nickname="x"), "`nickname`"),
        (line(type="user", key="u"), "`username`"),
        (line(**USER | {"username": "a b"}), "user name"),
        (line(**USER | {"username": "ann\n"}), "user name"),
        (line(**USER | {"key": ""}), "$.key"),
        (line(**USER | {"key": 5}), "$.key"),
        (line(**USER, about="x" * 2001), "$.about"),
        (line(**USER, about="a\u0007b"), "U+0007"),
        ('{"type":"user","key":"u","username":"ann","about":"a\u200bb"}'.encode(), "ZERO WIDTH"),
        (line(**USER, full_name="\u202eann"), "U+202E (RIGHT-TO-LEFT OVERRIDE) - at `$.full_name`"),
        (line(**USER, full_name="\x85"), "U+0085 (a control character)"),
        (line(type="board", key="b", owner="u", name=" "), "nobody can see - at `$.name`"),
        (line(type="board", key="b", owner="u", name="\u200d"), "nobody can see - at `$.name`"),
        ('{"type":"comment","key":"c","pin":"p","author":"u","text":"\ufe0f"}'.encode(), "$.text"),
        (line(**PIN, title="\u2800"), "nobody can see - at `$.title`"),
        (line(**USER, created="2024-01-01T00:00:00"), "$.created"),
        (line(**USER, created="yesterday"), "$.created"),
        (line(**USER, created="1969-12-31T23:59:59Z"), "1970"),
        (line(**PIN, link="javascript:alert(1)"), "http"),
        (line(**PIN, link="https://example.com/a b"), "http"),
        (line(**PIN, link="https://example.com:99999/"), "$.link"),
        (line(**PIN, image={"url": "http://example.com:0/"}), "$.image.url"),
        (line(**USER, avatar={"url": "http://example.com:99999/"}), "$.avatar.url"),
        (line(**PIN, image={"url": "/etc/passwd"}), "/images/"),
        (line(**PIN, image={"url": "/images/../x"}), "/images/"),
        (line(**PIN, image={"url": "https://e.com", "width": 0}), "$.image.width"),
        (line(**PIN, image={"url": "https://e.com", "color": "red"}), "color"),
        (line(**PIN, sequence="007"), "whole number"),
        (line(**PIN, interests=[str(n) for n in range(21)]), "$.interests"),
        (line(type="comment", key="c", pin="p", author="u", text=""), "$.text"),
        (line(type="follow", follower="u"), "one of"),
        (line(type="follow", follower="u", user="v", board="b"), "one of"),
        (line(type="follow", follower="u", user="u"), "themselves"),
    ],
)
def test_a_bad_line_says_what_is_wrong(data: bytes, says: str) -> None:
    with pytest.raises(BadLine, match=re.escape(says)):
        decode(data)


def test_the_canonical_form_sorts_keys_and_leaves_defaults_and_blanks_out() -> None:
    data = b"""{ "username": "Ann", "type": "user", "key": "u", "about": "", "avatar": null,
                 "created": "2024-01-01T02:00:00.123456+02:00" }"""
    assert canonical(decode(data)) == (
        b'{"created":"2024-01-01T00:00:00.123000Z","key":"u","type":"user","username":"ann"}'
    )


def test_the_canonical_form_names_an_interest_once_and_no_sequence_that_follows() -> None:
    plain = decode(line(**PIN, interests=["a", "b", "a"], created="2024-01-01T00:00:00Z"))
    sequence = str(sequence_of("p", created_ms(plain)))
    given_it = decode(
        line(**PIN, interests=["a", "b"], created="2024-01-01T00:00:00Z", sequence=sequence)
    )
    assert canonical(given_it) == canonical(plain)
    assert b"sequence" not in canonical(plain)


def test_an_unknown_time_is_the_first_instant_of_1970() -> None:
    assert canonical(decode(line(**USER, created="1970-01-01T00:00:00Z"))) == canonical(
        decode(line(**USER))
    )


def test_pins_stand_by_time_and_never_in_one_place() -> None:
    places = [sequence_of(f"p{n}", ms) for ms in (0, 1, 10**13 - 1) for n in range(1000)]
    assert len(set(places)) == 3000
    assert {place // SEQUENCE_STEP for place in places} == {0, 1, 10**13 - 1}
    assert min(places) > 0
    assert max(places) < 10**38


@given(worlds())
def test_the_canonical_form_of_a_canonical_line_is_itself(world: list[bytes]) -> None:
    for data in world:
        once = canonical(decode(data))
        assert canonical(decode(once)) == once


def test_texts_are_kept_in_one_form_of_unicode_and_keys_as_they_are() -> None:
    found = decode(line(**USER | {"key": "e\u0301"}, full_name="Ame\u0301lie"))
    assert isinstance(found, UserLine)
    assert (found.key, found.full_name) == ("e\u0301", "Am\xe9lie")


@pytest.mark.parametrize(
    "data",
    [
        line(**PIN, title="tea", link="https://example.org/"),
        json.dumps({**PIN, "title": "cafe\u0301"}, ensure_ascii=False).encode(),
        line(**PIN, title="cafe\u0301"),
        line(**USER, full_name="two\nlines"),
    ],
)
def test_a_line_that_was_taken_is_the_same_when_it_is_read_again(data: bytes) -> None:
    assert decode_again(data) == decode(data)


def test_an_optional_text_may_be_blank() -> None:
    assert decode(line(**PIN, title=" ", description="\n")).key == "p"
