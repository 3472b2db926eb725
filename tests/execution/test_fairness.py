"""A huge response lets others at the event loop. (`fairness.py` measures how long they wait.)"""

import asyncio

import pytest

from tests.execution.differential import new_engine
from tests.execution.fairness import QUERIES, measure

OBJECTS = 20_000
PER_TURN = 2_000
"""Objects that may be answered between two turns of the loop: about 5 ms of work."""


@pytest.mark.parametrize("query", QUERIES)
def test_others_get_their_turns_while_many_objects_are_answered(query: str) -> None:
    turns, _, _ = asyncio.run(measure(new_engine, query, OBJECTS))
    assert turns >= OBJECTS / PER_TURN
