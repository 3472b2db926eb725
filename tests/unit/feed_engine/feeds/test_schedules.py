"""The following feed in random schedules (`python -m tests.following` runs many more), and the
deliberate faults that they find."""

import pytest

from tests.faulty import marking
from tests.feeding import Feeding
from tests.following.faults import FAULTS
from tests.following.schedule import run_schedule

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("trims_by", ["removing", "marking"])
async def test_each_side_shows_the_newest_pins_of_what_is_followed(
    feeding: Feeding, trims_by: str
) -> None:
    if trims_by == "marking":
        feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    wrong = []
    for seed in range(40):
        wrong += await run_schedule(feeding, seed)
    assert wrong == []


@pytest.mark.parametrize("fault", FAULTS)
async def test_schedules_find_a_deliberate_fault(
    feeding: Feeding, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeding.stores = feeding.stores._replace(feeds=marking(feeding.stores.feeds))
    FAULTS[fault](monkeypatch)
    for seed in range(150):
        if await run_schedule(feeding, seed):
            return
    pytest.fail("the schedules don't find the fault")
