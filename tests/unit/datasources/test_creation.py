"""Shards that may be made, and shards that exist already."""

import pytest

from datasources.errors import Damaged, StoreUnavailable
from datasources.sql.creation import check_new, unfenced
from datasources.sql.engine import Place

HERE, THERE = Place("A", "db00001"), Place("B", "db00001")


def test_a_shard_that_no_server_has_is_made_at_the_first_installation() -> None:
    fences = {"A": {"db00000": 1, "db00001": None}, "B": {}}
    assert unfenced([Place("A", "db00000"), HERE], fences) == [HERE]
    check_new([HERE], fences, {}, 1)


def test_a_shard_that_another_server_has_is_not_made_again() -> None:
    fences = {"A": {"db00001": 1}, "B": {"db00002": 1}}
    for opening in (False, True):
        with pytest.raises(Damaged, match=r"db00001 is on A, .* epoch 2 has it on B.*back to A"):
            check_new([THERE], fences, {}, 2, opening=opening)


def test_a_shard_under_a_later_epoch_is_opened_not_installed() -> None:
    fences = {"A": {"db00000": 1}, "B": {}}
    with pytest.raises(Damaged, match=r"under epoch 1 .* topology has 2.*shards open"):
        check_new([THERE], fences, {}, 2)
    check_new([THERE], fences, {}, 2, opening=True)


def test_a_server_that_cannot_be_asked_might_have_the_shard() -> None:
    lost = {"C": StoreUnavailable("C: it is down")}
    check_new([], {"A": {}}, lost, 1)
    with pytest.raises(StoreUnavailable, match=r"C can't be asked .*start C first"):
        check_new([HERE], {"A": {}}, lost, 1, opening=True)
