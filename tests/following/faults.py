"""Deliberate faults of the following feed. The schedules must find each of them.

Each fault breaks one of the rules because of which jobs may run in any order, or because of which
the two sides are independent. One rule is not included: a refill reads the follow edges twice.
Without it, the next reader repairs the result, which
`tests/stores/feed_engine/feeds/test_refill.py` tests.
"""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from datasources.mappings import ListKey
from datasources.protocols import WideColumnStore
from feed_engine.feeds import batches, fanout, follow_jobs, following, marks, refill
from feed_engine.feeds.content import newest_pins
from feed_engine.feeds.follow_edges import PINS_OF
from feed_engine.feeds.lanes import DONE, Lane
from feed_engine.feeds.rows import FOLLOWING

Fault = Callable[[pytest.MonkeyPatch], None]


def sides_wait_for_each_other(patch: pytest.MonkeyPatch) -> None:
    """An unavailable side stops the fan-out to the sides after it."""

    async def in_turn(
        lanes: Mapping[str, Lane], places: Mapping[str, str], advance: Callable[[bytes], Any]
    ) -> None:
        async def nowhere(place: str) -> None: ...

        for name, lane in lanes.items():
            if places.get(name) != DONE:
                await lane("", nowhere)

    patch.setattr(fanout, "run_lanes", in_turn)


def nobody_asks(patch: pytest.MonkeyPatch) -> None:
    """A reader who finds a feed too short posts no refill."""

    async def silent(*_: Any) -> bool:
        return False

    patch.setattr(following, "ask_refill", silent)


def the_dead_stay(patch: pytest.MonkeyPatch) -> None:
    """A refill leaves cells that can't be shown in the row."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(refill._Side, "_remove_dead", nothing)


def refills_share_a_stamp(patch: pytest.MonkeyPatch) -> None:
    """A later refill does not use higher stamps than an earlier refill."""

    async def first(self: Any, leap: int) -> int:
        await self._store.put(
            refill.FOLLOWING_APPLIED, {self._row: {refill.REFILLED: b""}}, self._clock()
        )
        return 1

    patch.setattr(refill._Side, "_next_stamp", first)


def boards_are_read_by_hand(patch: pytest.MonkeyPatch) -> None:
    """A follow takes the first pins of a board, in its owner's order, for the newest pins."""

    async def top(stores: Any, _: int, followed: Sequence[int], limit: int) -> list[Any]:
        [board_id] = followed
        key = ListKey(PINS_OF[follow_jobs.Kind.BOARD], board_id)
        pins = (await newest_pins(stores, [key], limit))[key]
        return [SimpleNamespace(pin=pin) for pin in pins]

    patch.setattr(follow_jobs, "newest_followed", top)


async def _trim_by_cells(store: WideColumnStore, row: bytes, pins: int) -> None:
    await store.trim(FOLLOWING, row, pins)


def trims_by_cells(patch: pytest.MonkeyPatch) -> None:
    """Trims count cells, and leave no mark."""
    for module in (fanout, follow_jobs, refill):
        patch.setattr(module, "trim_following", _trim_by_cells)


def nothing_is_marked_as_cut(patch: pytest.MonkeyPatch) -> None:
    """A follow that brings the newest of many pins leaves no mark that there are more."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(follow_jobs, "mark_cut", nothing)


def edges_have_no_copy(patch: pytest.MonkeyPatch) -> None:
    """The versions of the viewer's edges are not stored beside the feed."""

    async def nothing(*_: Any) -> None: ...

    patch.setattr(marks, "mark", nothing)


def a_batch_is_lost(patch: pytest.MonkeyPatch) -> None:
    """The first batch of a large fan-out is not posted."""
    post = batches._post

    async def fewer(stores: Any, shard: int, tasks: Sequence[Any]) -> None:
        await post(stores, shard, list(tasks[1:]))

    patch.setattr(batches, "_post", fewer)


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        sides_wait_for_each_other,
        nobody_asks,
        the_dead_stay,
        refills_share_a_stamp,
        boards_are_read_by_hand,
        trims_by_cells,
        nothing_is_marked_as_cut,
        edges_have_no_copy,
        a_batch_is_lost,
    )
}
