"""A huge response lets others at the event loop. (`fairness.py` measures how long they wait.)"""

import asyncio

import pytest

from tests.execution.differential import new_engine
from tests.execution.fairness import QUERIES, measure

OBJECTS = 20_000
PER_LOOK = 1_000
"""Objects that may be answered between two looks at the clock: a few ms of work."""


class Hasty(asyncio.SelectorEventLoop):
    """A loop on which each look at the clock finds that a second has gone by, so that the turns
    that others get are the engine's looks at it, however fast the machine is."""

    seconds = 0.0

    def time(self) -> float:
        self.seconds += 1
        return self.seconds


@pytest.mark.parametrize("query", QUERIES)
def test_others_get_their_turns_while_many_objects_are_answered(query: str) -> None:
    with asyncio.Runner(loop_factory=Hasty) as runner:
        turns, _, _ = runner.run(measure(new_engine, query, OBJECTS))
    assert turns >= OBJECTS / PER_LOOK
