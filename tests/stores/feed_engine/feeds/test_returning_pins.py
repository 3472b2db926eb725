"""A pin that comes back to where an unfollow had taken it out of a pool is brought in again."""

import pytest

from feed_engine import writes
from feed_engine.feeds.rows import Reason
from tests.feeds import START, Feeding, pins_of

pytestmark = pytest.mark.anyio


async def test_with_a_board_that_was_secret_meanwhile(feeding: Feeding) -> None:
    owner, viewer = await feeding.user(), await feeding.user()
    board = await feeding.board(owner)
    await feeding.follow(viewer, owner.id)
    pin = await feeding.pin_at(board, START)
    await feeding.drain()

    async def flip(secret: bool) -> None:
        change = writes.BoardChange(secret=secret)
        await writes.update_board(feeding.stores, owner.id, board.id, change)
        await feeding.drain()

    await flip(True)
    await feeding.unfollow(viewer, owner.id)
    await feeding.drain()
    await feeding.follow(viewer, owner.id)
    await feeding.drain()
    await flip(False)
    [item] = [item for item in (await feeding.home(viewer)).items if item.pin.id == pin.id]
    assert item.reason is Reason.FOLLOWED_USER
    assert pins_of(await feeding.following(viewer)) == [pin.id]


async def test_with_an_interest_that_it_lacked_meanwhile(feeding: Feeding) -> None:
    owner, viewer = await feeding.user(), await feeding.user()
    board, interest = await feeding.board(owner), await feeding.interest()
    await feeding.follow(viewer, interest.id)
    pin = await feeding.pin_at(board, START, interest.id)
    await feeding.drain()

    async def change(*interests: int) -> None:
        wanted = writes.PinChange(interest_ids=interests)
        await writes.update_pin(feeding.stores, owner.id, pin.id, wanted)
        await feeding.drain()

    await change()
    await feeding.unfollow(viewer, interest.id)
    await feeding.drain()
    await feeding.follow(viewer, interest.id)
    await feeding.drain()
    await change(interest.id)
    [item] = [item for item in (await feeding.home(viewer)).items if item.pin.id == pin.id]
    assert item.reason is Reason.FOLLOWED_INTEREST
