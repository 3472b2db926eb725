"""The guarantees of a transaction on one shard, over SQLite and MySQL."""

import asyncio

import pytest

from datasources.errors import StoreConflict
from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping
from datasources.protocols import Answer, ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, fresh_id

pytestmark = pytest.mark.anyio


async def test_concurrent_read_modify_writes_lose_nothing(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(2)
    id = await shards.objects.transact(shard, lambda tx: tx.insert(Kind.USER, b"0"))

    async def increment(tx: ShardTx) -> None:
        data = await tx.get(id)
        assert data is not None
        await tx.update(id, b"%d" % (int(data) + 1))

    await asyncio.gather(*(shards.objects.transact(shard, increment) for _ in range(32)))
    assert await shards.objects.get([id]) == {id: b"32"}


async def test_an_exception_undoes_everything(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(3)
    board, pin = fresh_id(Kind.BOARD, shard), fresh_id(Kind.PIN, shard)
    made: list[int] = []

    async def work(tx: ShardTx) -> None:
        made.append(await tx.insert(Kind.PIN, b"{}"))
        await tx.put_edge(Mapping.BOARD_HAS_PINS, Edge(board, pin, 5, 1))
        made.append(await tx.post("change", b"payload"))
        await tx.save_answer(board, "key", Answer(b"f", b"a", None))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shards.objects.transact(shard, work)
    key = ListKey(Mapping.BOARD_HAS_PINS, board)
    assert await shards.objects.get(made[:1]) == {}
    assert await shards.mappings.heads([key]) == {key: ListHead(0, 0)}
    assert await shards.mappings.edges([EdgeKey(*key, pin)]) == {}
    assert await shards.outbox.load(shard, made[1]) is None
    answered = await shards.objects.transact(shard, lambda tx: tx.answered(board, "key"))
    assert answered is None


async def test_a_conflict_that_work_catches_leaves_the_rest_to_be_committed(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(3)
    board = fresh_id(Kind.BOARD, shard)

    async def work(tx: ShardTx) -> int:
        await tx.put_edge(Mapping.BOARD_HAS_PINS, Edge(board, 1, 5, 1))
        with pytest.raises(StoreConflict):
            await tx.put_edge(Mapping.BOARD_HAS_PINS, Edge(board, 2, 5, 1))
        await tx.put_edge(Mapping.BOARD_HAS_PINS, Edge(board, 2, 6, 1))
        return await tx.insert(Kind.PIN, b"{}")

    pin = await shards.objects.transact(shard, work)
    assert await shards.objects.get([pin]) == {pin: b"{}"}
    key = ListKey(Mapping.BOARD_HAS_PINS, board)
    assert await shards.mappings.heads([key]) == {key: ListHead(2, 2)}


async def test_an_answer_is_kept_once_under_its_key(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(7)
    viewer = fresh_id(Kind.USER, shard)
    answer = Answer(bytes(range(32)), b"\x00\xff answer", 17)
    for key in ("plain", "🔑" * 100):
        assert (
            await shards.objects.transact(shard, lambda tx, k=key: tx.answered(viewer, k)) is None
        )
        await shards.objects.transact(shard, lambda tx, k=key: tx.save_answer(viewer, k, answer))
        found = await shards.objects.transact(shard, lambda tx, k=key: tx.answered(viewer, k))
        assert found == answer
        with pytest.raises(StoreConflict):
            await shards.objects.transact(
                shard, lambda tx, k=key: tx.save_answer(viewer, k, answer)
            )


async def test_statements_given_at_once_run_one_after_the_other(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(8)

    async def work(tx: ShardTx) -> list[int]:
        return await asyncio.gather(*(tx.insert(Kind.PIN, b"%d" % n) for n in range(20)))

    ids = await shards.objects.transact(shard, work)
    assert await shards.objects.get(ids) == {id: b"%d" % n for n, id in enumerate(ids)}


async def test_a_transaction_kept_beyond_its_end_refuses(
    deployment: Deployment, shards: SqlShards
) -> None:
    kept: list[ShardTx] = []

    async def work(tx: ShardTx) -> None:
        kept.append(tx)

    await shards.objects.transact(deployment.shard(0), work)
    with pytest.raises(RuntimeError):
        await kept[0].insert(Kind.PIN, b"{}")


async def test_an_object_of_another_shard_is_refused(
    deployment: Deployment, shards: SqlShards
) -> None:
    other = fresh_id(Kind.PIN, deployment.shard(1))
    with pytest.raises(ValueError, match="is on shard"):
        await shards.objects.transact(deployment.shard(0), lambda tx: tx.get(other))
