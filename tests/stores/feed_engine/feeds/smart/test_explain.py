"""Why the next visit shows a pin, and why not."""

import pytest

from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.explain import Explanation, Verdict, explain
from tests.feeds import START, Feeding, feeding, pins_of, valkey

__all__ = ["feeding", "valkey"]

pytestmark = pytest.mark.anyio


async def explained(feeding: Feeding, viewer: User, pin: Pin | None = None) -> Explanation:
    pin_id = pin.id if pin else None
    visible = feeding.visible(viewer)
    return await explain(feeding.feeds(), viewer.id, pin_id, visible=visible, likes=feeding.likes)


async def verdict(feeding: Feeding, viewer: User, pin: Pin) -> Verdict | None:
    return (await explained(feeding, viewer, pin)).verdict


async def test_the_explained_visit_is_the_next_one_and_explaining_uses_up_nothing(
    feeding: Feeding,
) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    await feeding.pins(await feeding.board(owner), 12)
    await feeding.drain()
    for _ in range(3):
        told = await explained(feeding, viewer)
        assert told == await explained(feeding, viewer)
        page = await feeding.home(viewer)
        assert [each.pin_id for each in told.chosen] == pins_of(page)[: len(told.chosen)]
        await feeding.drain()
    assert len(told.chosen) == 2


async def test_the_parts_of_a_score_are_told(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    first, second = await feeding.pins(await feeding.board(owner), 2)
    await feeding.drain()
    await writes.like_pin(feeding.stores, viewer.id, first.id)
    await writes.see_more(feeding.stores, viewer.id, owner.id)
    by_pin = {each.pin_id: each for each in (await explained(feeding, viewer)).chosen}
    assert by_pin[first.id].reason is Reason.FOLLOWED_USER
    assert by_pin[first.id].cause_id == owner.id
    score = by_pin[first.id].score
    assert (round(score.likes, 2), score.preferences) == (0.5, 2.0)
    assert round(score.affinity, 2) == 0.79  # log2(1 + one like of the owner and of the board) / 2
    assert by_pin[second.id].score.likes == 0
    assert score.total == sum(score)


async def test_each_reason_why_a_pin_does_not_come(feeding: Feeding) -> None:
    viewer, owner, left, stranger = [await feeding.user() for _ in range(4)]
    for followed in (owner, left):
        await feeding.follow(viewer, followed.id)
    board = await feeding.board(owner)
    shown, hidden, later, chosen = await feeding.pins(board, 4)
    secret = await feeding.pin_at(await feeding.board(owner, secret=True), START)
    own = await feeding.pin_at(await feeding.board(viewer), START)
    [gone] = await feeding.pins(await feeding.board(left), 1)
    elsewhere = await feeding.pin_at(await feeding.board(stranger), START)
    await feeding.drain()
    await feeding.empty_popular()
    feeding.settings = FeedSettings(chunk=1, generator_seconds=60)
    await writes.hide_pin(feeding.stores, viewer.id, hidden.id)
    await writes.unfollow(feeding.stores, viewer.id, left.id)
    newest = await feeding.pin_at(board, START + 10_000_000)
    await feeding.drain()
    await feeding.empty_popular()
    assert pins_of(await feeding.home(viewer, first=1)) == [newest.id]
    for saved in (False, True):
        assert await verdict(feeding, viewer, newest) is Verdict.SHOWN, saved
        await feeding.drain()
    assert await verdict(feeding, viewer, chosen) is Verdict.CHOSEN
    assert await verdict(feeding, viewer, later) is Verdict.LATER
    assert await verdict(feeding, viewer, shown) is Verdict.LATER
    assert await verdict(feeding, viewer, hidden) is Verdict.HIDDEN
    assert await verdict(feeding, viewer, secret) is Verdict.UNSEEN
    assert await verdict(feeding, viewer, own) is Verdict.OWN
    assert await verdict(feeding, viewer, elsewhere) is Verdict.ABSENT
    assert await verdict(feeding, viewer, gone) in (Verdict.LEFT, Verdict.ABSENT)


async def test_a_pin_of_somebody_who_was_just_unfollowed_is_left(feeding: Feeding) -> None:
    """The unfollow's job has not removed it from the pool yet."""
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    [pin] = await feeding.pins(await feeding.board(owner), 1)
    await feeding.drain()
    await feeding.empty_popular()
    await writes.unfollow(feeding.stores, viewer.id, owner.id)
    assert await verdict(feeding, viewer, pin) is Verdict.LEFT


async def test_a_pin_of_a_muted_user_is_not_told_to_come_later(feeding: Feeding) -> None:
    viewer, owner = await feeding.user(), await feeding.user()
    await feeding.follow(viewer, owner.id)
    [pin] = await feeding.pins(await feeding.board(owner), 1)
    await feeding.drain()
    await writes.mute_user(feeding.stores, viewer.id, owner.id)
    assert await verdict(feeding, viewer, pin) is Verdict.MUTED
    await writes.unmute_user(feeding.stores, viewer.id, owner.id)
    assert await verdict(feeding, viewer, pin) is Verdict.CHOSEN
