"""The removal of rows and objects from a shard, and work that is posted for later, over SQLite and
MySQL."""

import pytest

from datasources.ids import Kind, compose
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping
from datasources.protocols import EventKind, PinEvent, ShardTx, Visit
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, fresh_id

pytestmark = pytest.mark.anyio
LIKES = Mapping.USER_LIKES_PINS
OPENED = PinEvent(0, 0, 7, EventKind.OPENED, 5)


async def test_rows_are_read_in_order_of_their_ids_active_or_not(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(0)
    user = fresh_id(Kind.USER, shard)
    edges = [Edge(user, to_id, 7, 1, to_id % 2 == 0) for to_id in (5, 2, 9, 4)]
    await shards.mappings.apply([(LIKES, edge) for edge in edges])
    key = ListKey(LIKES, user)

    async def read(tx: ShardTx) -> list[list[Edge]]:
        return [await tx.rows_of(key, 0, 3), await tx.rows_of(key, 5, 3)]

    first, rest = await shards.objects.transact(shard, read)
    assert [edge.to_id for edge in first] == [2, 4, 5]
    assert rest == [edges[2]]


async def test_erased_rows_are_gone_and_the_head_counts_the_active_rows_that_are_left(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(1)
    board = fresh_id(Kind.BOARD, shard)
    key = ListKey(Mapping.BOARD_HAS_PINS, board)
    edges = [Edge(board, to_id, to_id, 1, to_id != 2) for to_id in (1, 2, 3)]
    await shards.mappings.apply([(key.mapping, edge) for edge in edges])
    before = (await shards.mappings.heads([key]))[key]
    gone = [EdgeKey(*key, to_id) for to_id in (1, 2, 4)]
    await shards.objects.transact(shard, lambda tx: tx.erase_edges(gone))
    head = (await shards.mappings.heads([key]))[key]
    assert (before.size, head.size) == (2, 1)
    assert head.version > before.version  # so that caches notice
    assert await shards.mappings.edges([*gone, EdgeKey(*key, 3)]) == {EdgeKey(*key, 3): edges[2]}


async def test_objects_their_lists_and_visits_are_erased_one_by_one(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(2)
    key = ListKey(Mapping.BOARD_HAS_PINS, 0)

    async def fill(tx: ShardTx) -> tuple[int, int, int]:
        user = await tx.insert(Kind.USER, b"{}")
        board, other = [await tx.insert(Kind.BOARD, b"{}") for _ in range(2)]
        for id in (board, other):
            await tx.put_edge(key.mapping, Edge(id, 1, 5, 1))
            await tx.respaced(key._replace(from_id=id), [(5, 6)])
        await tx.visits(user, 0)
        await tx.add_visit(Visit(user, 1, "visit", b"chunk", False, 1))
        return user, board, other

    user, board, other = await shards.objects.transact(shard, fill)
    gone, kept = (key._replace(from_id=id) for id in (board, other))
    event = OPENED._replace(user_id=user)
    await shards.objects.transact(shard, lambda tx: tx.delete_events(user))  # the next era begins
    await shards.objects.transact(shard, lambda tx: tx.add_events(user, 1, [event]))

    async def erase(tx: ShardTx) -> None:
        await tx.erase([user, board])
        await tx.erase_lists([board])
        await tx.erase_visits(user)
        await tx.erase_events(user)

    assert len(await shards.events.of_user(user, 10)) == 1
    await shards.objects.transact(shard, erase)
    assert set(await shards.objects.get([user, board, other])) == {other}
    heads = await shards.mappings.heads([gone, kept])
    assert heads[gone] == ListHead(0, 0)
    assert heads[kept].size == 1
    assert await shards.mappings.respacings(gone, 0) == []
    assert len(await shards.mappings.respacings(kept, 0)) == 1
    assert await shards.visits.recent(user, 10) == []
    assert await shards.events.of_user(user, 10) == []
    assert await shards.objects.transact(shard, lambda tx: tx.events_era(user)) == 0


async def test_the_number_of_an_erased_object_is_never_used_again(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    first = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.USER, b"{}"))
    await shards.objects.transact(shard, lambda tx: tx.erase([first]))
    later = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.USER, b"{}"))
    assert later > first


async def test_rows_into_a_range_of_ids_are_found_page_by_page(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard, muted = deployment.shard(4), Mapping.USER_MUTES_USERS
    users = sorted(fresh_id(Kind.USER, shard) for _ in range(3))
    low = compose(deployment.shard(5), Kind.USER, 1)
    targets = range(low, low + 10)
    edges = [Edge(user, low + n, 1, 1, n % 2 == 0) for user in users for n in (-1, 0, 9, 10)]
    await shards.mappings.apply([(muted, edge) for edge in edges])
    found, after = list[Edge](), None
    while page := await shards.mappings.rows_into(muted, shard, targets, after, 4):
        found += page
        after = EdgeKey(muted, page[-1].from_id, page[-1].to_id)
    assert found == [edge for edge in edges if edge.to_id in targets]


async def test_work_that_is_posted_for_later_is_not_due_and_not_in_the_backlog(
    deployment: Deployment,
) -> None:
    now = 1_000_000
    shards, shard = deployment.open(clock=lambda: now), deployment.shard(6)
    try:
        before = await shards.outbox.backlog()
        id = await shards.objects.transact(shard, lambda tx: tx.post("later", b"", delay=500))

        def ours(rows: list[tuple[int, int]]) -> bool:
            return (shard, id) in rows

        due = await shards.outbox.pending(now + 500, 1000)
        assert not ours([(row.shard, row.id) for row in due])
        assert await shards.outbox.backlog() == before
        now += 500
        due = await shards.outbox.pending(now + 1, 1000)
        assert ours([(row.shard, row.id) for row in due])
        assert (await shards.outbox.backlog()).rows == before.rows + 1
        await shards.outbox.finish(shard, id)
    finally:
        await shards.close()
