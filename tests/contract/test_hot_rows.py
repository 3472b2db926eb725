"""Many writers of one row take no connections from the writers of other shards on its server."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from datasources.ids import Kind
from datasources.mappings import Edge, EdgeKey, ListHead, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, fresh_id

pytestmark = pytest.mark.anyio
LIKED = Mapping.PIN_LIKED_BY_USERS
WRITERS = 40


class Holder:
    """A transaction of another process that locks a row until it is told to end."""

    def __init__(self, shards: SqlShards, shard: int, lock: Callable[[ShardTx], Awaitable[object]]):
        self._locked, self._go = asyncio.Event(), asyncio.Event()

        async def work(tx: ShardTx) -> None:
            await lock(tx)
            self._locked.set()
            await self._go.wait()

        self._task = asyncio.ensure_future(shards.objects.transact(shard, work))

    async def locked(self) -> None:
        await self._locked.wait()

    async def let_go(self) -> None:
        self._go.set()
        await self._task


@pytest.mark.parametrize("how", ["apply", "transact", "object"])
async def test_a_lone_writer_of_another_shard_passes_those_that_wait_for_one_row(
    deployment: Deployment, how: str
) -> None:
    few = {"pool_size": 4} if deployment.backend == "mysql" else {}
    shards, other = deployment.open(**few), deployment.open()
    hot, lone = deployment.shard(0), deployment.shard(2)
    pin, key = fresh_id(Kind.PIN, hot), None
    if how == "object":
        pin = await shards.objects.transact(hot, lambda tx: tx.insert(Kind.PIN, b"[]"))
    key = ListKey(LIKED, pin)

    async def lock(tx: ShardTx) -> object:
        return await (tx.get(pin) if how == "object" else tx.head(key))

    async def write(number: int) -> object:
        edge = Edge(pin, number, number, 1)
        if how == "apply":
            return await shards.mappings.apply([(LIKED, edge)])
        if how == "transact":
            return await shards.objects.transact(hot, lambda tx: tx.put_edge(LIKED, edge))

        async def add(tx: ShardTx) -> None:
            found = await tx.get(pin)
            await tx.update(pin, b"%b,%d]" % ((found or b"").rstrip(b"]"), number))

        return await shards.objects.transact(hot, add)

    holder = Holder(other, hot, lock)
    await holder.locked()
    writers = [asyncio.ensure_future(write(number)) for number in range(1, WRITERS + 1)]
    for _ in range(20):  # round trips, during which writers begin to wait for the row
        await shards.mappings.heads([key])
    user = fresh_id(Kind.USER, lone)
    alone = Edge(user, 1, 1, 1)
    await shards.mappings.apply([(Mapping.USER_LIKES_PINS, alone)])
    assert not any(writer.done() for writer in writers)
    await holder.let_go()
    await asyncio.gather(*writers)
    edge_key = EdgeKey(Mapping.USER_LIKES_PINS, user, 1)
    assert await shards.mappings.edges([edge_key]) == {edge_key: alone}
    if how == "object":
        found = (await shards.objects.get([pin]))[pin]
        assert found.count(b",") == WRITERS
    else:
        assert (await shards.mappings.heads([key]))[key] == ListHead(WRITERS, WRITERS)
    for store in (shards, other):
        await store.close()
