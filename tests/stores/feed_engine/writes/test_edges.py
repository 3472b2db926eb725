"""Likes and follows: both directions, versions, and what can't be liked or followed."""

import pytest

from datasources.errors import BadInput, NotFound
from datasources.mappings import REVERSE, Mapping
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.outbox.change import AnyTask, Followed, PinLiked, Unfollowed, decode
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio


async def _tasks(stores: Stores) -> list[AnyTask]:
    rows = await stores.shards.outbox.pending(2**62, 1000)
    return [task for row in rows for task in decode(row.payload).tasks]


async def test_a_like_is_a_row_on_either_side_with_one_version(
    stores: Stores, people: People
) -> None:
    viewer = await people.user()
    pin = await people.pin(await people.board(await people.user(away_from=viewer.id)))
    await drain(stores)
    likes, liked_by = Mapping.USER_LIKES_PINS, Mapping.PIN_LIKED_BY_USERS
    edge = await writes.like_pin(stores, viewer.id, pin.id, at=1000)
    assert (edge.version, edge.active, edge.sequence) == (1, True, 1000 * 10**25)
    assert await people.rows(likes, viewer.id) == [edge]
    assert await people.rows(liked_by, pin.id) == [edge.reversed()]
    assert await _tasks(stores) == [PinLiked(viewer_id=viewer.id, pin_id=pin.id, at=1000)]

    assert await writes.like_pin(stores, viewer.id, pin.id, at=2000) == edge
    assert len(await _tasks(stores)) == 1

    gone = await writes.unlike_pin(stores, viewer.id, pin.id)
    assert (gone.version, gone.active) == (2, False)
    assert await writes.unlike_pin(stores, viewer.id, pin.id) == gone
    assert await people.rows(liked_by, pin.id) == []
    again = await writes.like_pin(stores, viewer.id, pin.id, at=3000)
    assert (again.version, again.sequence) == (3, 3000 * 10**25)


async def test_what_was_never_liked_can_be_unliked_without_effect(
    stores: Stores, people: People
) -> None:
    viewer = await people.user()
    pin = await people.pin(await people.board(viewer))
    edge = await writes.unlike_pin(stores, viewer.id, pin.id)
    assert (edge.version, edge.active) == (0, False)


@pytest.mark.parametrize("kind", ["user", "board", "interest"])
async def test_a_follow_is_a_row_on_either_side_and_a_job(
    stores: Stores, people: People, kind: str
) -> None:
    viewer = await people.user()
    other = await people.user(away_from=viewer.id)
    target, mapping = {
        "user": (other, Mapping.USER_FOLLOWS_USERS),
        "board": (await people.board(other), Mapping.USER_FOLLOWS_BOARDS),
        "interest": (await people.interest(), Mapping.USER_FOLLOWS_INTERESTS),
    }[kind]
    await drain(stores)
    edge = await writes.follow(stores, viewer.id, target.id, at=1000)
    assert await people.rows(mapping, viewer.id) == [edge]
    assert await people.rows(REVERSE[mapping], target.id) == [edge.reversed()]
    gone = await writes.unfollow(stores, viewer.id, target.id)
    assert await people.rows(mapping, viewer.id) == []
    assert await people.rows(REVERSE[mapping], target.id) == []
    follow, unfollow = await _tasks(stores)
    assert follow == Followed(viewer_id=viewer.id, target_id=target.id, version=1, at=1000)
    assert isinstance(unfollow, Unfollowed)
    assert (unfollow.version, gone.version) == (2, 2)


async def test_nobody_follows_themselves_a_pin_or_nothing(stores: Stores, people: People) -> None:
    viewer = await people.user()
    pin = await people.pin(await people.board(viewer))
    with pytest.raises(BadInput, match="themselves"):
        await writes.follow(stores, viewer.id, viewer.id)
    with pytest.raises(BadInput, match="pin can't be followed"):
        await writes.follow(stores, viewer.id, pin.id)
    for absent in (0, viewer.id + 1000, 1 << 60, 99 << 46 | viewer.id):
        with pytest.raises(NotFound):
            await writes.follow(stores, viewer.id, absent)


async def test_what_became_secret_can_still_be_unliked_and_unfollowed(
    stores: Stores, people: People
) -> None:
    viewer, owner = await people.user(), await people.user()
    board = await people.board(owner)
    pin = await people.pin(board)
    await writes.like_pin(stores, viewer.id, pin.id)
    await writes.follow(stores, viewer.id, board.id)
    await writes.update_board(stores, owner.id, board.id, writes.BoardChange(secret=True))
    assert (await writes.unlike_pin(stores, viewer.id, pin.id)).active is False
    assert (await writes.unfollow(stores, viewer.id, board.id)).active is False
    with pytest.raises(NotFound):
        await writes.unfollow(stores, viewer.id, board.id)
    assert (await writes.follow(stores, owner.id, board.id)).active is True
