"""Expiry's contract over SQLite and MySQL."""

import pytest

from datasources.ids import Kind
from datasources.protocols import Answer, ShardTx, Visit
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
ANSWER = Answer(b"fingerprint", b"answer", None)


async def empty(shards: SqlShards) -> None:
    """Delete what other tests left, except newest and unsaved visits."""
    while any(
        [
            (await shards.expiry.answers(2**62, 1000)).rows,
            (await shards.expiry.visits(2**62, 1000)).rows,
        ]
    ):
        pass


async def keep(deployment: Deployment, shard: int, viewer: int, at: int, *keys: str) -> None:
    async def work(tx: ShardTx) -> None:
        for key in keys:
            await tx.save_answer(viewer, key, ANSWER)

    shards = deployment.open(clock=lambda: at)
    await shards.objects.transact(shard, work)
    await shards.close()


async def kept(shards: SqlShards, shard: int, viewer: int, *keys: str) -> set[str]:
    async def work(tx: ShardTx) -> set[str]:
        return {key for key in keys if await tx.answered(viewer, key)}

    return await shards.objects.transact(shard, work)


async def test_the_oldest_answers_of_each_shard_are_forgotten(deployment: Deployment) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    await empty(shards)
    one, two = deployment.shard(0), deployment.shard(1)
    viewers = {shard: fresh_id(Kind.USER, shard) for shard in (one, two)}
    for at, key in enumerate("abcd", 1_000):
        await keep(deployment, one, viewers[one], at, key)
    await keep(deployment, two, viewers[two], 1_000, *"abcd")
    trips.clear()
    assert await shards.expiry.answers(1_000, 9) == (0, {})
    assert set(trips.by_server().values()) == {1}
    assert await shards.expiry.answers(1_003, 2) == (4, {})
    assert await kept(shards, one, viewers[one], *"abcd") == {"c", "d"}
    assert len(await kept(shards, two, viewers[two], *"abcd")) == 2
    assert await shards.expiry.answers(1_003, 2) == (3, {})
    assert await shards.expiry.answers(1_003, 2) == (0, {})
    assert await kept(shards, one, viewers[one], *"abcd") == {"d"}
    assert await kept(shards, two, viewers[two], *"abcd") == set()
    await keep(deployment, two, viewers[two], 5_000, "a")
    assert await shards.expiry.answers(5_000, 9) == (1, {})
    assert await kept(shards, two, viewers[two], "a") == {"a"}
    await shards.close()


async def test_old_visits_are_forgotten_but_unsaved_ones_and_the_newest(
    deployment: Deployment, shards: SqlShards
) -> None:
    await empty(shards)
    shard = deployment.shard(2)
    user, once = fresh_id(Kind.USER, shard), fresh_id(Kind.USER, shard)

    async def work(tx: ShardTx) -> None:
        for generation in range(1, 8):
            saved = generation not in (2, 6)
            at = 10 * generation
            await tx.add_visit(Visit(user, generation, f"{generation}", b"", saved, at))
        await tx.add_visit(Visit(once, 1, "1", b"", True, 10))

    async def left() -> list[int]:
        return [visit.generation for visit in await shards.visits.recent(user, 99)]

    await shards.objects.transact(shard, work)
    assert await shards.expiry.visits(10, 99) == (0, {})
    assert await shards.expiry.visits(41, 2) == (2, {})
    assert await left() == [7, 6, 5, 4, 2]
    assert await shards.expiry.visits(41, 2) == (1, {})
    assert await shards.expiry.visits(41, 2) == (0, {})
    assert await shards.expiry.visits(2**62, 99) == (1, {})
    assert await left() == [7, 6, 2]
    assert [visit.generation for visit in await shards.visits.recent(once, 9)] == [1]
    await shards.visits.mark_saved(user, 2)
    assert await shards.expiry.visits(2**62, 99) == (1, {})
    assert await left() == [7, 6]
