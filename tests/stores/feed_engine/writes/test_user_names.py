"""Changes of user names: what links and claims say at each step, and a model in random schedules
with crashes, repeated jobs and late steps: no name has two owners, and no user's name has none."""

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import msgspec
import pytest

from datasources.errors import BadInput, Conflict, NotFound, QuotaExceeded
from datasources.ids import shard_of
from datasources.protocols import Claim, Job, OutboxRow, Stores
from datasources.records import User
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.outbox.change import KIND, KeyEnded, TextChanged, change, encode
from feed_engine.outbox.completion import change_of, fulfill, settle
from feed_engine.outbox.jobs import run_job
from feed_engine.outbox.tasks import name_of
from feed_engine.times import DAY
from feed_engine.transactions import access
from feed_engine.writes import key_tasks, keys
from tests.audit import audit
from tests.embedded_stores import drain, embedded_config, embedded_stores, flush
from tests.people import People
from tests.seams import Killed, Seam

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stores(valkey: ValkeyServer, tmp_path_factory: Any) -> AsyncIterator[Stores]:
    """Stores of this test alone: it runs all jobs that wait."""
    await flush(valkey)
    folder = tmp_path_factory.mktemp("stores")
    async with embedded_stores(embedded_config(folder, valkey)) as opened:
        yield opened


@pytest.fixture
async def people(stores: Stores) -> AsyncIterator[People]:
    yield People(stores)
    await drain(stores)
    assert await audit(stores) == []


def rename(stores: Stores, user: User, name: str, **options: Any) -> Awaitable[User]:
    return writes.change_user_name(stores, user.id, writes.NameChange(username=name), **options)


async def holder(stores: Stores, name: str) -> int | None:
    return (await stores.shards.mod.find("username", [name])).get(name)


async def test_a_user_gets_a_new_name_and_keeps_the_old_one_for_30_days(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    before = keys.now_ms()
    after = await rename(stores, ann, " Ann.Lee ")
    assert after.username == "ann.lee"
    [kept] = after.kept_names
    assert (kept.key, kept.version, kept.ending) == (ann.username, 0, False)
    assert 0 <= kept.until - before - 30 * DAY < DAY
    assert await access.read(stores, User, [ann.id]) == {ann.id: after}
    for name in ("ann.lee", ann.username):
        assert await holder(stores, name) == ann.id
        assert after.is_named(name)
    with pytest.raises(Conflict):
        await writes.sign_up(stores, writes.NewUser(username=ann.username))
    await drain(stores)  # also the work of 30 days later
    [user] = (await access.read(stores, User, [ann.id])).values()
    assert user == msgspec.structs.replace(after, kept_names=())
    assert await holder(stores, ann.username) is None
    other = await writes.sign_up(stores, writes.NewUser(username=ann.username))
    assert (other.id != ann.id, other.claimed) == (True, 1)


async def test_the_search_index_reads_the_user_again(stores: Stores, people: People) -> None:
    ann = await people.user()
    await drain(stores)
    await rename(stores, ann, "ann.searched")
    rows = await stores.shards.outbox.pending(2**62, 10)
    tasks = [task for row in rows for task in change_of(row).tasks]
    assert TextChanged((ann.id,)) in tasks


async def test_a_user_can_go_back_and_the_end_of_the_first_time_frees_nothing(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    await rename(stores, ann, "ann.two")
    back = await rename(stores, ann, ann.username)
    assert (back.username, [kept.key for kept in back.kept_names]) == (ann.username, ["ann.two"])
    await drain(stores)
    assert await holder(stores, ann.username) == ann.id
    assert await holder(stores, "ann.two") is None


async def test_a_name_kept_again_is_kept_until_its_last_time(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    start = keys.now_ms()
    for day, name in enumerate(("ann.four", ann.username, "ann.four")):
        await rename(stores, ann, name, at=start + day * DAY)
    ends = [
        (row, task)
        for row in await stores.shards.outbox.pending(2**62, 100)
        for task in change_of(row).tasks
        if isinstance(task, KeyEnded) and task.key == ann.username
    ]
    (first, early), (last, late) = sorted(ends, key=lambda end: end[1].until)
    assert late.until - early.until == 2 * DAY
    await run_job(stores, Job(first.shard, first.id))
    assert await holder(stores, ann.username) == ann.id
    await run_job(stores, Job(last.shard, last.id))
    assert await holder(stores, ann.username) is None


async def test_a_taken_or_a_kept_name_is_refused(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    await rename(stores, bob, "bob.two")
    for name in (bob.username, "bob.two"):
        with pytest.raises(Conflict) as refused:
            await rename(stores, ann, name)
        assert refused.value.field == "username"
    for name in ("an", "admin", "..."):
        with pytest.raises(BadInput):
            await rename(stores, ann, name)
    assert (await access.read(stores, User, [ann.id]))[ann.id].username == ann.username


async def test_the_same_name_changes_nothing(stores: Stores, people: People) -> None:
    ann = await people.user()
    await drain(stores)
    assert await rename(stores, ann, ann.username.upper()) == ann
    assert await stores.shards.outbox.pending(2**62, 10) == []


async def test_ten_names_are_kept_at_most(stores: Stores, people: People) -> None:
    ann = await people.user()
    for number in range(keys.MOST):
        await rename(stores, ann, f"ann.no{number}")
    with pytest.raises(BadInput, match="10 earlier user names"):
        await rename(stores, ann, "ann.too.many")
    await rename(stores, ann, "ann.no3")
    await drain(stores)
    await rename(stores, ann, "ann.too.many")


async def test_a_viewer_changes_the_name_a_few_times_a_day(stores: Stores, people: People) -> None:
    bounded = stores._replace(writes_per_day=10_000)
    ann = await people.user()
    for number in range(5):
        await rename(bounded, ann, f"ann.day{number}")
    with pytest.raises(QuotaExceeded, match="more than 5 changes of the user name"):
        await rename(bounded, ann, "ann.day5")


async def test_a_repeated_change_answers_the_same_and_undoes_no_later_one(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    first = await rename(stores, ann, "ann.first", key="one")
    assert await rename(stores, ann, "ann.first", key="one") == first
    second = await rename(stores, ann, "ann.second", key="two")
    assert await rename(stores, ann, "ann.first", key="one") == second
    await drain(stores)
    assert (await rename(stores, ann, "ann.first", key="one")).username == "ann.second"
    assert await holder(stores, "ann.first") is None
    bob = await people.user()
    await rename(stores, bob, "ann.first")
    assert (await rename(stores, ann, "ann.first", key="one")).username == "ann.second"
    with pytest.raises(BadInput):
        await rename(stores, ann, "ann.third", key="two")


async def test_a_repeated_row_of_the_sign_up_does_not_deactivate_a_renamed_user(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    row = row_of(ann)
    await rename(stores, ann, "ann.other")
    await drain(stores)
    bob = await writes.sign_up(stores, writes.NewUser(username=ann.username))
    await fulfill(stores, change_of(row))
    assert (await access.read(stores, User, [ann.id]))[ann.id].username == "ann.other"
    assert await holder(stores, ann.username) == bob.id
    await rename(stores, bob, "bob.other")
    await drain(stores)
    await fulfill(stores, change_of(row))  # now the name is free
    assert await holder(stores, ann.username) is None
    await rename(stores, ann, ann.username)
    await fulfill(stores, change_of(row))
    assert (await access.read(stores, User, [ann.id]))[ann.id].username == ann.username


def row_of(user: User) -> OutboxRow:
    """A row as the user's sign-up posted it."""
    claims = [("username", user.username, user.id)]
    payload = encode(change(claims=claims, claim_versions=[user.claimed]))
    return OutboxRow(shard_of(user.id), 1, KIND, payload, None, 0)


async def test_a_name_that_was_loaded_without_versions_is_freed_too(
    stores: Stores, people: People
) -> None:
    """Imports claim names without their versions."""
    mod = stores.shards.mod
    ann, name = await people.user(), "ann.imported"
    await mod.release("username", name, 1)  # it had an owner before
    await mod.release("username", ann.username, ann.id)
    await mod.claim_many("username", {ann.username: ann.id})
    after = await rename(stores, ann, name)
    assert (after.claimed, after.kept_names[0].version) == (1, 1)
    await drain(stores)
    assert await holder(stores, ann.username) is None


async def test_a_deleted_account_frees_all_its_names_in_the_end(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    for name in ("ann.a", "ann.b"):
        await rename(stores, ann, name)
    await writes.delete_account(stores, ann.id, writes.Deletion(username="ann.b"))
    with pytest.raises(NotFound):
        await rename(stores, ann, "ann.c")
    for name in (ann.username, "ann.a", "ann.b"):
        assert await holder(stores, name) == ann.id
    erasures = [
        row
        for row in await stores.shards.outbox.pending(2**62, 100)
        if any(name_of(task).startswith("Account") for task in change_of(row).tasks)
    ]
    for row in sorted(erasures, key=lambda row: row.id, reverse=True):
        await run_job(stores, Job(row.shard, row.id))
    for name in (ann.username, "ann.a", "ann.b"):
        assert await holder(stores, name) is None
    stone = (await stores.shards.objects.get([ann.id]))[ann.id]
    assert b"ann.a" not in stone


async def test_a_repeated_end_of_an_earlier_time_frees_nothing_of_a_later_one(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    await rename(stores, ann, "ann.away")
    [end] = await ends(stores, ann.username)
    await drain(stores)
    back = await rename(stores, ann, ann.username)
    assert back.claimed == 1
    await key_tasks.free(stores, end)
    assert await holder(stores, ann.username) == ann.id
    await rename(stores, ann, "ann.away")
    await key_tasks.free(stores, end)
    assert await holder(stores, ann.username) == ann.id


async def ends(stores: Stores, name: str) -> list[KeyEnded]:
    """The waiting tasks that free a name."""
    rows = await stores.shards.outbox.pending(2**62, 1000)
    tasks = (task for row in rows for task in change_of(row).tasks)
    return [task for task in tasks if isinstance(task, KeyEnded) and task.key == name]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("name", "number"), [("transact", 1), ("claim_at", 1), ("transact", 2)])
async def test_a_change_that_is_killed_after_any_step_is_repeated_or_leaves_nothing(
    stores: Stores, people: People, name: str, number: int, again: bool
) -> None:
    ann = await people.user()

    async def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        await rename(Seam(name, number, die).of(stores, after=True), ann, "ann.killed", key="k")
    await settle()
    changed = again or (name, number) == ("transact", 2)
    if again:
        assert (await rename(stores, ann, "ann.killed", key="k")).username == "ann.killed"
    await drain(stores)
    assert (await holder(stores, "ann.killed")) == (ann.id if changed else None)
    assert (await holder(stores, ann.username)) == (None if changed else ann.id)
    assert (await access.recall(stores, User, ann.id)).kept_names == ()


@pytest.mark.parametrize(("name", "number"), [("claim_at", 1), ("transact", 2)])
async def test_a_change_whose_name_was_freed_before_a_late_step_claims_it_again(
    stores: Stores, people: People, name: str, number: int
) -> None:
    """The process pauses before the claim or the commit for longer than the name is kept."""
    ann = await people.user()

    async def end() -> None:
        [task] = await ends(stores, "ann.late")
        await key_tasks.free(stores, task)

    after = await rename(Seam(name, number, end).of(stores), ann, "ann.late")
    assert (after.username, after.claimed) == ("ann.late", 1)
    assert await stores.shards.mod.look("username", ["ann.late"]) == {"ann.late": Claim(ann.id, 1)}


async def test_a_late_claim_of_a_killed_process_holds_nothing(
    stores: Stores, people: People
) -> None:
    ann = await people.user()

    async def end() -> None:
        [task] = await ends(stores, "ann.dead")
        await key_tasks.free(stores, task)

    async def die() -> None:
        raise Killed

    late = Seam("claim_at", 1, end).of(stores)
    with pytest.raises(Killed):
        await rename(Seam("claim_at", 1, die).of(late, after=True), ann, "ann.dead")
    assert await holder(stores, "ann.dead") is None


async def test_of_two_changes_at_once_the_second_keeps_the_name_of_the_first(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    for _ in range(2):  # now the versions of the two names differ
        await stores.shards.mod.release("username", "ann.during", ann.id)

    async def other() -> None:
        await rename(stores, ann, "ann.during")

    after = await rename(Seam("transact", 2, other).of(stores), ann, "ann.last")
    assert after.username == "ann.last"
    kept = {entry.key: entry.version for entry in after.kept_names}
    assert kept == {ann.username: 0, "ann.during": 2}
