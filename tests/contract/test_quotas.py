"""The counts of what viewers write on a day, and the bound on kept visits, over SQLite and
MySQL."""

import asyncio

import pytest

from datasources.errors import Exhausted
from datasources.ids import Kind
from datasources.protocols import VISITS_KEPT, ShardTx, Use, Visit
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
DAY = 86_400_000


async def use(shards: SqlShards, shard: int, viewer: int, *uses: Use, day: int = DAY) -> None:
    await shards.objects.transact(shard, lambda tx: tx.use(viewer, day, uses))


async def used(
    shards: SqlShards, shard: int, viewer: int, *subjects: int, day: int = DAY
) -> object:
    return await shards.objects.transact(shard, lambda tx: tx.used(viewer, day, subjects))


async def test_a_use_above_the_most_undoes_its_whole_transaction(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    viewer, made = fresh_id(Kind.USER, shard), []

    async def work(tx: ShardTx) -> None:
        await tx.use(viewer, DAY, [Use(7, 1, 9), Use(1, 1, 2)])
        made.append(await tx.insert(Kind.PIN, b"{}"))

    for _ in range(2):
        await shards.objects.transact(shard, work)
    with pytest.raises(Exhausted):
        await shards.objects.transact(shard, work)
    assert await shards.objects.get(made[-1:]) == {}
    assert await used(shards, shard, viewer, 1, 7, 8) == {1: 2, 7: 2}
    assert await used(shards, shard, viewer, 1, day=2 * DAY) == {}
    await use(shards, shard, viewer, Use(1, 2, 2), day=2 * DAY)


async def test_a_use_may_be_given_back(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(5)
    viewer = fresh_id(Kind.USER, shard)
    await use(shards, shard, viewer, Use(1, 3, 3))
    await use(shards, shard, viewer, Use(1, -1, 3))
    await use(shards, shard, viewer, Use(1, 1, 3))
    with pytest.raises(Exhausted):
        await use(shards, shard, viewer, Use(1, 1, 3))


async def test_processes_that_share_a_shard_share_the_count(deployment: Deployment) -> None:
    shard = deployment.shard(6)
    viewer = fresh_id(Kind.USER, shard)
    one, two = deployment.open(), deployment.open()
    done = await asyncio.gather(
        *(use((one, two)[n % 2], shard, viewer, Use(1, 1, 5), Use(2, 1, 50)) for n in range(12)),
        return_exceptions=True,
    )
    assert [type(it) for it in done if it is not None] == [Exhausted] * 7
    assert await used(one, shard, viewer, 1, 2) == {1: 5, 2: 5}
    await one.close()
    await two.close()


async def test_of_two_open_transactions_at_the_bound_one_is_committed(mysql: Deployment) -> None:
    shard = mysql.shard(7)
    viewer = fresh_id(Kind.USER, shard)
    one, two = mysql.open(), mysql.open()
    await use(one, shard, viewer, Use(1, 1, 2))
    waiting, both = 0, asyncio.Event()

    async def work(tx: ShardTx) -> None:
        nonlocal waiting
        await tx.used(viewer, DAY, [1])
        await tx.use(viewer, DAY, [Use(1, 1, 2)])
        waiting += 1
        if waiting == 2:
            both.set()
        await both.wait()

    done = await asyncio.gather(
        *(shards.objects.transact(shard, work) for shards in (one, two)), return_exceptions=True
    )
    assert sorted(type(it).__name__ for it in done) == ["Exhausted", "NoneType"]
    await one.close()
    await two.close()


async def test_counting_takes_no_round_trip(deployment: Deployment) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    shard = deployment.shard(8)
    viewer = fresh_id(Kind.USER, shard)

    async def work(tx: ShardTx) -> None:
        await tx.insert(Kind.PIN, b"{}")

    async def counted(tx: ShardTx) -> None:
        await work(tx)
        await tx.use(viewer, DAY, [Use(1, 1, 5), Use(9, 1, 5)])

    await shards.objects.transact(shard, work)
    plain = dict(trips)
    trips.clear()
    await shards.objects.transact(shard, counted)
    assert dict(trips) == plain
    await shards.close()


async def test_counts_of_past_days_are_forgotten(deployment: Deployment, shards: SqlShards) -> None:
    while (await shards.expiry.quotas(2**62, 1000)).rows:
        pass
    shard = deployment.shard(9)
    viewer = fresh_id(Kind.USER, shard)
    for day in (DAY, 2 * DAY, 3 * DAY):
        await use(shards, shard, viewer, Use(1, 1, 5), Use(2, 1, 5), day=day)
    assert await shards.expiry.quotas(3 * DAY, 3) == (3, {})
    assert await shards.expiry.quotas(3 * DAY, 3) == (1, {})
    assert await shards.expiry.quotas(3 * DAY, 3) == (0, {})
    assert await used(shards, shard, viewer, 1, 2, day=3 * DAY) == {1: 1, 2: 1}


async def test_a_new_visit_replaces_the_oldest(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(10)
    viewer, other = fresh_id(Kind.USER, shard), fresh_id(Kind.USER, shard)

    async def visits(tx: ShardTx) -> None:
        await tx.add_visit(Visit(other, 1, "v1", b"", True, 1))
        for number in range(1, VISITS_KEPT + 1):
            await tx.add_visit(Visit(viewer, number, f"v{number}", b"", number % 2 == 0, 1))

    await shards.objects.transact(shard, visits)
    assert len(await shards.visits.recent(viewer, 1000)) == VISITS_KEPT
    last = Visit(viewer, VISITS_KEPT + 1, "last", b"", False, 1)
    await shards.objects.transact(shard, lambda tx: tx.add_visit(last))
    kept = await shards.visits.recent(viewer, 1000)
    assert [visit.generation for visit in kept] == list(range(VISITS_KEPT + 1, 1, -1))
    assert len(await shards.visits.recent(other, 1000)) == 1
