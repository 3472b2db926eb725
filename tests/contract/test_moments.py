"""Lists of one shard are read as of one moment, with their versions; and what a transaction returns
about many rows and the outbox."""

import asyncio

import pytest

from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx, Window
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, fresh_id

pytestmark = pytest.mark.anyio
PINS, LIKES = Mapping.BOARD_HAS_PINS, Mapping.USER_LIKES_PINS


async def test_a_row_that_goes_from_list_to_list_is_always_on_one_of_them(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    keys = [ListKey(PINS, fresh_id(Kind.BOARD, shard)) for _ in range(2)]
    await shards.mappings.apply([(PINS, Edge(keys[0].from_id, 7, 5, 1))])
    moving = True

    async def move() -> None:
        nonlocal moving
        for version in range(2, 60):

            async def work(tx: ShardTx, version: int = version) -> None:
                for at, key in enumerate(keys):
                    active = (version + at) % 2 == 1
                    await tx.put_edge(PINS, Edge(key.from_id, 7, 5, version, active))

            await shards.objects.transact(shard, work)
        moving = False

    async def read() -> None:
        while moving:
            pages = await shards.mappings.pages([PageRequest(key, 3) for key in keys])
            assert sorted(map(len, pages)) == [0, 1]
            heads = await shards.mappings.heads(keys)
            assert sorted(head.size for head in heads.values()) == [0, 1]

    await asyncio.gather(move(), read(), read())


async def test_windows_tell_the_version_that_their_rows_are_of(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    key, empty = (ListKey(PINS, fresh_id(Kind.BOARD, shard)) for _ in range(2))
    likes = ListKey(LIKES, fresh_id(Kind.USER, shard))
    rows = [Edge(key.from_id, n, n, 1) for n in (3, 2, 1)]
    await shards.mappings.apply([(PINS, row) for row in rows])
    await shards.mappings.apply([(LIKES, Edge(likes.from_id, 1, 5, 1))])
    requests = [PageRequest(key, 3), PageRequest(key, 4), PageRequest(empty, 3)]
    version = (await shards.mappings.heads([key]))[key].version
    assert await shards.mappings.windows([*requests, PageRequest(likes, 3)]) == [
        Window(rows, complete=False, version=version),
        Window(rows, complete=True, version=version),
        Window([], complete=True),
        Window([Edge(likes.from_id, 1, 5, 1)], complete=True),
    ]
    await shards.mappings.apply([(PINS, Edge(key.from_id, 3, 9, 2))])
    [window] = await shards.mappings.windows(requests[:1])
    assert window.version == version + 1


async def test_a_transaction_reads_many_rows_as_it_left_them(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    one, other = (fresh_id(Kind.BOARD, shard) for _ in range(2))
    rows = [Edge(one, n, n, 1, n % 2 == 0) for n in range(1, 1200)]
    await shards.mappings.load([(PINS, row) for row in rows])
    keys = [EdgeKey(PINS, one, n) for n in range(1, 1300)]

    async def work(tx: ShardTx) -> None:
        assert await tx.edges([]) == {}
        assert await tx.edges([EdgeKey(PINS, other, 1)]) == {}
        changed = rows[4]._replace(sequence=5000, version=2)
        assert await tx.put_edge(PINS, changed)
        found = await tx.edges([*keys, *keys])
        assert list(found.values()) == [*rows[:4], changed, *rows[5:]]
        assert await tx.edges(keys[:6]) == {key: found[key] for key in keys[:6]}
        with pytest.raises(ValueError, match="not on"):
            await tx.edges([EdgeKey(PINS, fresh_id(Kind.BOARD, shard + 1), 1)])

    await shards.objects.transact(shard, work)


async def test_work_that_is_owed_advances_with_the_transaction_or_not_at_all(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    id = await shards.objects.transact(shard, lambda tx: tx.post("kind", b"payload"))

    async def step(tx: ShardTx) -> bytes | None:
        row = await tx.owed(id)
        assert row is not None
        assert (row.shard, row.id, row.kind, row.payload) == (shard, id, "kind", b"payload")
        await tx.advance(id, b"%d" % (int(row.cursor or 0) + 1))
        return row.cursor

    async def fail(tx: ShardTx) -> None:
        await step(tx)
        raise ZeroDivisionError

    assert await shards.objects.transact(shard, step) is None
    with pytest.raises(ZeroDivisionError):
        await shards.objects.transact(shard, fail)
    assert await shards.objects.transact(shard, step) == b"1"
    cursors = await asyncio.gather(*(shards.objects.transact(shard, step) for _ in range(5)))
    assert sorted(cursors) == [b"2", b"3", b"4", b"5", b"6"]  # each continues where another stopped
    await shards.outbox.finish(shard, id)
    assert await shards.objects.transact(shard, lambda tx: tx.owed(id)) is None
