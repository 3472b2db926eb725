"""Deliberate faults of the feeds that a test of one rule must find; the schedules find others
(`tests/following/faults.py`). Each fault breaks one rule, and names a test that then fails."""

import math
from collections.abc import Awaitable, Callable, Collection
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.outages import backoff
from datasources.records import Pin
from datasources.streaq import queue
from feed_engine.feeds import batches, fanout, newest, refill
from feed_engine.feeds.rows import POOLS, POPULAR_ROWS, Source, pool_row
from feed_engine.feeds.smart import lanes as shared
from feed_engine.feeds.smart import materialized, pools, popular
from feed_engine.feeds.smart.candidates import Candidates
from feed_engine.outbox import jobs, newest_first, priorities
from tests.feeds import Feeding
from tests.following import faults
from tests.following.faults import Fault
from tests.stores.feed_engine.feeds import test_batches as batched
from tests.stores.feed_engine.feeds import test_refill as refilled
from tests.stores.feed_engine.feeds import test_sides_away as away
from tests.stores.feed_engine.feeds.smart import test_candidates as candidates
from tests.stores.feed_engine.feeds.smart import test_handover as handover
from tests.stores.feed_engine.feeds.smart import test_interests as interests
from tests.stores.feed_engine.feeds.smart import test_popular as spread
from tests.stores.feed_engine.outbox import test_completion as completion
from tests.unit.datasources import test_queue_retries as retries

pytestmark = pytest.mark.anyio
Check = Callable[[Feeding], Awaitable[None]]


def no_newer_ones_first(patch: pytest.MonkeyPatch) -> None:
    """A fan-out to a side that was unavailable does only itself, however old it is."""
    patch.setattr(newest_first._Listed, "newest", lambda *_: None)


def stamps_are_the_clocks(patch: pytest.MonkeyPatch) -> None:
    """A refill's stamps are the time, which may stand still or go back."""

    async def now(self: Any, leap: int) -> int:
        stamp: int = max(1, self._clock())
        return stamp

    patch.setattr(refill._Side, "_next_stamp", now)


def edges_are_read_once(patch: pytest.MonkeyPatch) -> None:
    """A refill does not check whether the follows changed during its writes."""
    edges = refill._edges
    told: dict[int, dict[int, int]] = {}

    async def first(stores: Any, viewer_id: int) -> dict[int, int]:
        if viewer_id not in told:
            told[viewer_id] = await edges(stores, viewer_id)
        return told[viewer_id]

    patch.setattr(refill, "_edges", first)


def whole_lists_are_merged(patch: pytest.MonkeyPatch) -> None:
    """A refill reads the cap's number of rows from each list."""
    patch.setattr(newest, "LEAST", 1000)


def interests_are_pushed(patch: pytest.MonkeyPatch) -> None:
    """A pin of an interest is written to the pool of each follower of the interest."""
    put_pin = shared.put_pin

    async def push(
        store: Any, stores: Any, pin: Pin, interest_ids: Any, at: int, settings: Any
    ) -> None:
        await put_pin(store, stores, pin, interest_ids, at, settings)
        for id in interest_ids:
            column, value = pools.followed_cell(pin, id)
            key = ListKey(Mapping.INTEREST_FOLLOWED_BY_USERS, id)
            [followers] = await stores.shards.mappings.pages([PageRequest(key, 100)])
            rows = [pool_row(edge.to_id, Source.INTEREST) for edge in followers]
            await store.put(POOLS, {row: {column: value} for row in rows}, max(1, pin.created))

    patch.setattr(shared, "put_pin", push)


def popular_pins_share_a_row(patch: pytest.MonkeyPatch) -> None:
    """All popular pins are in one row."""
    patch.setattr(popular, "popular_row", lambda _: POPULAR_ROWS[0])


def marks_of_shown_pins_stay(patch: pytest.MonkeyPatch) -> None:
    """The marks of shown pins are never removed."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(materialized, "forget_shown", nothing)


def the_generator_has_no_deadline(patch: pytest.MonkeyPatch) -> None:
    """The generator reads and checks candidates until it has found enough."""
    begin = Candidates.__init__

    def endless(self: Any, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        self._until = math.inf

    patch.setattr(Candidates, "__init__", endless)


def repins_are_pictures_of_their_own(patch: pytest.MonkeyPatch) -> None:
    """A picture and each of its repins have separate cards."""
    patch.setattr(Candidates, "_root", lambda _, candidate: candidate.pin_id)


def a_card_has_its_own_cause_alone(patch: pytest.MonkeyPatch) -> None:
    """A card does not name the causes of other repins of its picture."""

    def own(self: Any, chosen: Collection[Any]) -> dict[int, tuple[tuple[int, int], ...]]:
        return {c.pin_id: ((c.cause_id, c.pin_id),) for c in chosen}

    patch.setattr(Candidates, "causes", own)


def all_jobs_are_equal(patch: pytest.MonkeyPatch) -> None:
    """Batches of large fan-outs have normal priority."""
    patch.setattr(priorities, "OF_TASKS", {})


def a_fan_out_is_planned_anew(patch: pytest.MonkeyPatch) -> None:
    """A repeated fan-out does not know its plan, and posts its batches again."""
    patch.setattr(batches, "planned", lambda _: set())
    patch.setattr(fanout, "_places", lambda *_: {})


def nothing_is_set_aside(patch: pytest.MonkeyPatch) -> None:
    """Work that retries don't help is tried again and again."""
    patch.setattr(jobs, "SET_ASIDE_AFTER", 1_000_000)


def retries_are_not_drawn(patch: pytest.MonkeyPatch) -> None:
    """Jobs that failed together are retried together."""

    def longest(first: float, tries: int, last: float, _: Any) -> float:
        return backoff(first, tries, last, max)

    patch.setattr(queue, "backoff", longest)


def small(feeding: Feeding) -> Feeding:
    """Feeds with caps of a few pins."""
    feeding.settings = refilled.SMALL
    return feeding


async def forgets(feeding: Feeding) -> None:
    """Checks that marks of shown pins are removed in time."""
    with pytest.MonkeyPatch.context() as patch:
        await handover.test_marks_of_shown_pins_are_kept_for_a_stated_time_and_then_forgotten(
            feeding, patch
        )


async def catches_up(feeding: Feeding) -> None:
    """Checks that a side that was unavailable gets the newest pins first."""
    with pytest.MonkeyPatch.context() as patch:
        await away.test_a_side_that_was_away_catches_up_newest_first(feeding, patch, 1, 500)


async def sets_aside(feeding: Feeding) -> None:
    """Checks that a row that can't be read is tried eight times."""
    place: Any = SimpleNamespace(stores=feeding.stores)
    await completion.test_a_row_that_this_version_cannot_read_is_parked_longer_from_time_to_time(
        place, "weather", b"{}"
    )


async def draws_retries(feeding: Feeding) -> None:
    """Checks that jobs that failed together are not retried together."""
    retries.test_jobs_that_failed_together_do_not_come_back_together()


FOUND_BY: dict[Fault, Check] = {
    no_newer_ones_first: catches_up,
    stamps_are_the_clocks: lambda feeding: (
        refilled.test_a_later_refill_shows_whatever_the_clock_says(feeding, (5, 1))
    ),
    faults.boards_are_read_by_hand: (
        refilled.test_a_followed_board_brings_its_newest_pins_not_its_top
    ),
    edges_are_read_once: refilled.test_an_unfollow_in_the_midst_of_a_refill_leaves_no_feed_short,
    whole_lists_are_merged: refilled.test_a_merge_reads_few_rows_of_each_of_many_lists,
    faults.nothing_is_marked_as_cut: lambda feeding: (
        refilled.test_a_row_that_was_given_the_newest_of_more_pins_is_filled_when_they_go(
            small(feeding), "follow"
        )
    ),
    interests_are_pushed: (
        interests.test_a_pin_is_put_into_its_interests_row_once_however_many_follow_it
    ),
    popular_pins_share_a_row: (spread.test_popular_pins_are_spread_over_rows_and_read_as_one_pool),
    marks_of_shown_pins_stay: forgets,
    the_generator_has_no_deadline: (
        candidates.test_a_generator_over_many_dead_candidates_ends_at_its_deadline
    ),
    repins_are_pictures_of_their_own: lambda feeding: (
        candidates.test_a_picture_and_its_repins_have_one_card_with_all_that_brought_it(
            feeding, chain=False
        )
    ),
    a_card_has_its_own_cause_alone: lambda feeding: (
        candidates.test_a_picture_and_its_repins_have_one_card_with_all_that_brought_it(
            feeding, chain=True
        )
    ),
    all_jobs_are_equal: (batched.test_a_large_fan_out_is_left_to_batches_that_cover_all_followers),
    faults.a_batch_is_lost: (
        batched.test_a_large_fan_out_is_left_to_batches_that_cover_all_followers
    ),
    a_fan_out_is_planned_anew: batched.test_a_fan_out_that_was_planned_is_not_planned_again,
    nothing_is_set_aside: sets_aside,
    retries_are_not_drawn: draws_retries,
}


@pytest.mark.parametrize("fault", FOUND_BY, ids=lambda fault: fault.__name__)
async def test_a_test_finds_a_deliberate_fault(
    feeding: Feeding, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        await FOUND_BY[fault](feeding)
