"""A huge response lets others at the event loop. (`fairness.py` measures how long they wait.)"""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from tests.execution.fairness import ROUTES, Measured, measure

FEW, MANY = 8_000, 12_000
PER_LOOK = 256
"""Objects that may be answered between two looks at the clock: a few ms of work."""


class Hasty(asyncio.SelectorEventLoop):
    """A loop on which each look at the clock finds that a second has gone by, so that the turns
    that others get are the engine's looks at it, however fast the machine is."""

    seconds = 0.0

    def time(self) -> float:
        self.seconds += 1
        return self.seconds


@pytest.fixture
def uncollected() -> Iterator[None]:
    """A pass of the collector frees in one go what was left in cycles."""
    gc.disable()
    yield
    gc.enable()


def measured(route: str, objects: int) -> Measured:
    with asyncio.Runner(loop_factory=Hasty) as runner:
        return runner.run(measure(route, objects, steps=True))


@pytest.mark.parametrize("route", ROUTES)
def test_what_is_done_in_one_go_does_not_grow_with_the_response(route: str) -> None:
    measured(route, 300)  # what is made once is made
    few, many = measured(route, FEW), measured(route, MANY)
    assert few.turns >= FEW / PER_LOOK
    # A step for every second object, where a column was gone through at once, would be as many.
    assert many.steps - few.steps < (MANY - FEW) / 2


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("route", ROUTES)
def test_what_is_let_go_of_in_one_go_does_not_grow_with_the_response(route: str) -> None:
    measured(route, 300)
    few, many = measured(route, FEW), measured(route, MANY)
    # The number of an object may be: it is one block, and an object in a response at least two.
    assert many.freed - few.freed < 1.1 * (MANY - FEW)
