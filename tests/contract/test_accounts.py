"""Deleted accounts over SQLite and MySQL: the boards are absent at the acknowledgement, whatever
the user writes at the same time, and the jobs leave nothing but the id."""

import asyncio
from pathlib import Path

import pytest

from datasources import records
from datasources.clocks import now_ms
from datasources.errors import NotFound
from datasources.ids import Kind, kind_of
from datasources.mappings import EdgeKey, ListKey, Mapping
from datasources.protocols import Job, ShardTx, Stores
from datasources.records import Board, User
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions import access
from feed_engine.writes.comment_index import index_comments, not_indexed
from tests.contract.shards import Deployment
from tests.embedded_stores import drain, embedded_config, embedded_stores, valkey

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio


async def new_user(stores: Stores, shard: int, name: str) -> User:
    async def work(tx: ShardTx) -> int:
        return await tx.insert(Kind.USER, records.encode(User(username=name)))

    id = await stores.shards.objects.transact(shard, work)
    return (await access.read(stores, User, [id]))[id]


async def fill(stores: Stores, ann: User, bob: User) -> tuple[set[int], list[ListKey]]:
    """Write something of each kind for ann. Returns the ids of her objects, and lists of bob's that
    have one of her pins and one of bob's."""
    board = (await writes.create_board(stores, ann.id, writes.NewBoard(name="Cats"))).board
    pin = (await writes.create_pin(stores, ann.id, writes.NewPin(board_id=board.id))).pin
    bobs = (await writes.create_board(stores, bob.id, writes.NewBoard(name="Dogs"))).board
    bobs_pin = (await writes.create_pin(stores, bob.id, writes.NewPin(board_id=bobs.id))).pin
    new = writes.NewComment(pin_id=bobs_pin.id, text="ah")
    said = (await writes.create_comment(stores, ann.id, new)).comment
    for one, other, pin_id, board_id in (
        (ann.id, bob.id, bobs_pin.id, bobs.id),
        (bob.id, ann.id, pin.id, board.id),
    ):
        await writes.follow(stores, one, other)
        await writes.follow(stores, one, board_id)
        await writes.like_pin(stores, one, pin_id)
        await writes.hide_pin(stores, one, pin_id)
        await writes.mute_user(stores, one, other)
        await writes.see_less(stores, one, board_id)
    named = writes.NewSection(board_id=bobs.id, name="Puppies")
    section = (await writes.create_section(stores, bob.id, named)).section
    await writes.invite_collaborator(stores, bob.id, bobs.id, ann.id)
    await writes.accept_invitation(stores, ann.id, bobs.id)
    shared = (await writes.create_pin(stores, ann.id, writes.NewPin(board_id=bobs.id))).pin
    for pin_id in (shared.id, bobs_pin.id):
        await writes.move_pin_to_section(stores, bob.id, pin_id, section.id)
    cover = writes.BoardChange(cover_pin_id=shared.id)
    await writes.update_board(stores, bob.id, bobs.id, cover)
    lists = [
        ListKey(Mapping.BOARD_HAS_PINS, bobs.id),
        ListKey(Mapping.SECTION_HAS_PINS, section.id),
    ]
    return {ann.id, board.id, pin.id, said.id, shared.id}, lists


async def run_due(stores: Stores) -> None:
    """Run the jobs that are due now."""
    await settle()
    while rows := await stores.shards.outbox.pending(now_ms() + 60_000, 1000):
        for row in rows:
            await run_job(stores, Job(row.shard, row.id))


@pytest.mark.parametrize("other", [8, 9, 10])
async def test_both_jobs_leave_nothing_but_the_id(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path, other: int
) -> None:
    """Bob is on the same shard, on another server, or on another shard of the server."""
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        ann = await new_user(stores, deployment.shard(8), f"ann{other}")
        bob = await new_user(stores, deployment.shard(other), f"bob{other}")
        own, lists = await fill(stores, ann, bob)
        await run_due(stores)
        await index_comments(stores, lambda _: None)
        assert await not_indexed(stores.shards) == []
        await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
        assert await access.read(stores, User, [ann.id]) == {}
        boards = [id for id in own if kind_of(id) is Kind.BOARD]
        assert await access.read(stores, Board, boards) == {}
        await run_due(stores)
        follows = [ListKey(mapping, bob.id) for mapping in Mapping if "follow" in mapping.value]
        heads = await shards.mappings.heads(follows)
        assert {head.size for head in heads.values()} == {0}
        await drain(stores)  # also the work of 30 days later
        assert set(await shards.objects.get(list(own))) == {ann.id}
        rows = await shards.mappings.edges(
            [
                EdgeKey(mapping, *ends)
                for mapping in Mapping
                for id in own
                for ends in ((bob.id, id), (id, bob.id))
            ]
            + [EdgeKey(*key, id) for key in lists for id in own]
        )
        assert rows == {}
        assert [head.size for head in (await shards.mappings.heads(lists)).values()] == [1, 1]
        bobs = (await access.read(stores, Board, [lists[0].from_id]))[lists[0].from_id]
        assert bobs.cover_pin_id is None
        assert await shards.mod.find("username", [ann.username]) == {}


async def test_whatever_is_written_during_the_deletion_is_gone_in_the_end(
    deployment: Deployment, shards: SqlShards, valkey: ValkeyServer, tmp_path: Path
) -> None:
    async with embedded_stores(embedded_config(tmp_path, valkey)) as opened:
        stores = opened._replace(shards=shards)
        ann = await new_user(stores, deployment.shard(8), "annatonce")
        bob = await new_user(stores, deployment.shard(9), "bobatonce")
        await fill(stores, ann, bob)
        done = await asyncio.gather(
            *(writes.create_board(stores, ann.id, writes.NewBoard(name=str(n))) for n in range(4)),
            writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username)),
            writes.follow(stores, bob.id, ann.id),
            return_exceptions=True,
        )
        assert all(not isinstance(it, BaseException) or isinstance(it, NotFound) for it in done)
        boards = ListKey(Mapping.USER_HAS_BOARDS, ann.id)
        assert (await shards.mappings.heads([boards]))[boards].size == 0  # before any job
        await drain(stores)
        found = await shards.objects.list(Kind.BOARD, 0, 100_000)
        assert not [id for id, data in found if str(ann.id).encode() in data]
