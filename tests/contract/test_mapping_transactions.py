"""Mapping rows and their lists within transactions, over SQLite and MySQL."""

import asyncio
import random

import pytest

from datasources.errors import StoreConflict
from datasources.ids import Kind
from datasources.mappings import (
    SEQUENCE_STEP,
    Edge,
    EdgeKey,
    ListHead,
    ListKey,
    Mapping,
    PageRequest,
)
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
PINS, LIKES = Mapping.BOARD_HAS_PINS, Mapping.USER_LIKES_PINS


async def read_list(shards: SqlShards, key: ListKey) -> list[Edge]:
    [page] = await shards.mappings.pages([PageRequest(key, 10_000)])
    return page


async def test_32_transactions_at_once_on_one_list_keep_its_head(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(5)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))

    async def append(tx: ShardTx, pin: int) -> None:
        top = await tx.top(key)
        head = await tx.head(key)
        sequence = top.sequence + SEQUENCE_STEP if top else SEQUENCE_STEP
        assert await tx.put_edge(PINS, Edge(key.from_id, pin, sequence, 1))
        assert await tx.head(key) == ListHead(head.size + 1, head.version + 1)
        if pin % 4 == 0:
            assert await tx.put_edge(PINS, Edge(key.from_id, pin, sequence, 2, active=False))

    await asyncio.gather(
        *(
            shards.objects.transact(shard, lambda tx, pin=pin: append(tx, pin))
            for pin in range(1, 33)
        )
    )
    rows = await read_list(shards, key)
    assert {row.to_id for row in rows} == {pin for pin in range(1, 33) if pin % 4}
    assert await shards.mappings.heads([key]) == {key: ListHead(24, 40)}


async def test_transactions_at_once_on_one_row_end_with_its_newest_version(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(5)
    for mapping in (PINS, LIKES):
        key = ListKey(mapping, fresh_id(Kind.BOARD, shard))
        edges = [Edge(key.from_id, 1, 5, version, version % 2 == 0) for version in range(1, 17)]
        written = await asyncio.gather(
            *(
                shards.objects.transact(shard, lambda tx, m=mapping, e=edge: tx.put_edge(m, e))
                for edge in random.sample(edges, len(edges))
            )
        )
        assert await shards.mappings.edges([EdgeKey(*key, 1)]) == {EdgeKey(*key, 1): edges[-1]}
        assert await shards.mappings.heads([key]) == {key: ListHead(1, sum(written))}


async def test_applies_at_once_to_the_same_lists_keep_their_heads(
    deployment: Deployment, shards: SqlShards
) -> None:
    users = [fresh_id(Kind.USER, deployment.shard(n)) for n in (0, 0, 1, 2)]
    edges = [(LIKES, Edge(user, pin, pin, 1)) for user in users for pin in range(1, 21)]
    shuffled = [random.sample(edges, len(edges)) for _ in range(8)]
    await asyncio.gather(*(shards.mappings.apply(some) for some in shuffled))
    keys = [ListKey(LIKES, user) for user in users]
    assert await shards.mappings.heads(keys) == dict.fromkeys(keys, ListHead(20, 20))


@pytest.mark.parametrize("mapping", [PINS, LIKES])
async def test_neighbors_are_found_among_active_and_inactive_rows(
    deployment: Deployment, shards: SqlShards, mapping: Mapping
) -> None:
    shard = deployment.shard(7)
    key = ListKey(mapping, fresh_id(Kind.USER, shard))
    edges = [Edge(key.from_id, n, n * SEQUENCE_STEP, 1, n % 2 == 0) for n in range(1, 6)]
    await shards.mappings.apply([(mapping, edge) for edge in edges])

    async def look(tx: ShardTx) -> None:
        assert await tx.top(key) == edges[4]
        assert await tx.below(key, edges[2].sequence) == edges[1]
        assert await tx.above(key, edges[2].sequence) == edges[3]
        assert await tx.below(key, edges[0].sequence) is None
        assert await tx.above(key, edges[4].sequence) is None
        assert await tx.above(key, edges[0].sequence - 1) == edges[0]
        assert await tx.edge(EdgeKey(*key, 3)) == edges[2]
        newer = edges[4]._replace(sequence=edges[1].sequence + 1, version=2)
        assert await tx.put_edge(mapping, newer)
        assert not await tx.put_edge(mapping, newer)
        assert not await tx.put_edge(mapping, edges[4])
        assert await tx.edge(EdgeKey(*key, 5)) == newer
        assert await tx.top(key) == edges[3]
        assert await tx.above(key, edges[1].sequence) == newer
        assert await tx.head(key) == ListHead(2, 6)

    await shards.objects.transact(shard, look)


async def test_a_new_pin_costs_a_fixed_number_of_round_trips(deployment: Deployment) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    shard = deployment.shard(10)
    board = fresh_id(Kind.BOARD, shard)

    async def create(tx: ShardTx) -> None:
        pin = await tx.insert(Kind.PIN, b"{}")
        top = await tx.top(ListKey(PINS, board))
        sequence = top.sequence + SEQUENCE_STEP if top else SEQUENCE_STEP
        await tx.put_edge(PINS, Edge(board, pin, sequence, 1))
        await tx.post("change", b"payload")

    await shards.objects.transact(shard, create)
    trips.clear()
    await shards.objects.transact(shard, create)
    # begin with the fence, insert, head, top, the edge, its write, post, commit with the head
    assert list(trips.by_server().values()) == [8]
    await shards.close()


async def test_rows_are_rewritten_in_few_trips_and_read_as_they_were_written(
    deployment: Deployment,
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    shard = deployment.shard(10)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    rows = [Edge(key.from_id, pin, pin * SEQUENCE_STEP, 1) for pin in range(1, 451)]
    await shards.mappings.load([(PINS, row) for row in rows])
    trips.clear()

    async def lift(tx: ShardTx) -> None:
        await tx.edges([EdgeKey(*key, row.to_id) for row in rows])
        for row in rows:
            await tx.put_edge(PINS, row._replace(sequence=row.sequence + 1, version=2))
        top = await tx.top(key)
        assert top == rows[-1]._replace(sequence=rows[-1].sequence + 1, version=2)

    await shards.objects.transact(shard, lift)
    # begin with the fence, the rows with their list, twice 201 writes, the rest with the top row,
    # commit with the head
    assert sum(trips.by_server().values()) == 6
    assert [row.sequence % SEQUENCE_STEP for row in await read_list(shards, key)] == [1] * 450
    await shards.close()


@pytest.mark.parametrize("reads_on", [False, True])
async def test_a_row_that_takes_anothers_sequence_is_a_conflict_and_nothing_of_it_is_committed(
    deployment: Deployment, shards: SqlShards, reads_on: bool
) -> None:
    shard = deployment.shard(5)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    rows = [Edge(key.from_id, pin, pin * SEQUENCE_STEP, 1) for pin in (1, 2, 3)]
    await shards.mappings.load([(PINS, row) for row in rows])

    async def collide(tx: ShardTx) -> None:
        await tx.put_edge(PINS, rows[2]._replace(sequence=7, version=2))
        await tx.put_edge(PINS, rows[0]._replace(sequence=rows[1].sequence, version=2))
        if reads_on:
            with pytest.raises(StoreConflict):
                await tx.top(key)

    with pytest.raises(StoreConflict):
        await shards.objects.transact(shard, collide)
    assert await read_list(shards, key) == rows[::-1]
