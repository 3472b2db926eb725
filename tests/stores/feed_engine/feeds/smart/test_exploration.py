"""Exploration in real visits: which pins it draws, and what the visit stores."""

import pytest

from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds import visits
from feed_engine.feeds.learning.examples import read_examples
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.explain import explain
from feed_engine.feeds.visits import Chunk
from feed_engine.times import DAY, HOUR
from tests.feeds import Feeding, feeding, pins_of, valkey

__all__ = ["feeding", "valkey"]

pytestmark = pytest.mark.anyio
COUNT = 10


async def world(feeding: Feeding, age: int, explore: float = 0.2) -> tuple[User, list[Pin]]:
    """A viewer who follows 20 owners, each with a pin of this age."""
    feeding.settings = FeedSettings(chunk=COUNT, generator_seconds=60, explore=explore)
    viewer, pins = await feeding.user(), list[Pin]()
    for n in range(2 * COUNT):
        owner = await feeding.user()
        await feeding.follow(viewer, owner.id)
        pins.append(await feeding.pin_at(await feeding.board(owner), feeding.now - age - n * 1000))
    await feeding.drain()
    await feeding.empty_popular()
    return viewer, pins


async def chunk(feeding: Feeding, viewer: User) -> Chunk:
    return (await visits.recent(feeding.stores, viewer.id))[0].chunk


async def test_a_visit_gives_the_share_of_its_places_to_new_pins_with_their_propensities(
    feeding: Feeding,
) -> None:
    viewer, pins = await world(feeding, HOUR)
    visible = feeding.visible(viewer)
    told = await explain(feeding.feeds(), viewer.id, None, visible=visible, likes=feeding.likes)
    page = pins_of(await feeding.home(viewer, first=COUNT))
    assert page == [each.pin_id for each in told.chosen]
    best, found = [pin.id for pin in pins[:COUNT]], await chunk(feeding, viewer)
    assert len(found.odds) == 2
    assert set(page) - set(best) == found.odds.keys()
    assert set(found.odds.values()) < {round(2 / n, 4) for n in range(5, COUNT + 1)}
    examples = await read_examples(feeding.stores, viewers=999, seed=1, on_viewers=lambda _: None)
    odds = [e.odds for e in examples if e.viewer_id == viewer.id]
    assert odds == [found.odds.get(id, 1.0) for id in page]


async def test_pins_that_lose_their_places_come_with_a_later_visit(feeding: Feeding) -> None:
    viewer, pins = await world(feeding, HOUR)
    shown: list[int] = []
    for _ in range(3):
        await feeding.home(viewer, first=COUNT)
        shown += [id for id, _ in (await chunk(feeding, viewer)).pins]
        await feeding.drain()
    assert sorted(shown) == sorted(pin.id for pin in pins)


async def test_old_pins_are_explored_only_if_their_owner_is_new_to_a_known_viewer(
    feeding: Feeding,
) -> None:
    viewer, pins = await world(feeding, 2 * DAY)
    stranger, _ = await world(feeding, 2 * DAY)
    known = {pin.id for pin in pins[COUNT : 2 * COUNT - 3]}
    for pin in pins:
        if pin.id in known:
            await writes.like_pin(feeding.stores, viewer.id, pin.id)
    await feeding.home(stranger, first=COUNT)
    assert (await chunk(feeding, stranger)).odds == {}
    await feeding.home(viewer, first=COUNT)
    explored = (await chunk(feeding, viewer)).odds
    assert len(explored) == 2
    assert explored.keys().isdisjoint(known)


async def test_without_the_setting_nothing_is_explored(feeding: Feeding) -> None:
    viewer, pins = await world(feeding, HOUR, explore=0.0)
    assert pins_of(await feeding.home(viewer, first=COUNT)) == [pin.id for pin in pins[:COUNT]]
    assert (await chunk(feeding, viewer)).odds == {}
