"""The index of comments by author: comments of before it, interruptions, and writes meanwhile."""

from contextlib import suppress
from typing import Any

import pytest

from datasources import records
from datasources.ids import Kind, shard_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import OutboxRow, ShardTx, Stores
from datasources.records import Comment, Pin, User
from feed_engine import writes
from feed_engine.outbox.change import Change
from feed_engine.transactions import commit as committing
from feed_engine.writes import comment_index
from feed_engine.writes.comment_index import comments_of, index_comments, mark_new, not_indexed
from tests.embedded_stores import drain
from tests.older_comments import forget_index
from tests.people import People

pytestmark = pytest.mark.anyio
INDEX = Mapping.USER_WROTE_COMMENTS


async def comment(stores: Stores, user: User, pin: Pin) -> int:
    new = writes.NewComment(pin_id=pin.id, text="hm")
    return (await writes.create_comment(stores, user.id, new)).comment.id


async def found(stores: Stores, user: User, place: str = "") -> list[int]:
    """The user's comments that were not deleted, as an account's end and an export find them."""

    async def save(_: str) -> None:
        return

    pages = [it async for it in comments_of(stores, user.id, place, save)]
    return sorted(it.id for page in pages for some in page.values() for it in some if it.active)


class World:
    """Two users, a pin of each, and their comments under both; one of each user's is deleted."""

    def __init__(self, stores: Stores, people: People) -> None:
        self.stores, self.people = stores, people
        self.users, self.pins = list[User](), list[Pin]()
        self.kept = dict[int, list[int]]()

    async def fill(self) -> "World":
        for _ in range(2):
            away = self.users[-1].id if self.users else None
            self.users.append(await self.people.user(away_from=away))
            self.pins.append(await self.people.pin(await self.people.board(self.users[-1])))
        for user in self.users:
            own = [await comment(self.stores, user, pin) for pin in (*self.pins, *self.pins)]
            await writes.delete_comment(self.stores, user.id, own.pop())
            self.kept[user.id] = sorted(own)
        await drain(self.stores)
        return self

    async def check(self) -> None:
        for user in self.users:
            assert await found(self.stores, user) == self.kept[user.id]


@pytest.fixture
async def world(stores: Stores, people: People) -> World:
    return await World(stores, people).fill()


async def test_comments_are_found_before_and_after_they_are_indexed(
    stores: Stores, world: World
) -> None:
    await forget_index(stores)
    assert await not_indexed(stores.shards) == stores.shards.objects.topology().open_shards
    await world.check()
    told: list[int] = []
    assert await index_comments(stores, told.append) >= 8
    assert told
    assert await not_indexed(stores.shards) == []
    await world.check()
    assert await index_comments(stores, told.append) == 0


async def test_new_shards_are_indexed_unless_they_have_comments(
    stores: Stores, world: World
) -> None:
    await forget_index(stores)
    shards = stores.shards.objects.topology().open_shards
    written = {shard_of(id) for id, _ in await stores.shards.objects.list(Kind.COMMENT, 0, 1000)}
    assert 0 < len(written) < len(shards)
    await mark_new(stores.shards, [])
    assert await not_indexed(stores.shards) == shards
    left = sorted({*shards} - written)[-1]
    for new in ([it for it in shards if it != left], shards):
        await mark_new(stores.shards, new)
        assert await not_indexed(stores.shards) == sorted({*written, *({*shards} - {*new})})
    await world.check()
    await index_comments(stores, lambda _: None)


async def test_indexed_comments_are_found_by_the_index_alone(stores: Stores, world: World) -> None:
    await index_comments(stores, lambda _: None)
    ann = world.users[0]
    first = world.kept[ann.id][0]

    async def unlist(tx: ShardTx) -> None:
        await tx.erase_edges([EdgeKey(INDEX, ann.id, first)])

    await stores.shards.objects.transact(shard_of(ann.id), unlist)
    assert await found(stores, ann) == world.kept[ann.id][1:]
    row = await edge_of(stores, first, ann)
    await stores.shards.mappings.apply([(INDEX, row)])


async def edge_of(stores: Stores, comment_id: int, author: User) -> Edge:
    [raw] = (await stores.shards.objects.get([comment_id])).values()
    record = records.decode(Kind.COMMENT, comment_id, raw)
    assert isinstance(record, Comment)
    key = EdgeKey(Mapping.PIN_HAS_COMMENTS, record.pin_id, comment_id)
    return comment_index.by_author(record, (await stores.shards.mappings.edges([key]))[key])


class Killed(BaseException):
    """The end of the process."""


async def test_indexing_that_is_killed_at_any_step_goes_on_while_others_write(
    stores: Stores, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await forget_index(stores)
    monkeypatch.setattr(comment_index, "COMMENTS", 2)
    commit, ann = comment_index.commit, world.users[0]
    pages, killed, firsts = 0, 0, list[int]()

    async def dying(*args: Any) -> None:
        nonlocal pages, killed
        await commit(*args)
        pages += 1
        if pages % 2:
            return
        killed += 1
        if killed == 1:  # in the middle, ann deletes a comment and writes another
            await writes.delete_comment(stores, ann.id, world.kept[ann.id].pop())
            world.kept[ann.id].append(await comment(stores, ann, world.pins[1]))
        raise Killed

    monkeypatch.setattr(comment_index, "commit", dying)
    while await not_indexed(stores.shards):
        left = await not_indexed(stores.shards)
        firsts.append(left[0])
        with suppress(Killed):
            await index_comments(stores, lambda _: None)
    stored = await stores.shards.objects.list(Kind.COMMENT, 0, 1000)
    assert 2 < killed <= len(stored)  # each call does new work
    assert firsts == sorted(firsts)
    world.kept[ann.id].sort()
    await world.check()


async def test_the_index_is_complete_only_when_no_row_of_it_waits(
    stores: Stores, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page is killed once between its commit and its rows on other shards, as by SIGKILL. No
    relay writes these rows."""
    await forget_index(stores)
    monkeypatch.setattr(comment_index, "COMMENTS", 2)
    acknowledge, killed = committing.acknowledge, set[object]()

    async def dying(stores: Stores, row: OutboxRow | None, change: Change) -> None:
        if change.edges not in killed:
            killed.add(change.edges)
            raise Killed
        await acknowledge(stores, row, change)

    monkeypatch.setattr(committing, "acknowledge", dying)
    while await not_indexed(stores.shards):
        with suppress(Killed):
            await index_comments(stores, lambda _: None)
    assert any(killed)
    await world.check()


async def test_a_deletion_that_began_among_all_comments_ends_in_the_index(
    stores: Stores, world: World
) -> None:
    ann = world.users[0]
    await index_comments(stores, lambda _: None)
    assert await found(stores, ann, "0") == world.kept[ann.id]
    last = world.kept[ann.id][-1]
    assert await found(stores, ann, f"i{world.kept[ann.id][0]}") == world.kept[ann.id][1:]
    assert await found(stores, ann, f"i{last}") == []


async def test_comments_of_before_the_index_end_with_their_account(
    stores: Stores, world: World
) -> None:
    await forget_index(stores)
    ann = world.users[0]
    await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
    await drain(stores)
    assert await found(stores, ann) == []
    on_bobs_pin = await world.people.list(Mapping.PIN_HAS_COMMENTS, world.pins[1].id)
    assert not {*on_bobs_pin} & {*world.kept[ann.id]}
    await index_comments(stores, lambda _: None)
    heads = await stores.shards.mappings.heads([ListKey(INDEX, it.id) for it in world.users])
    assert [head.size for head in heads.values()] == [0, len(on_bobs_pin)]
