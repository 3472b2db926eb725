"""Notifications over SQLite and MySQL: each once, in the order in which they came, and bounded."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from datasources.ids import Kind, shard_of
from datasources.protocols import NOTIFICATIONS_KEPT, Inbox, Notification, NotificationKind, ShardTx
from datasources.sql import notifications
from datasources.sql.shards import SqlShards
from tests.contract.shards import Deployment, RoundTrips, fresh_id

pytestmark = pytest.mark.anyio
PIN, OTHER, COMMENT = 70, 71, 90
LIKED = NotificationKind.LIKED


def like(user: int, actor: int, version: int = 1, *, pin: int = PIN, at: int = 5) -> Notification:
    return Notification(user, LIKED, pin, actor, 0, version, at, version % 2 == 1)


async def put(shards: SqlShards, *them: Notification) -> list[bool]:
    """Store each in a transaction of its own."""
    shard = shard_of(them[0].user_id)
    return [
        await shards.objects.transact(shard, lambda tx, it=it: tx.notify(it))  # type: ignore[misc]
        for it in them
    ]


async def listed(shards: SqlShards, user: int, **options: bool) -> list[Notification]:
    """The active notifications without their places, newest first."""
    inbox = await shards.notifications.of_user(user, 9999, **options)
    places = [it.place for it in inbox.notifications]
    assert places == sorted(set(places), reverse=True)
    return [it._replace(place=0) for it in inbox.notifications]


@pytest.fixture
def user(deployment: Deployment) -> Callable[[int], int]:
    return lambda shard: fresh_id(Kind.USER, deployment.shard(shard))


async def test_an_act_is_one_notification_however_often_its_job_runs(
    shards: SqlShards, user: Callable[[int], int]
) -> None:
    ann, bob = user(2), user(2)
    said = Notification(ann, NotificationKind.COMMENTED, PIN, 8, COMMENT, 1, 6)
    again = said._replace(about_id=COMMENT + 1)
    acts = [like(ann, 8), like(ann, 9), like(ann, 8, pin=OTHER), said, again]
    assert await put(shards, *acts) == [True] * 5
    assert await put(shards, *acts, like(ann, 8, at=99)) == [False] * 6
    await put(shards, like(bob, 8))
    assert await listed(shards, ann) == acts[::-1]
    assert await listed(shards, bob) == [like(bob, 8)]
    inbox = await shards.notifications.of_user(ann, 2)
    assert [it._replace(place=0) for it in inbox.notifications] == [again, said]


async def test_a_later_version_wins_in_whatever_order_the_jobs_run(
    shards: SqlShards, user: Callable[[int], int]
) -> None:
    ann = user(3)
    assert await put(shards, like(ann, 8, 2), like(ann, 8, 1)) == [True, False]
    assert await listed(shards, ann) == []
    await put(shards, like(ann, 9))
    assert await put(shards, like(ann, 8, 3, at=7), like(ann, 8, 2)) == [True, False]
    # A like that comes back is at its earlier place: nobody rings twice by liking again.
    assert await listed(shards, ann) == [like(ann, 9), like(ann, 8, 3, at=7)]


async def test_places_grow_also_while_the_clock_stands_still(
    deployment: Deployment, user: Callable[[int], int]
) -> None:
    shards = deployment.open(clock=lambda: 1000)
    ann = user(4)

    async def many(tx: ShardTx) -> None:
        for actor in range(3):
            await tx.notify(like(ann, actor))

    await shards.objects.transact(shard_of(ann), many)
    await put(shards, like(ann, 3), like(ann, 4))
    inbox = await shards.notifications.of_user(ann, 9)
    assert [it.place for it in inbox.notifications] == [1004, 1003, 1002, 1001, 1000]
    assert [it.actor_id for it in inbox.notifications] == [4, 3, 2, 1, 0]
    await shards.close()


async def test_marks_are_never_taken_back(shards: SqlShards, user: Callable[[int], int]) -> None:
    ann = user(5)

    async def mark(up_to: int | None) -> bool:
        return await shards.objects.transact(
            shard_of(ann), lambda tx: tx.mark_notifications(ann, up_to)
        )

    assert not await mark(None)
    await put(shards, *(like(ann, actor) for actor in range(4)))
    all = (await shards.notifications.of_user(ann, 9)).notifications
    assert await listed(shards, ann, unread=True) == await listed(shards, ann)
    assert await mark(all[2].place)
    assert not await mark(all[2].place)
    assert not await mark(all[3].place)
    inbox = await shards.notifications.of_user(ann, 9, unread=True)
    assert inbox == Inbox(all[2].place, all[:2])
    assert (await shards.notifications.of_user(ann, 9)) == Inbox(all[2].place, all)
    assert await mark(2**62)  # a place that no notification has yet
    await put(shards, like(ann, 5))
    assert await listed(shards, ann, unread=True) == [like(ann, 5)]
    assert await mark(None)
    assert not await mark(None)
    assert await listed(shards, ann, unread=True) == []
    assert len(await listed(shards, ann)) == 5


async def test_the_newest_are_kept(
    shards: SqlShards, user: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert NOTIFICATIONS_KEPT == 1000
    monkeypatch.setattr(notifications, "NOTIFICATIONS_KEPT", 3)
    ann, bob = user(6), user(6)
    await put(shards, like(bob, 1))
    await put(shards, *(like(ann, actor) for actor in range(5)))
    assert [it.actor_id for it in await listed(shards, ann)] == [4, 3, 2]
    await put(shards, like(ann, 4, 2), like(ann, 5))
    assert [it.actor_id for it in await listed(shards, ann)] == [5, 3]
    assert len(await listed(shards, bob)) == 1


async def test_simultaneous_acts_all_arrive(shards: SqlShards, user: Callable[[int], int]) -> None:
    ann = user(7)
    await asyncio.gather(*(put(shards, like(ann, actor)) for actor in range(20)))
    assert sorted(it.actor_id for it in await listed(shards, ann)) == list(range(20))


async def test_what_is_erased_is_gone(shards: SqlShards, user: Callable[[int], int]) -> None:
    ann, bob, cat = user(1), user(1), user(0)
    await put(shards, like(ann, bob), like(ann, cat), like(ann, bob, 2, pin=OTHER))
    await put(shards, like(bob, cat))
    await put(shards, like(cat, bob))

    async def run(shard: int, work: Callable[[ShardTx], Awaitable[object]]) -> None:
        await shards.objects.transact(shard, work)

    await run(shard_of(ann), lambda tx: tx.erase_acts(bob))
    assert await listed(shards, ann) == [like(ann, cat)]
    assert await listed(shards, cat) == [like(cat, bob)]  # on another shard
    await run(shard_of(ann), lambda tx: tx.mark_notifications(ann, None))
    await run(shard_of(ann), lambda tx: tx.erase_notifications(ann))
    assert await shards.notifications.of_user(ann, 9) == Inbox(0, [])
    assert await listed(shards, bob) == [like(bob, cat)]


async def test_old_notifications_are_forgotten(
    deployment: Deployment, shards: SqlShards, user: Callable[[int], int]
) -> None:
    while (await shards.expiry.notifications(2**62, 1000)).rows:
        pass
    ann, bob = user(0), user(1)
    for at in range(1, 5):
        timed = deployment.open(clock=lambda at=at: at * 1000)  # type: ignore[misc]
        await put(timed, like(ann, at))
        await put(timed, like(bob, at, 2))
        await timed.close()
    assert await shards.expiry.notifications(3000, 1) == (2, {})
    assert await shards.expiry.notifications(3000, 9) == (2, {})
    assert await shards.expiry.notifications(3000, 9) == (0, {})
    assert [it.actor_id for it in await listed(shards, ann)] == [4, 3]


async def test_a_notification_takes_few_statements(
    deployment: Deployment, user: Callable[[int], int]
) -> None:
    trips = RoundTrips()
    shards = deployment.open(observe=trips)
    ann = user(2)
    await put(shards, like(ann, 8))
    trips.clear()
    await put(shards, like(ann, 9))
    assert sum(trips.by_server().values()) <= 7
    trips.clear()
    await shards.notifications.of_user(ann, 100, unread=True)
    assert sum(trips.by_server().values()) == 1
    await shards.close()
