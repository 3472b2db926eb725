"""When a master counts as silent, and when its slave is promoted automatically."""

import pytest

from datasources.errors import Damaged
from datasources.replication import observation
from datasources.replication.observation import Outcome, Pair, Record, Report, Rules, Sight, Silence
from datasources.topology import ModShards, ShardRange, Topology

PAIR = Pair("A", "B")
RULES = Rules(promotes=True)
AGREED = [Report({"A": "7"}), Report({"A": "7"}), Report({})]


def decided(
    reports: list[Report] = AGREED,
    record: Record | None = None,
    rules: Rules = RULES,
    now: float = 1_000.0,
) -> observation.Decision:
    return observation.decided(rules, PAIR, "7", reports, record, now)


def test_a_master_is_silent_from_when_neither_it_answers_nor_its_lease_changes() -> None:
    silence = Silence()
    assert silence.seen(Sight(True, "1"), 0.0) == 0.0
    assert silence.seen(Sight(False, "2"), 1.0) == 0.0  # only this observer can't reach it
    assert silence.seen(Sight(False, "3"), 2.0) == 0.0
    assert silence.seen(Sight(False, "3"), 5.0) == 3.0
    assert silence.seen(Sight(True, "3"), 6.0) == 0.0  # it can't write, and answers
    assert silence.seen(Sight(False, "3"), 7.0) == 0.0
    assert silence.seen(Sight(False, "3"), 9.0) == 2.0


def test_a_master_is_not_called_silent_while_its_slave_does_not_answer() -> None:
    silence = Silence()
    for now in range(10):
        assert silence.seen(Sight(False, None), float(now)) == 0.0
    assert silence.seen(Sight(False, "3"), 20.0) == 0.0
    assert silence.seen(Sight(False, "3"), 21.0) == 1.0


def test_a_quorum_promotes() -> None:
    assert decided() == (True, "2 of 3 observers say so")


@pytest.mark.parametrize(
    ("reports", "told"),
    [
        ([Report({"A": "7"})], "1 of 1 observers say so; 2 are needed"),
        ([Report({"A": "7"})] * 2 + [Report({})] * 2, "and more than half"),
        ([Report({"A": "7"}), Report({"A": "6"})], "1 of 2"),  # it was back in between
    ],
)
def test_without_a_quorum_nothing_is_promoted(reports: list[Report], told: str) -> None:
    decision = decided(reports)
    assert not decision.promote
    assert told in decision.told


def test_a_watch_that_only_tells_says_what_to_run() -> None:
    told = "2 of 3 observers say so; run `pinway shards promote B`"
    for record in (None, Record("B", "A", "5", 999.0, Outcome.DONE)):
        assert decided(rules=Rules(), record=record) == (False, told)


def test_a_refused_promotion_is_tried_once_for_a_cause() -> None:
    refused = Record("A", "B", "7", 0.0, Outcome.REFUSED, "it may lack writes")
    assert decided(record=refused) == (False, "its promotion was refused: it may lack writes")
    earlier = Record("A", "B", "6", 999.0, Outcome.REFUSED, "it may lack writes")
    assert decided(record=earlier).promote


def test_a_pair_is_not_promoted_again_in_its_cool_down() -> None:
    done = Record("B", "A", "5", 500.0, Outcome.DONE)
    assert decided(record=done, now=1_099.0) == (
        False,
        "A was promoted less than 600 s ago (--cool-down)",
    )
    assert decided(record=done, now=1_100.0).promote


def test_a_promotion_that_was_begun_is_finished_without_a_quorum() -> None:
    begun = Record("A", "B", "6", 999.0)
    assert decided([], begun).promote
    assert not decided([], begun, Rules()).promote
    other_way = Record("B", "A", "6", 0.0)
    assert not decided([], other_way).promote


def test_pairs_are_the_masters_with_one_slave() -> None:
    topology = Topology(
        1,
        {name: f"mysql://{name}:3306" for name in "ABCDE"},
        (
            ShardRange((0, 3), "A", "B"),
            ShardRange((4, 7), "C", None),
            ShardRange((8, 9), "D", "E"),
            ShardRange((10, 11), "D", "B"),
        ),
        ModShards(2, (ShardRange((0, 1), "A", "B"),)),
    )
    assert observation.pairs(topology) == [Pair("A", "B")]
    assert Pair("A", "B").id == Pair("B", "A").id == "watch_A_B"


def test_what_a_watch_wrote_is_read_back_or_refused() -> None:
    report, record = Report({"A": "7"}), Record("A", "B", "7", 1.0, Outcome.REFUSED, "why")
    assert observation.report_of(observation.encode(report)) == report
    assert observation.record_of(observation.encode(record)) == record
    with pytest.raises(Damaged):
        observation.record_of(b'{"old": 1}')
