"""The pieces of SQL that differ, and keys and sequences as they are stored."""

import pytest
from hypothesis import strategies as st

from datasources.sql.codecs import MAX_KEY, key
from datasources.sql.dialect import MAX_SEQUENCE, MYSQL, SQLITE, Dialect, marks, rows_of_marks
from tests.generated import given

sequences = st.integers(0, MAX_SEQUENCE)


@given(sequences, sequences)
def test_sequences_as_text_sort_as_the_numbers_do(one: int, other: int) -> None:
    assert (SQLITE.sequence(one) < SQLITE.sequence(other)) == (one < other)
    assert int(SQLITE.sequence(one)) == one == MYSQL.sequence(one)


@pytest.mark.parametrize("dialect", [SQLITE, MYSQL])
def test_a_sequence_that_does_not_fit_is_refused_but_may_bound_a_page(dialect: Dialect) -> None:
    for value in (-1, MAX_SEQUENCE + 1):
        with pytest.raises(ValueError, match="38 digits"):
            dialect.sequence(value)
    assert dialect.bound(-1) == dialect.sequence(0)
    assert dialect.bound(10**60) == dialect.sequence(MAX_SEQUENCE)


def test_the_ids_of_one_insert_are_counted_from_the_end_that_the_database_names() -> None:
    assert SQLITE.first_id(12, 3) == 10
    assert MYSQL.first_id(10, 3) == 10


def test_a_duplicate_key_keeps_or_replaces_the_row() -> None:
    assert SQLITE.keep(("a", "b")) == "ON CONFLICT (a, b) DO UPDATE SET a = a"
    assert MYSQL.keep(("a", "b")) == "ON DUPLICATE KEY UPDATE a = a"
    assert SQLITE.replace(("a",), ("b",)) == "ON CONFLICT (a) DO UPDATE SET b = excluded.b"
    assert MYSQL.replace(("a",), ("b", "c")) == (
        "ON DUPLICATE KEY UPDATE b = VALUES(b), c = VALUES(c)"
    )


def test_parameters_are_marked_one_by_one_and_row_by_row() -> None:
    assert marks(3) == "?, ?, ?"
    assert rows_of_marks(2, 2) == "(?, ?), (?, ?)"


@given(st.text(max_size=300), st.text(max_size=300))
def test_keys_fit_their_index_and_stay_apart(one: str, other: str) -> None:
    assert len(key(one)) <= MAX_KEY
    assert (key(one) == key(other)) == (one == other)


def test_a_key_that_fits_is_stored_as_it_is() -> None:
    assert key("ann 🗼") == "ann 🗼".encode()
    assert key("x" * MAX_KEY) == b"x" * MAX_KEY
    assert key("x" * (MAX_KEY + 1)).startswith(b"sha256:")
