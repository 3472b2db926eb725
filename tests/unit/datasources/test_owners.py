"""The fences of shards that are read while they move, before and after the data."""

import pytest

from datasources.sql.engine import NotOwned, Row, object_place
from datasources.sql.owners import check_owned

PLACES = [object_place("a", 1), object_place("a", 2)]
OWN = (1, 4, b"7", b"7")
OTHER = (1, 4, b"8", b"7")


def test_a_server_that_had_the_shards_all_the_time_answers_for_them() -> None:
    rows: list[Row] = [(0, 3, b"7", b"7"), OWN]
    check_owned(PLACES, rows, rows)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([OTHER], [OTHER]),
        ([OTHER], [OWN]),  # the data lacked what was applied in between
        ([OWN], [OTHER]),
        ([OWN], []),
        ([], [OWN]),
        ([OWN], [(1, 6, b"7", b"7")]),  # it was away in between
    ],
)
def test_a_shard_that_was_elsewhere_at_some_time_is_refused(
    before: list[Row], after: list[Row]
) -> None:
    first = (0, 3, b"7", b"7")
    with pytest.raises(NotOwned, match="db00002 on a") as caught:
        check_owned(PLACES, [first, *before], [first, *after])
    assert caught.value.places == (PLACES[1],)
