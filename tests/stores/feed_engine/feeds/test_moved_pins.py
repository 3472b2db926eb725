"""A pin in other users' feeds when it is moved between public and secret boards."""

import random

import pytest

from datasources.records import Board, Pin, User
from feed_engine import writes
from feed_engine.feeds.rows import Reason
from feed_engine.outbox.change import PinArrived, PinPublished
from tests.feeds import START, Feeding, pins_of

pytestmark = pytest.mark.anyio


async def _world(feeding: Feeding) -> tuple[list[Board], Pin, list[User]]:
    """Two public boards and a secret board; a pin on the first; the followers of the owner, of the
    first board, of the second, and of the secret board (from before it was secret)."""
    owner = await feeding.user()
    boards = [await feeding.board(owner) for _ in range(3)]
    viewers = [await feeding.user() for _ in range(4)]
    for viewer, target in zip(viewers, [owner, *boards], strict=True):
        await feeding.follow(viewer, target.id)
    secret = writes.BoardChange(secret=True)
    await writes.update_board(feeding.stores, owner.id, boards[2].id, secret)
    pin = await feeding.pin_at(boards[0], START)
    await feeding.drain()
    return boards, pin, viewers


async def _move(feeding: Feeding, pin: Pin, board: Board) -> None:
    await writes.move_pin(feeding.stores, pin.owner_id, pin.id, board.id)


async def _seen(feeding: Feeding, viewers: list[User]) -> list[bool]:
    return [bool(pins_of(await feeding.following(viewer))) for viewer in viewers]


async def test_a_following_feed_shows_a_pin_while_it_is_on_what_is_followed(
    feeding: Feeding,
) -> None:
    [one, other, secret], pin, viewers = await _world(feeding)
    assert await _seen(feeding, viewers) == [True, True, False, False]
    await _move(feeding, pin, other)
    assert await _seen(feeding, viewers) == [True, False, False, False]  # at once, before any job
    await feeding.drain()
    assert await _seen(feeding, viewers) == [True, False, True, False]
    await _move(feeding, pin, secret)
    assert await _seen(feeding, viewers) == [False] * 4
    await feeding.drain()
    assert await _seen(feeding, viewers) == [False] * 4
    await _move(feeding, pin, one)
    await feeding.drain()
    assert await _seen(feeding, viewers) == [True, True, False, False]


async def test_a_pin_that_comes_from_a_secret_board_reaches_feeds_as_a_new_one_does(
    feeding: Feeding,
) -> None:
    [one, _, secret], _, [viewer, *_] = await _world(feeding)
    interest = await feeding.interest()
    fan = await feeding.user()
    await feeding.follow(fan, interest.id)
    hidden = await feeding.pin_at(secret, START + 1000, interest.id)
    await feeding.drain()
    assert hidden.id not in pins_of(await feeding.home(fan))
    await _move(feeding, hidden, one)
    await feeding.drain()
    assert hidden.id in pins_of(await feeding.following(viewer))
    [item] = [it for it in (await feeding.home(fan)).items if it.pin.id == hidden.id]
    assert item.reason is Reason.FOLLOWED_INTEREST


async def test_a_pin_that_an_unfollow_took_out_of_a_pool_comes_in_by_its_new_board(
    feeding: Feeding,
) -> None:
    [one, other, _], pin, _ = await _world(feeding)
    viewer = await feeding.user()
    await feeding.follow(viewer, one.id)
    await feeding.drain()
    await feeding.unfollow(viewer, one.id)
    await feeding.drain()
    await feeding.follow(viewer, other.id)
    await feeding.drain()
    await _move(feeding, pin, other)
    await feeding.drain()
    home = await feeding.home(viewer)
    [item] = [item for item in home.items if item.pin.id == pin.id]
    assert item.reason is Reason.FOLLOWED_BOARD
    assert pins_of(await feeding.following(viewer)) == [pin.id]


async def test_between_public_boards_only_followers_of_the_new_one_are_written_to(
    feeding: Feeding,
) -> None:
    [one, other, secret], pin, _ = await _world(feeding)
    await _move(feeding, pin, other)
    assert [type(task) for task in await feeding.tasks()] == [PinArrived]
    await _move(feeding, pin, secret)
    assert [type(task) for task in await feeding.tasks()] == [PinArrived]
    # `flips` of the secret board changed: all rows may be out of date
    await _move(feeding, pin, one)
    assert [type(task) for task in await feeding.tasks()] == [PinArrived, PinPublished]


@pytest.mark.parametrize("seed", range(4))
async def test_jobs_of_moves_late_twice_and_in_any_order_end_the_same(
    feeding: Feeding, seed: int
) -> None:
    chooser = random.Random(seed)
    boards, pin, viewers = await _world(feeding)
    done = []
    for _ in range(8):
        to = chooser.choice(boards)
        await _move(feeding, pin, to)
        waiting = await feeding.tasks()
        for task in chooser.sample(waiting, len(waiting) // 2):
            await feeding.run(task)
            done.append(task)
    await feeding.drain()
    for task in done:
        await feeding.run(task)
    public = to is not boards[2]
    expected = [public, to is boards[0], to is boards[1], False]
    assert await _seen(feeding, viewers) == expected
