"""A large response does not hold the event loop for long. `fairness.py` has the measurement."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from tests.execution.fairness import ROUTES, Measured, measure

SIZES = {"a list of numbers": (12_000, 16_000)}
"""Objects of a small and of a large response, both of which take many turns. Most routes take many
for 4,000."""
PER_LOOK = 256
"""The maximum number of objects that may be made between two reads of the clock: a few ms of
work."""


class Hasty(asyncio.SelectorEventLoop):
    """An event loop whose clock advances by one second with each read. The engine then rests at
    each read of the clock, so that the test does not depend on the speed of the machine."""

    seconds = 0.0

    def time(self) -> float:
        self.seconds += 1
        return self.seconds


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Disable the garbage collector, which frees all cycles at once."""
    gc.disable()
    yield
    gc.enable()


def measured(route: str, objects: int) -> Measured:
    with asyncio.Runner(loop_factory=Hasty) as runner:
        return runner.run(measure(route, objects, steps=True))


@pytest.mark.parametrize("route", ROUTES)
def test_the_steps_of_one_turn_do_not_grow_with_the_response(route: str) -> None:
    measured(route, 300)  # compiles and fills caches
    size, larger = SIZES.get(route, (4_000, 6_000))
    few, many = measured(route, size), measured(route, larger)
    assert few.turns >= size / PER_LOOK
    # A loop over a whole column in one turn would take at least one step for every second object.
    assert many.steps - few.steps < (larger - size) / 2


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("route", ROUTES)
def test_the_memory_freed_in_one_turn_does_not_grow_with_the_response(route: str) -> None:
    measured(route, 300)
    size, larger = SIZES.get(route, (4_000, 6_000))
    few, many = measured(route, size), measured(route, larger)
    # One block for each object is allowed (its number). An object of the response has at least two.
    assert many.freed - few.freed < 1.1 * (larger - size)
