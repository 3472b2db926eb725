"""Events of viewers over SQLite and MySQL: each once a day, and none after its deletion."""

import pytest

from datasources.ids import Kind
from datasources.protocols import EventKind, PinEvent, ShardTx, Visit
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
DAY = 86_400_000


def event(user: int, pin: int, kind: EventKind = EventKind.SEEN, *, at: int) -> PinEvent:
    return PinEvent(user, at // DAY * DAY, pin, kind, at)


async def add(shards: SqlShards, shard: int, user: int, *events: PinEvent, era: int = 0) -> None:
    await shards.objects.transact(shard, lambda tx: tx.add_events(user, era, events))


async def test_of_a_pin_and_a_kind_a_day_keeps_the_first_event(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(4)
    user, other = fresh_id(Kind.USER, shard), fresh_id(Kind.USER, shard)
    first = [event(user, 7, at=5), event(user, 7, EventKind.OPENED, at=6), event(user, 8, at=7)]
    later = event(user, 7, at=DAY + 1)
    await add(shards, shard, user, *first)
    await add(shards, shard, user, event(user, 7, at=9), later)
    await add(shards, shard, other, event(other, 7, at=5))
    assert await shards.events.of_user(user, 99) == [
        *(later, event(user, 8, at=7)),
        *(event(user, 7, at=5), event(user, 7, EventKind.OPENED, at=6)),
    ]
    assert await shards.events.of_user(user, 1) == [later]


async def test_a_deletion_ends_the_era_of_what_was_recorded_before(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(5)
    user, other = fresh_id(Kind.USER, shard), fresh_id(Kind.USER, shard)
    await add(shards, shard, user, event(user, 7, at=5))
    await add(shards, shard, other, event(other, 7, at=5))
    await shards.objects.transact(shard, lambda tx: tx.delete_events(user))
    await add(shards, shard, user, event(user, 8, at=6))
    assert await shards.events.of_user(user, 99) == []
    assert await shards.objects.transact(shard, lambda tx: tx.events_era(user)) == 1
    await add(shards, shard, user, event(user, 9, at=7), era=1)
    assert await shards.events.of_user(user, 99) == [event(user, 9, at=7)]
    assert await shards.events.of_user(other, 99) == [event(other, 7, at=5)]


async def test_many_events_are_written_in_few_statements(deployment: Deployment) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    shard = deployment.shard(6)
    user = fresh_id(Kind.USER, shard)
    events = [event(user, pin, at=pin) for pin in range(1, 101)]

    async def work(tx: ShardTx) -> None:
        era = await tx.events_era(user)
        trips.clear()
        await tx.add_events(user, era, events)
        assert sum(trips.by_server().values()) <= 3

    await shards.objects.transact(shard, work)
    assert sorted(await shards.events.of_user(user, 999)) == events
    await shards.close()


async def test_old_days_are_forgotten(deployment: Deployment, shards: SqlShards) -> None:
    while (await shards.expiry.events(2**62, 1000)).rows:
        pass
    one, two = deployment.shard(0), deployment.shard(1)
    users = {shard: fresh_id(Kind.USER, shard) for shard in (one, two)}
    for shard, user in users.items():
        await add(shards, shard, user, *(event(user, 7, at=day * DAY) for day in range(4)))
    assert await shards.expiry.events(2 * DAY, 1) == (2, {})
    assert await shards.expiry.events(2 * DAY, 9) == (2, {})
    assert await shards.expiry.events(2 * DAY, 9) == (0, {})
    for user in users.values():
        assert [e.day for e in await shards.events.of_user(user, 99)] == [3 * DAY, 2 * DAY]


async def test_the_users_with_visits_are_listed_by_pages(
    deployment: Deployment, shards: SqlShards
) -> None:
    shard = deployment.shard(7)
    users = sorted(fresh_id(Kind.USER, shard) for _ in range(3))

    async def work(tx: ShardTx) -> None:
        for user in users:
            for generation in (1, 2):
                await tx.add_visit(Visit(user, generation, f"{generation}", b"", True, 10))

    await shards.objects.transact(shard, work)
    first = await shards.visits.viewers(shard, users[0] - 1, 2)
    assert first == users[:2]
    assert (await shards.visits.viewers(shard, first[-1], 2))[:1] == users[2:]
    assert await shards.visits.viewers(shard, 2**62, 2) == []
