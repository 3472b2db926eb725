"""Recordings of requests: a tree of timed spans, its place in a trace, and the spans that are left
out."""

import asyncio

import pytest

from datasources.errors import StaleTopology, StoreTimeout, StoreUnavailable, Unfinished
from datasources.recording import (
    MOST_SPANS,
    Recording,
    TraceContext,
    current,
    outcome_of,
    parse_traceparent,
    recorded,
    unrecorded,
)

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_nothing_is_recorded_unless_a_recording_was_begun() -> None:
    assert current() is None
    with recorded(None):
        assert current() is None
    with recorded(Recording("request", "a")) as _:
        assert current() is not None
    assert current() is None


def test_work_inside_a_span_is_its_piece() -> None:
    recording = Recording("request", "a")
    with recorded(recording):
        with recording.root.within("race", "pools") as race:
            found = current()
            assert found is race
            leg = found.begin("store", "pools_primary.read")
            leg.end("timeout")
        assert current() is recording.root
    recording.close()
    assert [(span.kind, span.name, span.outcome) for span in recording.spans] == [
        ("request", "a", "ok"),
        ("race", "pools", "ok"),
        ("store", "pools_primary.read", "timeout"),
    ]
    assert leg.above is race
    assert race.above is recording.root


def test_an_error_is_the_outcome_and_passes_through() -> None:
    recording = Recording("request", "a")
    with pytest.raises(StoreUnavailable), recorded(recording), recording.root.within("race", "x"):
        raise StoreUnavailable("down")
    assert recording.spans[1].outcome == "unavailable"
    assert recording.spans[1].ended is not None


def test_each_task_sees_its_own_span() -> None:
    recording = Recording("request", "a")

    async def batch(name: str) -> None:
        above = current()
        assert above is not None
        with above.within("batch", name) as span:
            await asyncio.sleep(0)
            found = current()
            assert found is span
            found.begin("store", f"of {name}").end()

    async def main() -> None:
        with recorded(recording):
            await asyncio.gather(batch("one"), batch("two"))

    asyncio.run(main())
    pairs = {(s.above.name, s.name) for s in recording.spans if s.above and s.kind == "store"}
    assert pairs == {("one", "of one"), ("two", "of two")}


def test_work_that_nobody_waits_for_is_not_recorded() -> None:
    with recorded(Recording("request", "a")):
        assert unrecorded().run(current) is None
        assert current() is not None


def test_a_recording_is_bounded_and_ends() -> None:
    recording = Recording("request", "a")
    for _ in range(MOST_SPANS + 5):
        recording.root.begin("store", "x").end()
    assert (len(recording.spans), recording.left_out) == (MOST_SPANS, 6)
    small = Recording("request", "a")
    small.close()
    small.root.begin("store", "late").end()
    assert (len(small.spans), small.left_out) == (1, 1)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (StoreTimeout("x"), "timeout"),
        (Unfinished("x"), "unavailable"),
        (StaleTopology("x"), "stale_topology"),
        (asyncio.CancelledError(), "cancelled"),
        (ValueError("x"), "raised"),
    ],
)
def test_an_outcome_is_the_kind_of_the_error(error: BaseException, outcome: str) -> None:
    assert outcome_of(error) == outcome


def test_a_traceparent_is_read_and_written() -> None:
    found = parse_traceparent(f"00-{TRACE}-{SPAN}-01", "a=1")
    assert found == TraceContext(TRACE, SPAN, True, "a=1")
    assert found.traceparent == f"00-{TRACE}-{SPAN}-01"
    later = parse_traceparent(f"01-{TRACE}-{SPAN}-00-more")
    assert later == TraceContext(TRACE, SPAN, False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"00-{TRACE}-{SPAN}",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
    ],
)
def test_a_wrong_traceparent_is_none(text: str) -> None:
    assert parse_traceparent(text) is None
