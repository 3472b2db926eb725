"""The MySQL shard store behind a network that stalls, breaks, and passes on crumbs."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from datasources.ids import Kind
from datasources.protocols import ShardTx
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment
from tests.contract.wide_columns import Relay

pytestmark = pytest.mark.anyio


@pytest.fixture
async def relay(mysql: Deployment) -> AsyncIterator[Relay]:
    """A relay in front of the first server."""
    made = Relay(mysql.topology.servers[mysql.topology.shards[0].master])
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def open_relayed(
    mysql: Deployment, relay: Relay
) -> AsyncIterator[Callable[[float], SqlShards]]:
    opened: list[SqlShards] = []

    def open_store(deadline: float) -> SqlShards:
        first = mysql.topology.shards[0].master
        servers = {**mysql.topology.servers, first: f"mysql://127.0.0.1:{relay.port}"}
        topology = msgspec.structs.replace(mysql.topology, servers=servers)
        opened.append(mysql.open(topology, deadline=deadline))
        return opened[-1]

    yield open_store
    for store in opened:
        await store.close()


async def fill(shards: SqlShards, shard: int) -> dict[int, bytes]:
    data = [b'{"n":%d,"fill":"%s"}' % (n, b"x" * n * 10) for n in range(60)]
    ids = await shards.objects.transact(shard, lambda tx: tx.insert_many(Kind.PIN, data))
    return dict(zip(ids, data, strict=True))


async def get_when_well(shards: SqlShards, ids: list[int]) -> dict[int, bytes]:
    """Retry until the server is called again: a silent server is not called for a moment."""
    while True:
        try:
            return await shards.objects.get(ids)
        except StoreError:
            await asyncio.sleep(0)


async def test_a_stalled_server_times_out_and_answers_rightly_afterwards(
    mysql: Deployment, relay: Relay, open_relayed: Callable[[float], SqlShards]
) -> None:
    shards = open_relayed(1.0)
    shard = mysql.shard(0)
    stored = await fill(shards, shard)
    ids = list(stored)
    for _ in range(2):
        relay.stall()
        with pytest.raises(StoreTimeout):
            await shards.objects.get(ids[:5])
        with pytest.raises(StoreError):
            await shards.objects.get(ids[5:])
        elsewhere = mysql.shard(1)
        await shards.objects.transact(elsewhere, lambda tx: tx.insert(Kind.PIN, b"{}"))
        relay.flow()
        assert await get_when_well(shards, ids[5:]) == {id: stored[id] for id in ids[5:]}


async def test_a_transaction_stalled_within_is_rolled_back_and_leaves_no_lock(
    mysql: Deployment, relay: Relay, open_relayed: Callable[[float], SqlShards]
) -> None:
    shards, direct = open_relayed(1.0), mysql.open()
    shard = mysql.shard(0)
    [id, *_] = await fill(shards, shard)

    async def work(tx: ShardTx) -> None:
        await tx.update(id, b"stalled")
        relay.stall()
        await tx.get(id)

    with pytest.raises(StoreTimeout):
        await shards.objects.transact(shard, work)
    relay.flow()
    await direct.objects.transact(shard, lambda tx: tx.update(id, b"direct"))
    assert await direct.objects.get([id]) == {id: b"direct"}
    await direct.close()


async def test_readers_and_writers_survive_a_servers_restart(
    mysql: Deployment, relay: Relay, open_relayed: Callable[[float], SqlShards]
) -> None:
    shards = open_relayed(60.0)
    shard = mysql.shard(0)
    stored = await fill(shards, shard)
    ids = list(stored)

    async def use(n: int) -> None:
        assert await shards.objects.get(ids[n : n + 9]) == {id: stored[id] for id in ids[n : n + 9]}
        assert await shards.objects.transact(shard, lambda tx: tx.get(ids[n])) == stored[ids[n]]

    for _ in range(3):
        await asyncio.gather(*(use(n) for n in range(20)))
        await relay.stop()
        with pytest.raises(StoreUnavailable):
            await shards.objects.get(ids)
        await relay.start()


async def test_cancelled_reads_over_a_slow_network_never_get_anothers_answer(
    mysql: Deployment, relay: Relay, open_relayed: Callable[[float], SqlShards]
) -> None:
    shards = open_relayed(60.0)
    stored = await fill(shards, mysql.shard(0))
    ids = list(stored)
    relay.piece = 1000

    async def ask(rng: random.Random) -> None:
        some = rng.sample(ids, rng.randrange(1, 40))
        patience = rng.choice((None, rng.uniform(0, 0.02)))
        try:
            async with asyncio.timeout(patience):
                answer = await shards.objects.get(some)
        except TimeoutError:
            return
        assert answer == {id: stored[id] for id in some}

    rngs = [random.Random(n) for n in range(8)]
    for _ in range(60):
        await asyncio.gather(*(ask(rng) for rng in rngs))
    assert await shards.objects.get(ids) == stored
