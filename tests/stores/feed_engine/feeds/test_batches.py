"""Large fan-outs: planned into batches that many workers take, in any order, twice, or late."""

import random

import pytest

from datasources.protocols import BULK
from datasources.records import Board, User
from feed_engine.feeds.batches import PLANNED
from feed_engine.feeds.fanout import pin_published, pin_to_batch
from feed_engine.feeds.rows import FOLLOWING, id_row, parse_following
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import FanOutBatch, PinPublished
from feed_engine.outbox.priorities import of_tasks
from tests.feeds import START, Feeding

pytestmark = pytest.mark.anyio
FOLLOWERS = 7


async def popular(feeding: Feeding) -> tuple[Board, list[User]]:
    """A board whose owner has followers."""
    owner = await feeding.user()
    board = await feeding.board(owner)
    viewers = [await feeding.user() for _ in range(FOLLOWERS)]
    for viewer in viewers:
        await feeding.follow(viewer, owner.id)
    await feeding.drain()
    return board, viewers


async def saw(feeding: Feeding, viewers: list[User], pin_id: int) -> list[int]:
    """The number of sides that have the pin, for each viewer."""
    found = []
    for viewer in viewers:
        rows = [await read_row(side, FOLLOWING, id_row(viewer.id)) for side in feeding.stores.feeds]
        found.append(sum(pin_id in {parse_following(c.column).pin_id for c in row} for row in rows))
    return found


async def nothing(cursor: bytes) -> None:
    pass


async def test_a_large_fan_out_is_left_to_batches_that_cover_all_followers(
    feeding: Feeding,
) -> None:
    board, viewers = await popular(feeding)
    pin = await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    assert isinstance(task, PinPublished)
    cursors: list[bytes] = []

    async def save(cursor: bytes) -> None:
        cursors.append(cursor)

    await pin_published(feeding.stores, task, None, save, page=2, batch=3)
    assert PLANNED.encode() in cursors[0]
    assert await saw(feeding, viewers, pin.id) == [0] * FOLLOWERS
    found = [task for task in await feeding.tasks() if isinstance(task, FanOutBatch)]
    assert len(found) == 3  # of 3, 3 and 1
    assert of_tasks(found) == BULK
    batches = [*found, *found]
    random.Random(7).shuffle(batches)
    for batch in batches:
        await pin_to_batch(feeding.stores, batch, None, nothing, page=2)
    assert await saw(feeding, viewers, pin.id) == [2] * FOLLOWERS


async def test_each_batch_reaches_its_own_followers_alone(feeding: Feeding) -> None:
    board, viewers = await popular(feeding)
    pin = await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    await pin_published(feeding.stores, task, None, nothing, batch=3)
    found = [task for task in await feeding.tasks() if isinstance(task, FanOutBatch)]
    reached = [0]
    for batch in found:
        await pin_to_batch(feeding.stores, batch, None, nothing)
        reached.append(sum(await saw(feeding, viewers, pin.id)) // 2)
    assert reached == [0, 3, 6, 7]


async def test_a_fan_out_that_was_planned_is_not_planned_again(feeding: Feeding) -> None:
    board, _ = await popular(feeding)
    await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    cursors: list[bytes] = []

    async def save(cursor: bytes) -> None:
        cursors.append(cursor)

    await pin_published(feeding.stores, task, None, save, batch=3)
    before = len(await feeding.tasks())
    await pin_published(feeding.stores, task, cursors[0], save, batch=3)
    assert len(await feeding.tasks()) == before


async def test_few_followers_take_no_batches(feeding: Feeding) -> None:
    board, viewers = await popular(feeding)
    pin = await feeding.pin_at(board, START)
    (task,) = await feeding.tasks()
    await pin_published(feeding.stores, task, None, nothing, page=2, batch=FOLLOWERS)
    assert await saw(feeding, viewers, pin.id) == [2] * FOLLOWERS
    assert await feeding.tasks() == [task]
