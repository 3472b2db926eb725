"""Positions of global transaction ids, and whether one server has all events of another one."""

import pytest

from datasources.mysql.replication import gtids


def test_a_position_has_the_last_transaction_of_each_domain() -> None:
    assert gtids.later("1-1-5,2-3-9", "") == "1-1-5,2-3-9"
    assert gtids.later("1-1-5,2-3-9", "1-2-7") == "1-2-7,2-3-9"
    assert gtids.later("1-1-5", "1-1-4,3-1-1") == "1-1-5,3-1-1"
    assert gtids.later("", "") == ""


def test_a_known_transaction_of_a_domain_that_was_not_logged_is_no_place_in_the_logs() -> None:
    assert gtids.only_logged("1-1-5,2-3-9", known="1-1-5,2-3-9", logged="1-1-5") == "1-1-5"
    assert gtids.only_logged("1-1-5,2-3-9", known="1-1-4,2-3-9", logged="1-1-4,2-3-2") == (
        "1-1-5,2-3-9"
    )
    # A later one was applied from the logs, so they have it.
    assert gtids.only_logged("1-1-5,2-3-10", known="1-1-5,2-3-9", logged="1-1-5") == "1-1-5,2-3-10"


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


def test_the_earliest_position_is_in_all_positions() -> None:
    assert gtids.earliest({"1-1-10"}) == "1-1-10"
    assert gtids.earliest({"1-1-10,2-3-4", "2-5-3,1-2-12"}) == "1-1-10,2-5-3"
    assert gtids.earliest({"1-1-10,2-3-4", "1-1-12"}) == "1-1-10"
    assert gtids.earliest({"1-1-10", ""}) == ""


def test_a_position_is_before_another_if_it_lacks_transactions_of_a_domain() -> None:
    assert gtids.is_before("1-1-10", "1-1-11")
    assert gtids.is_before("1-1-10", "1-2-11")  # after a promotion
    assert gtids.is_before("1-1-10", "1-1-10,2-1-1")
    assert not gtids.is_before("1-2-11,2-1-1", "1-1-10")
    assert not gtids.is_before("1-1-10", "1-1-10")
