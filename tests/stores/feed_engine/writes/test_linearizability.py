"""Drags, moves, sorts, saves, deletes and respacing at the same time, on linearizable boards."""

import random

import pytest

from datasources.protocols import Stores
from feed_engine.ordering import arrange
from tests.linearizability import History
from tests.people import People

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_done_at_once_has_an_order_that_explains_every_answer_and_page(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(arrange, "CHUNK", 2)
    history = History(people, random.Random(seed))
    await history.begin()
    await history.run(clients=8, calls=14)
    await history.check()
    assert history.refused < len(history.calls) / 2
    assert {step.call.kind for step in history.steps} >= {"drag", "move", "save", "sort"}
