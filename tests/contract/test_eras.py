"""Eras of ordered lists: what re-spacings moved is remembered, and pages tell their era."""

from typing import Any

import pytest

from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping, PageRequest, Respacing
from datasources.protocols import RESPACINGS_KEPT, RESPACINGS_KEPT_MS, ShardTx
from datasources.sql.schema import NEWEST
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, fresh_id

pytestmark = pytest.mark.anyio
PINS, LIKES = Mapping.BOARD_HAS_PINS, Mapping.USER_LIKES_PINS
HUGE = 10**38 - 100


async def test_a_respacing_begins_an_era_that_pages_tell(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    key, other = (ListKey(PINS, fresh_id(Kind.BOARD, shard)) for _ in range(2))
    likes = ListKey(LIKES, fresh_id(Kind.USER, shard))
    rows = [(PINS, Edge(key.from_id, n, HUGE + n, 1)) for n in (1, 2, 3)]
    await shards.mappings.apply([*rows, (PINS, Edge(other.from_id, 1, 5, 1))])
    await shards.mappings.apply([(LIKES, Edge(likes.from_id, 1, 5, 1))])
    requests = [PageRequest(k, 9) for k in (key, likes, other)]

    async def respace(tx: ShardTx) -> int:
        row = await tx.edge(EdgeKey(*key, 3))
        assert row is not None
        assert await tx.put_edge(PINS, row._replace(sequence=HUGE + 9, version=row.version + 1))
        first = await tx.era(key)
        assert await tx.respaced(key, [(HUGE + 3, HUGE + 9)]) == first + 1 == await tx.era(key)
        assert await tx.era(likes) == 0
        return first + 1

    for era in (1, 2):
        assert await shards.objects.transact(shard, respace) == era
        pages = await shards.mappings.pages(requests)
        assert [{row.era for row in page} for page in pages] == [{era}, {0}, {0}]
        assert [len(page) for page in pages] == [3, 1, 1]
    moves = ((HUGE + 3, HUGE + 9),)
    assert await shards.mappings.respacings(key, 0) == [Respacing(1, moves), Respacing(2, moves)]
    assert await shards.mappings.respacings(key, 1) == [Respacing(2, moves)]
    assert await shards.mappings.respacings(key, 2) == []
    assert await shards.mappings.respacings(other, 0) == []
    assert await shards.mappings.heads([key]) == {key: ListHead(3, 5)}


async def test_an_era_that_is_rolled_back_never_was(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    await shards.mappings.apply([(PINS, Edge(key.from_id, 1, 5, 1))])

    async def fail(tx: ShardTx) -> None:
        await tx.respaced(key, [(5, 6)])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shards.objects.transact(shard, fail)
    assert await shards.mappings.respacings(key, 0) == []
    [[row]] = await shards.mappings.pages([PageRequest(key, 1)])
    assert row.era == 0


async def test_what_is_old_is_forgotten_when_more_comes_but_never_the_last(
    deployment: Deployment,
) -> None:
    now = 1_700_000_000_000
    shards = deployment.open(clock=lambda: now)
    shard = deployment.shard(3)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    for days in (0, 1, 9):
        now = 1_700_000_000_000 + days * RESPACINGS_KEPT_MS // 7
        await shards.objects.transact(shard, lambda tx: tx.respaced(key, [(1, 2)]))
    assert [entry.era for entry in await shards.mappings.respacings(key, 0)] == [3]
    await shards.close()


async def test_of_many_respacings_only_the_last_are_kept(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    key, other = (ListKey(PINS, fresh_id(Kind.BOARD, shard)) for _ in range(2))

    async def respace(tx: ShardTx) -> None:
        for _ in range(100):
            await tx.respaced(key, [(1, 2)])

    await shards.objects.transact(shard, lambda tx: tx.respaced(other, [(1, 2)]))
    for _ in range(RESPACINGS_KEPT // 100 + 1):
        await shards.objects.transact(shard, respace)
    eras = [entry.era for entry in await shards.mappings.respacings(key, 0)]
    assert eras == list(range(101, RESPACINGS_KEPT + 101))
    assert len(await shards.mappings.respacings(other, 0)) == 1


async def test_rows_on_both_sides_come_nearest_first_and_inactive_ones_too(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    rows = [Edge(key.from_id, n, 10 * n, 1, n % 3 != 0) for n in range(1, 9)]
    await shards.mappings.apply([(PINS, row) for row in rows])

    async def look(tx: ShardTx) -> None:
        assert await tx.rows_below(key, 50, 3) == [rows[3], rows[2], rows[1]]
        assert await tx.rows_above(key, 50, 9) == [rows[5], rows[6], rows[7]]
        assert await tx.rows_above(key, 49, 1) == [rows[4]]
        assert await tx.rows_below(key, 10, 3) == []

    await shards.objects.transact(shard, look)


async def test_a_shard_that_was_left_half_made_gets_what_it_lacks(
    deployment: Deployment,
) -> None:
    shards = deployment.open()
    shard = deployment.shard(9)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    await shards.mappings.apply([(PINS, Edge(key.from_id, 1, 5, 1))])

    async def age(tx: ShardTx) -> None:
        session = tx._session  # type: ignore[attr-defined]
        for table in ("respacings", NEWEST[-1]):
            await session.run("test", f"DROP TABLE {{db}}.{table}")
        if deployment.backend == "sqlite":
            await session.run("test", "PRAGMA user_version = 0")

    await shards.objects.transact(shard, age)
    await shards.create()
    assert await shards.objects.transact(shard, lambda tx: tx.respaced(key, [(5, 6)])) == 1
    [[row]] = await shards.mappings.pages([PageRequest(key, 1)])
    assert row == Edge(key.from_id, 1, 5, 1, era=1)
    await shards.close()


@pytest.mark.parametrize("table", NEWEST)
async def test_a_shard_of_an_earlier_version_gets_the_table_that_it_lacks(
    deployment: Deployment, table: str
) -> None:
    shards = deployment.open()
    shard = deployment.shard(8)

    async def drop(tx: ShardTx) -> None:
        await tx._session.run("test", f"DROP TABLE {{db}}.{table}")  # type: ignore[attr-defined]

    async def count(tx: ShardTx) -> Any:
        session = tx._session  # type: ignore[attr-defined]
        return (await session.run("test", f"SELECT COUNT(*) FROM {{db}}.{table}")).rows

    await shards.objects.transact(shard, drop)
    await shards.create()
    [[rows]] = await shards.objects.transact(shard, count)
    assert rows == 0
    await shards.close()
