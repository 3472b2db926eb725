"""The mapping backwards: places on boards as numbers, and values as columns have them."""

from itertools import pairwise

import pytest
from hypothesis import strategies as st

from datasources.sql.source_tables import Column, WrittenColumn
from gateway.operate.migration.back.orders import places
from gateway.operate.migration.back.values import Inexpressible, Value, is_same, number_of, written
from gateway.operate.migration.conversion import HIGHEST_PLACE
from gateway.operate.migration.mapping import Origin
from tests.generated import given

PLACE = st.none() | st.integers(0, 20) | st.integers(HIGHEST_PLACE - 20, HIGHEST_PLACE)


@given(st.lists(PLACE, min_size=1, max_size=20), st.sampled_from(["lowest", "highest"]))
def test_new_places_descend_and_are_possible(present: list[int | None], first: str) -> None:
    found = places(present, first)
    assert len(found) == len(present)
    assert all(above > below for above, below in pairwise(found))
    assert all(0 <= number_of(it, Origin("c", first=first)) <= HIGHEST_PLACE for it in found)


@given(st.lists(st.integers(0, HIGHEST_PLACE), min_size=1, unique=True))
def test_places_in_the_right_order_stay(present: list[int]) -> None:
    right = sorted(present, reverse=True)
    assert places(right, "lowest") == right


def test_a_new_pin_on_top_changes_one_number_only() -> None:
    assert places([None, 7, 3, 2], "highest") == [8, 7, 3, 2]
    below = HIGHEST_PLACE - 5  # the number 5
    assert places([None, below, below - 1], "lowest") == [below + 1, below, below - 1]


def test_a_board_without_room_gets_new_numbers() -> None:
    found = places([None, HIGHEST_PLACE, HIGHEST_PLACE - 1], "lowest")
    assert [number_of(it, Origin("c", first="lowest")) for it in found] == [1000, 1001, 1002]


def column(type: str, *, nullable: bool = True, fraction: int = 0) -> WrittenColumn:
    return WrittenColumn(Column("c", type, nullable), counts=False, fraction=fraction, length=0)


@pytest.mark.parametrize(
    ("kind", "field", "value", "origin", "to", "right"),
    [
        (
            "user",
            "created",
            1_300_000_000_999,
            Origin("c"),
            column("datetime"),
            "2011-03-13 07:06:40.000",
        ),
        (
            *("user", "created", 1_300_000_000_999, Origin("c")),
            *(column("timestamp", fraction=3), "2011-03-13 07:06:40.999"),
        ),
        (
            "user",
            "created",
            1_300_000_000_999,
            Origin("c", unit="seconds"),
            column("int"),
            1_300_000_000,
        ),
        ("user", "created", 0, Origin("c"), column("datetime"), None),
        ("board", "secret", True, Origin("c"), column("tinyint"), 1),
        ("board", "secret", True, Origin("c", inverted=True), column("tinyint"), 0),
        ("comment", "key", "00ff0102", Origin("c"), column("binary"), b"\0\xff\1\2"),
        ("comment", "text", "é", Origin("c", charset="latin-1"), column("varchar"), b"\xe9"),
        ("comment", "text", "é", Origin("c"), column("blob"), b"\xc3\xa9"),
        ("board", "cover", None, Origin("c"), column("bigint", nullable=False), 0),
        ("pin", "link", None, Origin("c"), column("text", nullable=False), ""),
    ],
)
def test_a_value_is_written_as_its_column_has_it(
    kind: str, field: str, value: Value, origin: Origin, to: WrittenColumn, right: object
) -> None:
    assert written(kind, field, value, origin, to) == right


@pytest.mark.parametrize(
    ("members", "inverted", "secret", "public"),
    [
        (("0", "1"), False, "1", "0"),
        (("no", "yes"), True, "no", "yes"),
        (("public", "friends", "private"), True, "private", "public"),
        (("everybody", "me"), True, "everybody", None),
        (("1",), True, None, "1"),
    ],
)
def test_a_flag_is_a_member_that_is_read_so(
    members: tuple[str, ...], inverted: bool, secret: str | None, public: str | None
) -> None:
    to = column("enum", nullable=False)
    to = to._replace(column=to.column._replace(members=members))
    for value, member in ((True, secret), (False, public)):
        if member is not None:
            assert written("board", "secret", value, Origin("c", inverted=inverted), to) == member
        else:
            with pytest.raises(Inexpressible, match="c has no value for"):
                written("board", "secret", value, Origin("c", inverted=inverted), to)


def test_a_value_that_a_column_can_not_have_is_refused() -> None:
    with pytest.raises(Inexpressible, match="latin-1 has no '☕'"):
        written("comment", "text", "a ☕", Origin("c", charset="latin-1"), column("varchar"))
    with pytest.raises(Inexpressible, match="needs a time"):
        written("user", "created", 0, Origin("c"), column("datetime", nullable=False))


def test_times_are_compared_as_exactly_as_their_column_can() -> None:
    second = column("datetime")
    assert is_same("created", 1_300_000_000_999, 1_300_000_000_000, Origin("c"), second)
    assert not is_same("created", 1_300_000_001_000, 1_300_000_000_000, Origin("c"), second)
