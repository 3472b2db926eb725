"""Blocks: which follows they remove, whenever their job runs, and which they refuse."""

import asyncio
from collections.abc import Awaitable

import pytest

from datasources.errors import BadInput, NotFound
from datasources.mappings import Mapping
from datasources.protocols import Stores
from datasources.records import Board, User
from feed_engine import writes
from feed_engine.transactions import blocks
from feed_engine.writes import follows
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio
NOW = 1_800_000_000_000


async def pair(people: People) -> tuple[User, User, Board, Board]:
    """Two users on different shards, each with a board and a secret board."""
    ann = await people.user()
    bob = await people.user(away_from=ann.id)
    for user in (ann, bob):
        await people.board(user, secret=True)
    return ann, bob, await people.board(ann), await people.board(bob)


async def followed(people: People, user: User) -> set[int]:
    """The users and boards that a user follows."""
    users = await people.list(Mapping.USER_FOLLOWS_USERS, user.id)
    return {*users, *await people.list(Mapping.USER_FOLLOWS_BOARDS, user.id)}


async def follow_each_other(
    stores: Stores, ann: User, bob: User, boards: tuple[Board, Board], at: int = NOW
) -> None:
    for user, other, board in ((ann, bob, boards[1]), (bob, ann, boards[0])):
        for id in (other.id, board.id):
            await writes.follow(stores, user.id, id, at=at)


async def test_a_block_removes_the_follows_between_the_two_and_no_others(
    stores: Stores, people: People
) -> None:
    ann, bob, *boards = await pair(people)
    cat = await people.user()
    await follow_each_other(stores, ann, bob, (boards[0], boards[1]))
    for user in (ann, bob):
        await writes.follow(stores, user.id, cat.id)
        await writes.follow(stores, cat.id, user.id)
    await writes.block_user(stores, ann.id, bob.id, at=NOW + 1)
    await drain(stores)
    assert await followed(people, ann) == await followed(people, bob) == {cat.id}
    assert await followed(people, cat) == {ann.id, bob.id}
    assert await people.list(Mapping.BOARD_FOLLOWED_BY_USERS, boards[0].id) == []
    assert await people.list(Mapping.USER_BLOCKS_USERS, ann.id) == [bob.id]
    assert await people.list(Mapping.USER_BLOCKED_BY_USERS, bob.id) == [ann.id]


async def test_the_boards_of_a_user_with_many_are_all_looked_at(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("feed_engine.writes.block_tasks.BOARDS", 2)
    ann, bob, *_ = await pair(people)
    boards = [await people.board(bob) for _ in range(5)]
    for board in boards:
        await writes.follow(stores, ann.id, board.id)
    await writes.block_user(stores, ann.id, bob.id)
    await drain(stores)
    assert await followed(people, ann) == set()


async def test_a_job_after_the_unblock_removes_older_follows_and_keeps_later_ones(
    stores: Stores, people: People
) -> None:
    ann, bob, *boards = await pair(people)
    await follow_each_other(stores, ann, bob, (boards[0], boards[1]))
    await writes.block_user(stores, ann.id, bob.id, at=NOW + 1)
    await writes.unblock_user(stores, ann.id, bob.id)
    await writes.unfollow(stores, bob.id, ann.id)
    await writes.follow(stores, bob.id, ann.id, at=NOW + 2)
    await drain(stores)
    assert await followed(people, ann) == set()
    assert await followed(people, bob) == {ann.id}


@pytest.mark.parametrize("blocker", ["the follower", "the followed user"])
async def test_a_follow_at_the_same_time_as_a_block_is_refused(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch, blocker: str
) -> None:
    ann, bob, board, _ = await pair(people)
    blocking, blocked = (bob, ann) if blocker == "the follower" else (ann, bob)
    check = follows._check

    async def block_after_check(*given: object) -> int:
        owner_id = await check(*given)  # type: ignore[arg-type]
        await writes.block_user(stores, blocking.id, blocked.id, at=NOW)
        await drain(stores)
        return owner_id

    monkeypatch.setattr(follows, "_check", block_after_check)
    for id in (ann.id, board.id):
        with pytest.raises(NotFound):
            await writes.follow(stores, bob.id, id, at=NOW + 1)
    assert await followed(people, bob) == set()


async def test_a_repeated_block_changes_nothing_and_an_unblock_ends_it(
    stores: Stores, people: People
) -> None:
    ann, bob, *_ = await pair(people)
    first = await writes.block_user(stores, ann.id, bob.id)
    assert await writes.block_user(stores, ann.id, bob.id) == first
    ended = await writes.unblock_user(stores, ann.id, bob.id)
    assert (ended.version, ended.active) == (2, False)
    assert await writes.unblock_user(stores, ann.id, bob.id) == ended
    await writes.follow(stores, bob.id, ann.id)
    await writes.block_user(stores, bob.id, ann.id)


async def test_nobody_blocks_themselves_or_more_users_than_the_bound(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MOST", 2)
    ann = await people.user()
    others = [await people.user() for _ in range(3)]
    for other in others[:2]:
        await writes.block_user(stores, ann.id, other.id)
    refused: list[Awaitable[object]] = [
        writes.block_user(stores, ann.id, others[2].id),
        writes.block_user(stores, ann.id, ann.id),
    ]
    for error in await asyncio.gather(*refused, return_exceptions=True):
        assert isinstance(error, BadInput)
    await writes.unblock_user(stores, ann.id, others[0].id)
    await writes.block_user(stores, ann.id, others[2].id)


async def test_a_user_blocked_by_more_users_than_are_read_sees_none_of_them(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "READ", 2)
    bob = await people.user()
    others = [await people.user() for _ in range(4)]
    for other in others:
        await writes.block_user(stores, other.id, bob.id)
    for other in others:
        board = await people.board(other)
        for id in (other.id, board.id):
            with pytest.raises(NotFound):
                await writes.follow(stores, bob.id, id)
