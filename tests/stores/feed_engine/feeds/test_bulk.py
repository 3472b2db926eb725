"""Feeds built in bulk equal the feeds that jobs build."""

import random

import pytest

from datasources.protocols import Cell
from datasources.records import User
from feed_engine.feeds.bulk import build_feeds
from feed_engine.feeds.rows import FOLLOWING, POOLS, Source, id_row, pool_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.wide import read_row
from tests.feeds import START, Feeding, pins_of

pytestmark = pytest.mark.anyio


async def rows(feeding: Feeding, users: list[User]) -> list[list[tuple[bytes, bytes, int]]]:
    """Following rows with their stamps, and pools without, because those are times of actions."""
    found: list[list[tuple[bytes, bytes, int]]] = []
    for user in users:
        for side in feeding.stores.feeds:
            row = await read_row(side, FOLLOWING, id_row(user.id))
            found.append([(c.column, c.value, c.stamp) for c in row])
        for side in feeding.stores.pools:
            for source in (Source.FOLLOWED, Source.INTEREST):
                cells: list[Cell] = await read_row(side, POOLS, pool_row(user.id, source))
                found.append([(c.column, c.value, 0) for c in cells])
    return found


async def crowd(feeding: Feeding) -> list[User]:
    """Users who follow one another, boards and interests, with pins."""
    rng = random.Random(3)
    users = [await feeding.user() for _ in range(5)]
    boards = [await feeding.board(user) for user in users]
    interests = [await feeding.interest() for _ in range(2)]
    for number in range(30):
        themes = rng.sample([interest.id for interest in interests], rng.randint(0, 2))
        await feeding.pin_at(rng.choice(boards), START + number, *themes)
    for user in users:
        targets = [*(u.id for u in users if u != user), *(b.id for b in boards)]
        own = boards[users.index(user)].id
        for target in {*rng.sample(targets, 4), own, rng.choice(interests).id}:
            await feeding.follow(user, target)
    await feeding.unfollow(users[0], (await feeding.following_ids(users[0]))[0])
    return users


async def test_feeds_built_in_bulk_are_those_that_jobs_build(feeding: Feeding) -> None:
    users = await crowd(feeding)
    told: list[int] = []
    await build_feeds(feeding.stores, (user.id for user in users), told.append)
    built = await rows(feeding, users)
    shown = [pins_of(await feeding.following(user)) for user in users]
    assert sum(told) == 5
    assert all(shown)
    await feeding.drain()
    assert await rows(feeding, users) == built
    await build_feeds(feeding.stores, [user.id for user in users])
    assert await rows(feeding, users) == built
    assert [pins_of(await feeding.following(user)) for user in users] == shown


async def test_building_again_brings_back_nothing_that_was_taken(feeding: Feeding) -> None:
    users = await crowd(feeding)
    await build_feeds(feeding.stores, [user.id for user in users])
    await feeding.drain()
    page = await feeding.home(users[1])
    await feeding.drain()
    before = await rows(feeding, users)
    await build_feeds(feeding.stores, [user.id for user in users])
    assert await rows(feeding, users) == before
    assert not set(pins_of(page)) & set(pins_of(await feeding.home(users[1])))


async def test_rows_built_in_bulk_keep_to_their_caps(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    pins = await feeding.pins(board, 12)
    await feeding.follow(viewer, owner.id)
    await feeding.follow(viewer, board.id)
    settings = FeedSettings(following_cap=4, pool_cap=3, backfill=5)
    await build_feeds(feeding.stores, [viewer.id], settings=settings)
    assert pins_of(await feeding.following(viewer)) == [pin.id for pin in pins[:-5:-1]]
    (_, _, pool, *_) = await rows(feeding, [viewer])
    assert len(pool) == 3


async def test_own_pins_are_not_put_into_feeds_also_of_boards_one_follows(
    feeding: Feeding,
) -> None:
    viewer = await feeding.user()
    board = await feeding.board(viewer)
    interest = await feeding.interest()
    await feeding.pin_at(board, START, interest.id)
    for target in (board.id, interest.id):
        await feeding.follow(viewer, target)
    await build_feeds(feeding.stores, [viewer.id])
    assert not any(await rows(feeding, [viewer]))
    await feeding.drain()
    assert not any(await rows(feeding, [viewer]))
