"""Related pins: what a like adds to the viewer's own pool."""

import pytest

from datasources.records import User
from feed_engine import writes
from feed_engine.feeds.rows import POOLS, Source, parse_pool, parse_why, pool_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import PinLiked
from feed_engine.related.pool import pin_liked
from tests.feeds import START, Feeding

pytestmark = pytest.mark.anyio


async def related(feeding: Feeding, viewer: User) -> list[tuple[int, int]]:
    """The (pin, cause) in the viewer's pool, the same on both sides."""
    sides = []
    for side in feeding.stores.pools:
        cells = await read_row(side, POOLS, pool_row(viewer.id, Source.RELATED))
        sides.append([(parse_pool(c.column).pin_id, parse_why(c.value).cause_id) for c in cells])
    assert sides[0] == sides[1]
    return sides[0]


async def test_a_like_brings_the_pins_beside_the_liked_one_and_of_its_interests(
    feeding: Feeding,
) -> None:
    viewer, owner, other = [await feeding.user() for _ in range(3)]
    interest = await feeding.interest()
    board, elsewhere = await feeding.board(owner), await feeding.board(other)
    old, liked, new = await feeding.pins(board, 3)
    themed = await feeding.pin_at(elsewhere, START + 500, interest.id)
    both = await feeding.pin_at(board, START + 10_000, interest.id)
    await feeding.pins(elsewhere, 2)
    await feeding.drain()
    await writes.like_pin(feeding.stores, viewer.id, liked.id)
    await feeding.drain()
    assert await related(feeding, viewer) == [(pin.id, liked.id) for pin in (both, new, old)]
    await writes.like_pin(feeding.stores, viewer.id, both.id)
    await feeding.drain()
    found = await related(feeding, viewer)
    assert {pin for pin, cause in found if cause == both.id} == {
        pin.id for pin in (new, liked, old, themed)
    }


async def test_own_pins_and_secret_ones_are_related_to_nothing(feeding: Feeding) -> None:
    viewer, interest = await feeding.user(), await feeding.interest()
    own = await feeding.pin_at(await feeding.board(viewer), START, interest.id)
    secret = await feeding.pin_at(await feeding.board(viewer, secret=True), START, interest.id)
    liked = await feeding.pin_at(await feeding.board(await feeding.user()), START, interest.id)
    for pin in (own, secret, liked):
        await writes.like_pin(feeding.stores, viewer.id, pin.id)
    await feeding.drain()
    assert await related(feeding, viewer) == [(liked.id, own.id)]


async def test_a_job_that_runs_late_or_twice_finds_what_it_would_have_found(
    feeding: Feeding,
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    liked, *_ = await feeding.pins(board, 30)
    await writes.like_pin(feeding.stores, viewer.id, liked.id, at=START + 100_000)
    await feeding.drain()
    before = await related(feeding, viewer)
    task = PinLiked(viewer.id, liked.id, START + 100_000)
    assert len(before) == FeedSettings().related
    await feeding.pins(board, 5, start=START + 200_000)
    await feeding.run(task)
    assert await related(feeding, viewer) == before


async def test_the_pool_keeps_its_best(feeding: Feeding) -> None:
    viewer = await feeding.user()
    liked, *beside = await feeding.pins(await feeding.board(await feeding.user()), 9)
    task = PinLiked(viewer.id, liked.id, START + 100_000)
    settings = FeedSettings(pool_cap=3)
    await pin_liked(feeding.stores, task, None, _nowhere, settings=settings)
    assert [pin for pin, _ in await related(feeding, viewer)] == [p.id for p in beside[:-4:-1]]


async def _nowhere(cursor: bytes) -> None: ...
