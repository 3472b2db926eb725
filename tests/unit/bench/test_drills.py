"""The drills' judgement of requests: failed requests, the kept figures, the plots."""

from dataclasses import replace

import pytest

from bench.drills import page
from bench.drills.faults import DRILLS, Plan
from bench.drills.judge import Seen
from bench.drills.report import Outcome, plot, together
from bench.rows import Row

KILLED = DRILLS[0]
PLAN = Plan.of(100)


def requests(*faulty: float) -> list[Seen]:
    """One request a second, each at 10 ms, with faults at these seconds."""
    return [
        Seen(at, "following", 0.01, "lost" if at in faulty else "", sides=("PRIMARY",))
        for at in range(100)
    ]


def outcome(*faulty: float, number: int = 1, most: float = 1.0) -> Outcome:
    counts = {"hedges": 1.0, "warm": 2.0, "probes": 3.0, "calls": 100.0}
    return Outcome(replace(DRILLS[number - 1], most=most), PLAN, 1.0, requests(*faulty), counts)


def found(outcome: Outcome, measure: str) -> Row:
    (row,) = (row for row in outcome.rows() if row.measure.endswith(f": {measure}"))
    return row


def test_a_failed_request_is_one_too_many_among_a_hundred() -> None:
    assert found(outcome(), "failed of 10,000").holds
    assert not found(outcome(40.0), "failed of 10,000").holds


def test_of_the_drill_that_kills_both_only_failures_outside_of_it_count() -> None:
    begin = PLAN.begin
    assert not outcome(begin, begin + 4, begin + 6, number=6).failed
    assert len(outcome(begin - 2, begin + 7, number=6).failed) == 2


def test_latencies_during_a_fault_count_once_two_seconds_have_passed() -> None:
    slow = outcome()
    for one in slow.seen:
        if PLAN.begin <= one.due < PLAN.begin + 2:
            one.latency = 1.0
    assert found(slow, "p99 during / before").value == 1
    slow.seen[int(PLAN.begin) + 3].latency = 1.0
    assert found(slow, "p99 during / before").value == 100


def test_what_is_answered_after_a_fault_is_not_answered_during_it() -> None:
    late = outcome()
    late.seen[63].latency = 3.0
    during = [one.due for one in late.answered(PLAN.begin, PLAN.end)]
    assert during == [*range(25, 63), 64]
    assert len(late.between(PLAN.begin, PLAN.end)) == len(during) + 1


def test_a_drill_done_again_takes_the_place_of_its_rows_alone() -> None:
    old = [
        Row("1 killed: failed", 1, ""),
        Row("2 hangs: failed", 2, ""),
        Row("afterwards: x", 3, ""),
    ]
    new = [Row("1 killed: failed", 0, ""), Row("afterwards: x", 4, "")]
    merged = page.merged(old, new)
    assert [(row.measure, row.value) for row in merged] == [
        ("1 killed: failed", 0),
        ("2 hangs: failed", 2),
        ("afterwards: x", 4),
    ]


def test_the_page_has_a_column_for_each_drill_and_marks_what_misses_its_goal() -> None:
    rows = [
        Row("1 killed: failed of 10,000", 2, "", "<= 1"),
        Row("2 hangs: failed of 10,000", 0, "", "<= 1"),
        Row("2 hangs: p99 before", 7, "ms"),
        Row("afterwards: rows that differ", 0, "", "<= 0"),
    ]
    assert page.columns(rows).splitlines() == [
        "| measure | goal | 1 killed | 2 hangs |",
        "| --- | --- | ---: | ---: |",
        "| failed of 10,000 | ≤ 1 | **2** | 0 |",
        "| p99 before, ms |  |  | 7 |",
        "",
        "- afterwards: rows that differ: 0",
    ]


@pytest.mark.parametrize("seconds", [16.0, 167.0, 3720.0])
def test_a_plot_has_a_bounded_number_of_points_whatever_it_lasts(seconds: float) -> None:
    plan = Plan.of(seconds)
    seen = [Seen(at / 2, "following", 0.01, sides=("PRIMARY",)) for at in range(int(2 * seconds))]
    drawn = plot(Outcome(KILLED, plan, 2.0, seen, {}))
    (line, _) = (part for part in drawn.splitlines() if part.startswith("<polyline"))
    points = line.count(",")
    assert min(seconds, 225) <= points <= 450


def test_passes_of_a_drill_count_together() -> None:
    both = together([outcome(40.0), outcome()])
    assert (len(both.seen), len(both.failed), both.counts["calls"]) == (200, 1, 200)
    assert found(both, "failed of 10,000").value == 50
