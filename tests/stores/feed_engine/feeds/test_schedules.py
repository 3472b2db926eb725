"""The feeds in random schedules (`python -m tests.following` runs many more), and the deliberate
faults that they find."""

import pytest

from tests.faulty import marking
from tests.feeds import Feeding
from tests.following.faults import FAULTS
from tests.following.home import run_home
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


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_each_side_shows_the_newest_pins_of_what_is_followed(
    feeding: Feeding, trims_by: str
) -> None:
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    wrong = []
    for seed in seeds(20, 400):
        wrong += await run_schedule(feeding, seed)
    assert wrong == []


async def test_the_pages_of_visits_show_all_chunks_once(feeding: Feeding) -> None:
    wrong = []
    for seed in seeds(10, 100):
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
    for seed in range(100):
        if await run_home(feeding, seed):
            return
    pytest.fail("the schedules don't find the fault")


@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - RARE))
async def test_schedules_find_a_deliberate_fault(
    feeding: Feeding, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    FAULTS[fault](monkeypatch)
    for seed in range(400):
        if await run_schedule(feeding, seed):
            return
    pytest.fail("the schedules don't find the fault")


@pytest.mark.parametrize("fault", VISIT_FAULTS)
async def test_schedules_of_visits_find_a_deliberate_fault(
    feeding: Feeding, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    VISIT_FAULTS[fault](monkeypatch)
    for seed in range(100):
        if await run_visits(feeding, seed):
            return
    pytest.fail("the schedules don't find the fault")
