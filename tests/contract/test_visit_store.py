"""The contracts of VisitStore and of visits in transactions, over SQLite and MySQL."""

import asyncio

import pytest

from datasources.errors import StoreConflict
from datasources.ids import Kind
from datasources.protocols import ShardTx, Visit
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio


def make(user: int, generation: int, name: str = "", *, saved: bool = False) -> Visit:
    chunk = bytes([0, 255, generation])
    return Visit(
        user, generation, name or f"visit 🗼 {generation}", chunk, saved, 1_700 + generation
    )


async def add(shards: SqlShards, shard: int, *visits: Visit) -> None:
    async def work(tx: ShardTx) -> None:
        for visit in visits:
            await tx.add_visit(visit)

    await shards.objects.transact(shard, work)


async def test_a_visit_is_found_by_its_name(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(0)
    user, other = fresh_id(Kind.USER, shard), fresh_id(Kind.USER, shard)
    visits = [make(user, 1, saved=True), make(user, 2, saved=True), make(other, 1, saved=True)]
    await add(shards, shard, *visits)
    for visit in visits:
        assert await shards.visits.recent(visit.user_id, 0, named=visit.visit) == [visit]
    for name in ("never", "x" * 5000):
        assert await shards.visits.recent(user, 0, named=name) == []
    assert await shards.visits.recent(fresh_id(Kind.USER, 7), 0, named="never") == []


async def test_a_generation_and_a_name_are_each_taken_once(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(1)
    user = fresh_id(Kind.USER, shard)
    await add(shards, shard, make(user, 1, "one"))
    for visit in (make(user, 1, "two"), make(user, 2, "one")):
        with pytest.raises(StoreConflict):
            await add(shards, shard, visit)
    with pytest.raises(ValueError, match="191 bytes"):
        await add(shards, shard, make(user, 2, "x" * 192))
    await add(shards, shard, make(user, 2, "One"))  # names differ by case, too
    assert [v.visit for v in await shards.visits.recent(user, 9)] == ["One", "one"]


async def test_recent_visits_are_the_newest_and_every_one_not_saved(
    deployment: Deployment,
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    shard = deployment.shard(2)
    user = fresh_id(Kind.USER, shard)
    visits = [make(user, n, saved=n not in (2, 8)) for n in range(1, 10)]
    await add(shards, shard, *visits)
    trips.clear()

    async def recent(limit: int, named: str | None = None) -> list[int]:
        found = await shards.visits.recent(user, limit, named=named)
        assert found == [visits[v.generation - 1] for v in found]
        return [v.generation for v in found]

    assert await recent(3) == [9, 8, 7, 2]
    assert await recent(3, visits[0].visit) == [9, 8, 7, 2, 1]
    assert trips.total() == 2
    assert await recent(3, visits[7].visit) == [9, 8, 7, 2]
    assert await recent(0) == [8, 2]
    assert await recent(100) == list(range(9, 0, -1))
    await shards.close()


async def test_a_saved_visit_says_so(deployment: Deployment, shards: SqlShards) -> None:
    shard = deployment.shard(3)
    user = fresh_id(Kind.USER, shard)
    await add(shards, shard, make(user, 1), make(user, 2))
    for _ in range(2):
        await shards.visits.mark_saved(user, 1)
        assert await shards.visits.recent(user, 9) == [make(user, 2), make(user, 1, saved=True)]
    await shards.visits.mark_saved(user, 77)


async def test_visits_at_once_take_turns_from_the_first_on(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    user = fresh_id(Kind.USER, shard)

    async def visit(tx: ShardTx, name: str) -> int:
        earlier = await tx.visits(user, 0)
        generation = earlier[-1].generation + 1 if earlier else 1
        await tx.add_visit(make(user, generation, name))
        return generation

    taken = await asyncio.gather(
        *(
            shards.objects.transact(shard, lambda tx, name=f"{n}": visit(tx, name))
            for n in range(16)
        )
    )
    assert sorted(taken) == list(range(1, 17))


async def test_a_transaction_sees_visits_after_a_generation_oldest_first(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(5)
    user = fresh_id(Kind.USER, shard)
    visits = [make(user, n) for n in range(1, 6)]
    await add(shards, shard, *reversed(visits))
    for after in (0, 2, 5, 9):
        found = await shards.objects.transact(shard, lambda tx, g=after: tx.visits(user, g))
        assert found == visits[after:]
