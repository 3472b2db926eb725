"""Deliberate faults of the race. A test of one rule must find each."""

from collections.abc import Callable
from typing import Any

import pytest

from feed_engine.speculation.contender import Contender
from feed_engine.speculation.cutoff import Cutoff, Cutoffs
from feed_engine.speculation.upkeep import Upkeep
from tests.unit.feed_engine.speculation import test_bursty_stalls as bursts
from tests.unit.feed_engine.speculation import test_equal_sides as equal_sides
from tests.unit.feed_engine.speculation import test_quiet_times as quiet_times
from tests.unit.feed_engine.speculation.scenarios import EQUAL_SIDES
from tests.unit.feed_engine.speculation.scripts import down

Fault = Callable[[pytest.MonkeyPatch], None]


def lateness_is_absolute(patch: pytest.MonkeyPatch) -> None:
    """Each call past the ceiling counts against its side, however slow the other side is."""
    patch.setattr(Contender, "_slower", lambda self, took, *_: took > self._ceiling)


def one_estimate_for_all_kinds(patch: pytest.MonkeyPatch) -> None:
    """Calls of all kinds share a cutoff."""
    of = Cutoffs.of
    patch.setattr(Cutoffs, "of", lambda self, _: of(self, None))


def late_probes_count_as_good(patch: pytest.MonkeyPatch) -> None:
    """A side that requests have left returns when its probes are answered, however late."""
    apart = Contender.answered_apart

    def in_time(self: Contender, cutoff: Cutoff, began: float, *, late: bool) -> None:
        apart(self, cutoff, began, late=False)

    patch.setattr(Contender, "answered_apart", in_time)


def the_cutoff_ignores_the_budget(patch: pytest.MonkeyPatch) -> None:
    """More calls are late than the budget can hedge: the first of them get the tokens."""
    begin = Cutoff.__init__

    def unbounded(self: Cutoff, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        self._late_share = 1.0

    patch.setattr(Cutoff, "__init__", unbounded)


def nothing_goes_by_time(patch: pytest.MonkeyPatch) -> None:
    """Probes and warm calls are only made together with other calls."""
    patch.setattr(Upkeep, "asked", lambda *_: None)


def losers_without_room_do_not_count(patch: pytest.MonkeyPatch) -> None:
    """A burst of stalls counts as the few losers that had room to run on."""
    patch.setattr(Cutoff, "no_room", lambda _: None)


def at_60_ms() -> None:
    """Checks that two sides at 60 ms don't count as an outage."""
    [scenario] = [one for one in EQUAL_SIDES if one.name == "both sides at 60 ms"]
    equal_sides.test_equal_sides_are_no_outage_and_the_standby_answers_few_calls(scenario)


def recovers() -> None:
    """Checks that a primary is trusted again soon with a call a minute."""
    quiet_times.test_a_primary_is_trusted_half_a_minute_after_it_recovered_at_a_call_a_minute(down)


FOUND_BY: list[tuple[Fault, Callable[[], None]]] = [
    (lateness_is_absolute, at_60_ms),
    (one_estimate_for_all_kinds, equal_sides.test_each_kind_of_call_has_a_cutoff_of_its_own),
    (
        late_probes_count_as_good,
        quiet_times.test_late_probes_keep_a_side_away_and_probes_as_fast_as_the_standby_bring_it_back,
    ),
    (
        the_cutoff_ignores_the_budget,
        equal_sides.test_when_more_calls_are_late_than_the_budget_pays_for_the_longest_are_hedged,
    ),
    (nothing_goes_by_time, recovers),
    (nothing_goes_by_time, quiet_times.test_a_standby_gets_warm_calls_by_time),
    (
        losers_without_room_do_not_count,
        bursts.test_losers_without_room_are_counted_in_the_burst_that_they_are_of,
    ),
]


@pytest.mark.parametrize(("fault", "check"), FOUND_BY, ids=lambda one: one.__name__)
def test_a_test_finds_a_deliberate_fault(
    fault: Fault, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check()
