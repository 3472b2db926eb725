"""Positions of global transaction ids, and whether one server has all events of another one."""

import pytest

from datasources.mysql.replication import gtids


def test_a_position_has_the_last_transaction_of_each_domain() -> None:
    assert gtids.later("1-1-5,2-3-9", "") == "1-1-5,2-3-9"
    assert gtids.later("1-1-5,2-3-9", "1-2-7") == "1-2-7,2-3-9"
    assert gtids.later("1-1-5", "1-1-4,3-1-1") == "1-1-5,3-1-1"
    assert gtids.later("", "") == ""


def test_the_last_sequence_number_of_a_domain() -> None:
    assert gtids.last_in("1-1-5,2-3-9", 2) == 9
    assert gtids.last_in("1-1-5,1-2-9", 1) == 9
    assert gtids.last_in("1-1-5", 3) == gtids.last_in("", 1) == 0


@pytest.mark.parametrize(
    ("master", "own", "expected"),
    [
        ("1-1-54", "1-1-54", True),
        ("1-1-54,1-2-60", "1-1-54", True),
        ("1-1-54,1-2-60", "1-1-127", False),
        ("1-2-60", "1-1-54", False),
        ("1-1-54,2-3-9", "1-1-50,2-3-10", False),
        ("1-1-54", "", True),
    ],
)
def test_a_server_is_behind_only_if_its_master_has_all_its_events(
    master: str, own: str, expected: bool
) -> None:
    assert gtids.contains(master, own) is expected
