"""Notifications: what the jobs of follows, saves, likes and comments store, and what ends them."""

from collections.abc import Sequence
from typing import Any

import pytest

from datasources.errors import StoreUnavailable
from datasources.ids import shard_of
from datasources.mappings import Mapping
from datasources.protocols import Job, Notification, NotificationKind, Stores
from datasources.records import User
from feed_engine import writes
from feed_engine.outbox.change import Change, Followed, PinLiked, PinUnliked, decode
from feed_engine.outbox.completion import settle
from feed_engine.outbox.expiry import NOTIFICATIONS_DAYS, expire_batch
from feed_engine.outbox.jobs import run_job
from feed_engine.times import DAY
from feed_engine.writes import notification_tasks
from feed_engine.writes.notification_tasks import notify_of_follow, notify_of_like, notifying
from tests.embedded_stores import drain
from tests.people import People

pytestmark = pytest.mark.anyio
FOLLOWED_USER, FOLLOWED_BOARD, SAVED, LIKED, COMMENTED, *_ = NotificationKind
NOW = 1_700_000_000_000


async def of(stores: Stores, user: User) -> Sequence[Notification]:
    return (await stores.shards.notifications.of_user(user.id, 9999)).notifications


async def acts(stores: Stores, user: User) -> list[tuple[NotificationKind, int, int, int]]:
    """The kind, subject, actor and object of each notification, newest first."""
    return [(it.kind, it.subject_id, it.actor_id, it.about_id) for it in await of(stores, user)]


async def place(stores: Stores, user: User) -> str:
    """The place in the log of the user's events."""
    return await stores.broadcasts.place(f"notifications:{user.id}")


async def events(stores: Stores, user: User, since: str) -> int:
    """The published events of the user's notifications since a place."""
    await settle()
    found = await stores.broadcasts.since(f"notifications:{user.id}", since)
    assert found is not None
    return len(found)


async def test_each_act_notifies_the_owner(stores: Stores, people: People) -> None:
    ann = await people.user()
    bob = await people.user(away_from=ann.id)
    board = await people.board(ann)
    pin = await people.pin(board)
    to = await people.board(bob)
    await writes.follow(stores, bob.id, ann.id, at=NOW)
    await drain(stores)
    await writes.follow(stores, bob.id, board.id, at=NOW)
    await drain(stores)
    saved = (await writes.repin(stores, bob.id, pin.id, to.id, at=NOW)).pin
    await drain(stores)
    await writes.like_pin(stores, bob.id, pin.id, at=NOW)
    await drain(stores)
    new = writes.NewComment(pin_id=pin.id, text="hm")
    said = (await writes.create_comment(stores, bob.id, new, at=NOW)).comment
    await drain(stores)
    assert await acts(stores, ann) == [
        (COMMENTED, pin.id, bob.id, said.id),
        (LIKED, pin.id, bob.id, 0),
        (SAVED, pin.id, bob.id, saved.id),
        (FOLLOWED_BOARD, board.id, bob.id, 0),
        (FOLLOWED_USER, ann.id, bob.id, 0),
    ]
    assert {it.at for it in await of(stores, ann)} == {NOW}
    assert await acts(stores, bob) == []


async def test_nobody_is_notified_of_own_acts(stores: Stores, people: People) -> None:
    ann = await people.user()
    pin = await people.pin(board := await people.board(ann))
    await writes.follow(stores, ann.id, board.id)
    await writes.like_pin(stores, ann.id, pin.id)
    await writes.unlike_pin(stores, ann.id, pin.id)
    await writes.like_pin(stores, ann.id, pin.id)
    await writes.repin(stores, ann.id, pin.id, board.id)
    new = writes.NewComment(pin_id=pin.id, text="hm")
    said = (await writes.create_comment(stores, ann.id, new)).comment
    await writes.delete_comment(stores, ann.id, said.id)
    interest = await people.interest()
    await writes.follow(stores, ann.id, interest.id)
    await drain(stores)
    assert await acts(stores, ann) == []


async def test_what_is_taken_back_ends_its_notification(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(board := await people.board(ann))
    new = writes.NewComment(pin_id=pin.id, text="hm")
    said = (await writes.create_comment(stores, bob.id, new)).comment
    for write in (
        lambda: writes.follow(stores, bob.id, ann.id),
        lambda: writes.follow(stores, bob.id, board.id),
        lambda: writes.like_pin(stores, bob.id, pin.id),
    ):
        await write()
    await drain(stores)
    assert len(await acts(stores, ann)) == 4
    for back in (
        lambda: writes.unfollow(stores, bob.id, ann.id),
        lambda: writes.unfollow(stores, bob.id, board.id),
        lambda: writes.unlike_pin(stores, bob.id, pin.id),
        lambda: writes.delete_comment(stores, ann.id, said.id),
    ):
        await back()
        await drain(stores)
    assert await acts(stores, ann) == []


async def test_a_save_to_a_secret_board_notifies_nobody(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(await people.board(ann))
    secret, open = await people.board(bob, secret=True), await people.board(bob)
    await writes.repin(stores, bob.id, pin.id, secret.id)
    await drain(stores)
    await writes.update_board(stores, bob.id, secret.id, writes.BoardChange(secret=False))
    await drain(stores)
    assert await acts(stores, ann) == []
    # The board becomes secret before the job runs.
    await writes.repin(stores, bob.id, pin.id, open.id)
    await writes.update_board(stores, bob.id, open.id, writes.BoardChange(secret=True))
    await drain(stores)
    assert await acts(stores, ann) == []


async def tasks_of(stores: Stores, kind: type) -> list[Any]:
    """The waiting tasks of a kind, in the order of their rows."""
    await settle()
    rows = await stores.shards.outbox.pending(2**62, 1000)
    changes: list[Change] = [decode(row.payload) for row in rows]
    return [task for change in changes for task in change.tasks if isinstance(task, kind)]


async def test_jobs_may_run_twice_late_and_in_any_order(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(await people.board(ann))
    await drain(stores)
    await writes.like_pin(stores, bob.id, pin.id)
    [like] = await tasks_of(stores, PinLiked)
    await writes.unlike_pin(stores, bob.id, pin.id)
    [unlike] = await tasks_of(stores, PinUnliked)
    for task in (unlike, like, like):
        await notify_of_like(stores, task)
    assert await acts(stores, ann) == []
    await writes.like_pin(stores, bob.id, pin.id)
    await drain(stores)
    assert await acts(stores, ann) == [(LIKED, pin.id, bob.id, 0)]
    told = await place(stores, ann)
    await notify_of_like(stores, unlike)
    await notify_of_like(stores, like)
    assert await acts(stores, ann) == [(LIKED, pin.id, bob.id, 0)]
    assert await events(stores, ann, told) == 0


async def test_a_job_that_read_an_older_state_does_not_win(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(await people.board(ann))
    await drain(stores)
    await writes.like_pin(stores, bob.id, pin.id)
    late: list[Notification] = []
    store = notification_tasks.store

    async def hold(_: Stores, act: Notification) -> None:
        late.append(act)

    monkeypatch.setattr(notification_tasks, "store", hold)
    await notify_of_like(stores, PinLiked(bob.id, pin.id, 1))
    monkeypatch.setattr(notification_tasks, "store", store)
    await writes.unlike_pin(stores, bob.id, pin.id)
    await notify_of_like(stores, PinUnliked(bob.id, pin.id))
    [read] = late
    assert read.active
    await store(stores, read)
    assert await acts(stores, ann) == []
    await drain(stores)


async def test_a_failure_to_notify_delays_no_other_work(stores: Stores) -> None:
    done: list[str] = []

    async def fail(_: Stores, task: str) -> None:
        raise StoreUnavailable("the owner's shard")

    async def work(_: Stores, task: str, cursor: bytes | None, advance: Any) -> None:
        done.append(task)

    with pytest.raises(StoreUnavailable):
        await notifying(work, fail)(stores, "task", None, None)  # type: ignore[arg-type]
    assert done == ["task"]


async def test_a_block_ends_the_notification_of_a_follow(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    board = await people.board(ann)
    await writes.follow(stores, bob.id, ann.id)
    await writes.follow(stores, bob.id, board.id)
    await drain(stores)
    assert len(await acts(stores, ann)) == 2
    await writes.block_user(stores, ann.id, bob.id)
    await drain(stores)
    await writes.unblock_user(stores, ann.id, bob.id)
    await drain(stores)
    assert await acts(stores, ann) == []


async def test_a_deleted_account_takes_its_acts_and_its_notifications_with_it(
    stores: Stores, people: People
) -> None:
    ann, cat = await people.user(), await people.user()
    bob = await people.user(away_from=ann.id)
    pin = await people.pin(await people.board(ann))
    of_bob = await people.pin(to := await people.board(bob))
    for actor in (bob, cat):
        await writes.like_pin(stores, actor.id, pin.id)
        await writes.follow(stores, actor.id, ann.id)
        new = writes.NewComment(pin_id=pin.id, text="hm")
        await writes.create_comment(stores, actor.id, new)
    await writes.repin(stores, bob.id, pin.id, to.id)
    await writes.like_pin(stores, cat.id, of_bob.id)
    await drain(stores)
    assert len(await of(stores, bob)) == 1
    await writes.like_pin(stores, ann.id, of_bob.id)  # its job runs after the deletion
    await writes.delete_account(stores, bob.id, writes.Deletion(username=bob.username))
    await drain(stores)
    assert {it.actor_id for it in await of(stores, ann)} == {cat.id}
    assert len(await of(stores, ann)) == 3
    assert await of(stores, bob) == []


async def test_nothing_is_stored_for_or_of_a_deleted_account(
    stores: Stores, people: People
) -> None:
    ann, bob, cat = [await people.user() for _ in range(3)]
    await drain(stores)
    for follower, followed in ((ann, bob), (bob, cat)):
        await writes.follow(stores, follower.id, followed.id)
    follows = await tasks_of(stores, Followed)
    await writes.delete_account(stores, bob.id, writes.Deletion(username=bob.username))
    for task in follows:  # before the jobs of the deletion
        await notify_of_follow(stores, task)
    assert [await of(stores, user) for user in (ann, bob, cat)] == [[], [], []]
    await drain(stores)


async def test_marks_are_announced_once(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(await people.board(ann))
    begin = await place(stores, ann)
    await writes.like_pin(stores, bob.id, pin.id)
    await drain(stores)
    assert await events(stores, ann, begin) == 1
    for key in (None, "k", "k"):
        await writes.mark_notifications_read(stores, ann.id, None, key=key)
        await drain(stores)
    assert await events(stores, ann, begin) == 2
    inbox = await stores.shards.notifications.of_user(ann.id, 9)
    assert inbox.read_up_to == inbox.notifications[0].place


async def test_marks_are_never_refused(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    bounded = stores._replace(writes_per_day=1)
    pin = await people.pin(await people.board(ann))
    interest = await people.interest()
    await writes.follow(bounded, ann.id, interest.id)
    for number in range(3):
        new = writes.NewComment(pin_id=pin.id, text=f"{number}")
        await writes.create_comment(stores, bob.id, new)
        await drain(stores)
        await writes.mark_notifications_read(bounded, ann.id, None)
    assert (await stores.shards.notifications.of_user(ann.id, 9, unread=True)).notifications == []


async def test_notifications_are_kept_for_ninety_days(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    await writes.follow(stores, bob.id, ann.id)
    await drain(stores)
    [stored] = await of(stores, ann)
    for later, left in ((0, 1), (1, 0)):
        await expire_batch(stores, 7, 30, stored.place + NOTIFICATIONS_DAYS * DAY + later)
        assert len(await of(stores, ann)) == left


async def test_a_like_that_comes_back_does_not_ring_twice(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(await people.board(ann))
    for _ in range(3):
        await writes.like_pin(stores, bob.id, pin.id)
        await drain(stores)
        await writes.mark_notifications_read(stores, ann.id, None)
        await writes.unlike_pin(stores, bob.id, pin.id)
        await drain(stores)
    await writes.like_pin(stores, bob.id, pin.id)
    await drain(stores)
    assert await acts(stores, ann) == [(LIKED, pin.id, bob.id, 0)]
    assert (await stores.shards.notifications.of_user(ann.id, 9, unread=True)).notifications == []
    assert await people.list(Mapping.PIN_LIKED_BY_USERS, pin.id) == [bob.id]


async def test_a_killed_job_notifies_when_it_runs_again(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    pin = await people.pin(await people.board(ann))
    await drain(stores)
    new = writes.NewComment(pin_id=pin.id, text="hm")
    await writes.create_comment(stores, bob.id, new)
    await settle()
    [row] = await stores.shards.outbox.pending(2**62, 1000)
    assert row.shard == shard_of(pin.id)
    for _ in range(2):  # the row stays until its work is done, and is gone afterwards
        await run_job(stores, Job(row.shard, row.id))
    await drain(stores)
    assert len(await acts(stores, ann)) == 1
