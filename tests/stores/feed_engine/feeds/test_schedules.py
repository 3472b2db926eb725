"""The feeds in random schedules (`python -m tests.following` runs many more), and the deliberate
faults that they find.

The stores' calls run where they are made (`quick_stores`): schedules interleave them themselves.
"""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from tests import people
from tests.faulty import marking
from tests.feeds import Feeding
from tests.following.faults import FAULTS
from tests.following.home import run_home
from tests.following.quick import quick_stores
from tests.following.schedule import run_schedule
from tests.following.visit_faults import HOME_FAULTS, VISIT_FAULTS
from tests.following.visits import run_visits
from tests.scale import seeds

pytestmark = pytest.mark.anyio
RARE = {
    "a_batch_is_lost",
    "boards_are_read_by_hand",
    "fillings_stay_below_the_markers",
    "late_pins_are_passed",
    "nothing_is_marked_as_cut",
    "refills_share_a_stamp",
}
"""Faults that only one in some hundred schedules finds: they are left to the command."""
FOUND_BY = {
    "nobody_asks": 39,
    "sides_wait_for_each_other": 21,
    "the_dead_stay": 22,
    "trims_by_cells": 17,
    "shown_pins_are_read_before_the_shard": 9,
    "a_follow_writes_its_cells_once": 7,
    "dead_cells_bury_live_pins": 35,
}
"""A seed whose schedule finds the fault, where seed 0 doesn't. Only a shortcut: the other seeds
follow."""


@pytest.fixture
async def feeding(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Feeding]:
    """New stores for each test, because all users share popular pins. The numbers in users' names
    start at 1: a name decides its user's shard, so a seed's result does not depend on the tests
    before it."""
    monkeypatch.setattr(people, "_NUMBERS", itertools.count(1))
    async with quick_stores() as stores:
        yield Feeding(stores)


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_each_side_shows_the_newest_pins_of_what_is_followed(
    feeding: Feeding, trims_by: str
) -> None:
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    wrong = []
    for seed in seeds(12, 400):
        wrong += await run_schedule(feeding, seed)
    assert wrong == []


async def test_the_pages_of_visits_show_all_chunks_once(feeding: Feeding) -> None:
    wrong = []
    for seed in seeds(6, 100):
        wrong += await run_visits(feeding, seed)
    assert wrong == []


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_home_feeds_show_all_that_is_followed_as_followed_and_once(
    feeding: Feeding, trims_by: str
) -> None:
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(pools=marking(feeding.stores.pools))
    wrong = []
    for seed in seeds(3, 200):
        wrong += await run_home(feeding, seed)
    assert wrong == []


@pytest.mark.parametrize("fault", sorted(HOME_FAULTS.keys() - RARE))
async def test_schedules_of_home_feeds_find_a_deliberate_fault(
    feeding: Feeding, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeding.stores = feeding.stores._replace(pools=marking(feeding.stores.pools))
    HOME_FAULTS[fault](monkeypatch)
    await find(feeding, fault, run_home, 100)


@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - RARE))
async def test_schedules_find_a_deliberate_fault(
    feeding: Feeding, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    FAULTS[fault](monkeypatch)
    await find(feeding, fault, run_schedule, 400)


@pytest.mark.parametrize("fault", VISIT_FAULTS)
async def test_schedules_of_visits_find_a_deliberate_fault(
    feeding: Feeding, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    VISIT_FAULTS[fault](monkeypatch)
    await find(feeding, fault, run_visits, 100)


async def find(
    feeding: Feeding, fault: str, run: Callable[[Feeding, int], Awaitable[list[str]]], most: int
) -> None:
    """Run schedules until one finds the fault. Fails when none of `most` does."""
    for tried, seed in enumerate(beginning_with(FOUND_BY.get(fault, 0), most)):
        if await run(feeding, seed):
            print(f"{fault}: seed {seed}, after {tried} other schedules")
            return
    pytest.fail("the schedules don't find the fault")


def beginning_with(first: int, most: int) -> Iterator[int]:
    """The seeds below `most`, one of them first."""
    yield first
    yield from (seed for seed in range(most) if seed != first)
