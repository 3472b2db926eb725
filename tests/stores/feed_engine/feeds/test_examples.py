"""The examples of a training, as they are read from real visits, events, likes and repins."""

import pytest

from datasources.protocols import EventKind
from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds.learning.examples import WITHIN, Example, read_examples
from feed_engine.feeds.rows import Source
from feed_engine.feeds.settings import FeedSettings, Weights
from feed_engine.times import HOUR
from feed_engine.writes.events import Happened
from tests.feeds import Feeding, feeding, pins_of, valkey

__all__ = ["feeding", "valkey"]

pytestmark = pytest.mark.anyio


async def examples(feeding: Feeding, viewers: int = 1_000) -> list[Example]:
    return await read_examples(feeding.stores, viewers=viewers, seed=1, on_viewers=lambda _: None)


async def visited(feeding: Feeding, count: int) -> tuple[User, list[Pin]]:
    """A viewer, and the pins that the viewer's first visit showed, in order."""
    feeding.settings = FeedSettings(chunk=count, generator_seconds=60)
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    made = await feeding.pins(await feeding.board(owner), count, start=feeding.now - HOUR)
    await feeding.drain()
    await feeding.empty_popular()
    by_id = {pin.id: pin for pin in made}
    page = await feeding.home(viewer, first=count)
    return viewer, [by_id[id] for id in pins_of(page)]


async def of(feeding: Feeding, viewer: User) -> list[Example]:
    return [e for e in await examples(feeding) if e.viewer_id == viewer.id]


async def test_opened_liked_and_repinned_pins_are_acted_on_and_the_others_are_not(
    feeding: Feeding,
) -> None:
    viewer, pins = await visited(feeding, 4)
    stores, later = feeding.stores, feeding.now + HOUR
    opened = [Happened(pins[0].id, EventKind.OPENED)]
    await writes.record_events(stores, viewer.id, opened, at=later)
    await writes.like_pin(stores, viewer.id, pins[1].id, at=later)
    board = await feeding.board(viewer)
    await writes.repin(stores, viewer.id, pins[2].id, board.id, at=later)
    await feeding.drain()
    found = await of(feeding, viewer)
    assert [e.acted for e in found] == [later, later, later, None]
    assert [e.position for e in found] == [0, 1, 2, 3]
    assert {(e.at, e.generation, e.source) for e in found} == {(feeding.now, 1, Source.FOLLOWED)}
    assert all(-1 < e.features.in_pool < 0 for e in found)


async def test_features_are_those_of_the_visit_not_of_later_likes(feeding: Feeding) -> None:
    viewer, pins = await visited(feeding, 3)
    for pin in pins:
        await writes.like_pin(feeding.stores, viewer.id, pin.id, at=feeding.now + 1)
    assert [e.features[1:] for e in await of(feeding, viewer)] == [(0, 0, 0)] * 3


async def test_actions_before_a_visit_or_long_after_it_do_not_count(feeding: Feeding) -> None:
    viewer, pins = await visited(feeding, 2)
    for pin, at in zip(pins, (feeding.now - 1, feeding.now + WITHIN), strict=True):
        await writes.like_pin(feeding.stores, viewer.id, pin.id, at=at)
    assert [e.acted for e in await of(feeding, viewer)] == [None, None]


async def test_pins_that_were_not_on_the_screen_are_left_out(feeding: Feeding) -> None:
    viewer, pins = await visited(feeding, 4)
    later = feeding.now + 1
    seen = [Happened(pins[0].id, EventKind.SEEN)]
    await writes.record_events(feeding.stores, viewer.id, seen, at=later)
    await writes.like_pin(feeding.stores, viewer.id, pins[2].id, at=later)
    await feeding.drain()
    assert [(e.position, e.acted) for e in await of(feeding, viewer)] == [(0, None), (2, later)]


async def test_viewers_are_drawn_by_the_seed(feeding: Feeding) -> None:
    for _ in range(4):
        await visited(feeding, 1)
    drawn = await examples(feeding, 2)
    assert len({e.viewer_id for e in drawn}) == 2
    assert await examples(feeding, 2) == drawn


async def test_new_visits_use_the_learned_weights(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    board = await feeding.board(owner)
    old, new = [await feeding.pin_at(board, feeding.now - hours * HOUR) for hours in (48, 1)]
    for _ in range(2):
        await writes.like_pin(feeding.stores, (await feeding.user()).id, old.id)
    await feeding.drain()
    await feeding.empty_popular()
    for weights, expected in ((None, [old.id, new.id]), (Weights(0.5, 0.0), [new.id, old.id])):
        feeds = feeding.feeds()
        feeds.learned.weights = weights
        feeding.feeds = lambda stores=None, feeds=feeds: feeds  # type: ignore[method-assign]
        one = await feeding.user()
        await feeding.follow(one, owner.id)
        await feeding.drain()
        await feeding.empty_popular()
        assert pins_of(await feeding.home(one)) == expected
