"""Holds of lists over SQLite and MySQL: a reader of a list that is held sees that it is held."""

from collections.abc import Sequence

import pytest

from datasources.ids import Kind
from datasources.mappings import Edge, ListHead, ListKey, Mapping, PageRequest
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, fresh_id

pytestmark = pytest.mark.anyio
PINS = Mapping.BOARD_HAS_PINS


async def held(shards: SqlShards, keys: Sequence[ListKey]) -> list[bool]:
    """Whether each list is held. Checks that pages and heads agree."""
    requests = [PageRequest(key, 3) for key in keys]
    told = [window.held for window in await shards.mappings.windows(requests)]
    heads = await shards.mappings.heads(keys)
    assert [heads[key].held for key in keys] == told
    return told


async def test_a_list_is_held_until_all_who_hold_it_release_it(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    full, empty, free = keys = [ListKey(PINS, fresh_id(Kind.BOARD, shard)) for _ in range(3)]
    await shards.mappings.apply([(PINS, Edge(key.from_id, 7, 5, 1)) for key in (full, free)])
    for step, expected in (
        (lambda tx: tx.hold([full, empty]), [True, True, False]),
        (lambda tx: tx.hold([full]), [True, True, False]),
        (lambda tx: tx.release([empty, full]), [True, False, False]),
        (lambda tx: tx.release([full]), [False, False, False]),
    ):
        await shards.objects.transact(shard, step)
        assert await held(shards, keys) == expected
    assert await shards.mappings.heads(keys) == {
        full: ListHead(1, 1),
        empty: ListHead(0, 0),
        free: ListHead(1, 1),
    }


async def test_a_hold_and_the_lists_era_and_rows_leave_each_other_alone(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))
    await shards.objects.transact(shard, lambda tx: tx.hold([key]))

    async def work(tx: ShardTx) -> None:
        await tx.put_edge(PINS, Edge(key.from_id, 7, 5, 1))
        await tx.respaced(key, [(5, 6)])

    await shards.objects.transact(shard, work)
    assert await held(shards, [key]) == [True]
    await shards.objects.transact(shard, lambda tx: tx.release([key]))
    assert await held(shards, [key]) == [False]
    [window] = await shards.mappings.windows([PageRequest(key, 3)])
    assert (window.edges, window.version) == ([Edge(key.from_id, 7, 5, 1, era=1)], 1)


async def test_a_hold_that_is_rolled_back_never_was(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    key = ListKey(PINS, fresh_id(Kind.BOARD, shard))

    async def fail(tx: ShardTx) -> None:
        await tx.hold([key])
        await tx.finish_row(await tx.post("kind", b""))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shards.objects.transact(shard, fail)
    assert await held(shards, [key]) == [False]


async def test_a_row_is_finished_with_its_transaction(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    id = await shards.objects.transact(shard, lambda tx: tx.post("kind", b"payload"))

    async def finish(tx: ShardTx) -> bool:
        owed = await tx.owed(id) is not None
        await tx.finish_row(id)
        return owed

    async def fail(tx: ShardTx) -> None:
        await finish(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shards.objects.transact(shard, fail)
    assert await shards.outbox.load(shard, id) is not None
    assert await shards.objects.transact(shard, finish)
    assert await shards.outbox.load(shard, id) is None
    assert not await shards.objects.transact(shard, finish)
