"""An outage's lines in the log."""

import logging

import pytest

from datasources.outages import FORGOTTEN_AFTER, Outages

log = logging.getLogger("test.outages")


def test_a_failure_long_after_the_last_one_is_a_new_outage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    outages = Outages(log, "jobs wait", clock=lambda: now)
    with caplog.at_level(logging.INFO, log.name):
        for at in (0.0, 1.0, 30.0, 30.0 + FORGOTTEN_AFTER + 1):
            now = at
            outages.failed("hbase", OSError("down"))
    assert [record.getMessage() for record in caplog.records] == [
        "jobs wait: down; trying again",
        "jobs wait: down; trying again",
    ]


def test_an_outage_is_logged_once_then_at_growing_intervals_and_at_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    outages = Outages(log, "the outbox of {}", clock=lambda: now)
    told: list[float] = []
    with caplog.at_level(logging.INFO, log.name):
        for second in range(1, 7200):
            now = float(second)
            outages.failed("First", OSError("refused"))
            told += [now] * len(caplog.records)
            caplog.clear()
        assert told == [1, 61, 181, 421, 901, 1861, 3781]
        outages.well("First")
        outages.well("First")
    [last] = caplog.records
    assert last.getMessage() == "over, after 7199 failures in 7198 s: the outbox of First"


def test_each_name_has_an_outage_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    outages = Outages(log, "{}", clock=lambda: 0.0)
    with caplog.at_level(logging.INFO, log.name):
        outages.only({"First": OSError("refused")})
        outages.only({"First": OSError("refused"), "Second": TimeoutError()})
        outages.only({"Second": TimeoutError()})
    assert [
        record.getMessage().removeprefix("over, after 2 failures in 0 s: ").partition(":")[0]
        for record in caplog.records
    ] == [*("First", "Second", "First")]


def test_an_outage_goes_on_while_only_some_calls_succeed(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    outages = Outages(log, "the cache", clock=lambda: now, calm=10.0)
    with caplog.at_level(logging.INFO, log.name):
        for second in range(20):
            now = float(second)
            outages.failed("", OSError("refused"))
            outages.well("")
        now = 29.0
        outages.well("")
    assert [record.getMessage() for record in caplog.records] == [
        "the cache: refused; trying again",
        "over, after 20 failures in 29 s: the cache",
    ]
