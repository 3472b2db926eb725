"""The file with a user's own data: the rules for requests, and the tasks that make and remove the
file and notify the user, also killed, repeated and late."""

import io
import json
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from datasources.clocks import now_ms
from datasources.errors import NotFound, QuotaExceeded, StoreUnavailable
from datasources.protocols import Job, NotificationKind, PictureStore, Stores
from datasources.records import DataExport, User
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.outbox.change import AnyTask, DataExpired, DataRequested
from feed_engine.outbox.completion import change_of, settle
from feed_engine.outbox.jobs import run_job
from feed_engine.own_data import making
from feed_engine.own_data.parts import parts
from feed_engine.own_data.requests import AGAIN_AFTER, KEPT_FOR, file_name
from feed_engine.times import MINUTE
from feed_engine.transactions import access
from feed_engine.writes.uploads import erase_pictures
from tests.embedded_stores import embedded_config, embedded_stores
from tests.people import People

pytestmark = pytest.mark.anyio
NOW = now_ms()


@pytest.fixture
async def stores(valkey: ValkeyServer, tmp_path: Path) -> AsyncIterator[Stores]:
    config = replace(embedded_config(tmp_path, valkey), pictures=f"folder://{tmp_path}/pictures")
    async with embedded_stores(config) as opened:
        yield opened


@pytest.fixture
def people(stores: Stores) -> People:
    return People(stores)


@pytest.fixture
async def ann(people: People) -> User:
    """A user with a board of two pins."""
    user = await people.user()
    board = await people.board(user)
    for _ in range(2):
        await people.pin(board)
    await settle()
    return user


class Killed(BaseException):
    """The end of the process."""


def pictures_of(stores: Stores) -> PictureStore:
    assert stores.pictures is not None
    return stores.pictures


async def files_of(stores: Stores, user: User) -> list[str]:
    return await pictures_of(stores).names(f"{user.id}")


async def export_of(stores: Stores, user: User) -> DataExport | None:
    return (await access.recall(stores, User, user.id)).data_export


async def tasks_of(stores: Stores, user: User, kind: type[AnyTask]) -> list[tuple[Job, AnyTask]]:
    """The user's unfinished tasks of a kind, due or not."""
    return [
        (Job(row.shard, row.id), task)
        for row in await stores.shards.outbox.pending(2**62, 1000)
        for task in change_of(row).tasks
        if isinstance(task, kind) and getattr(task, "user_id", 0) == user.id
    ]


async def run(stores: Stores, user: User, kind: type[AnyTask]) -> None:
    for job, _ in await tasks_of(stores, user, kind):
        await run_job(stores, job)
    await settle()


async def again(stores: Stores, user: User, at: int) -> None:
    """Run the task of a request that was done before."""

    async def advance(_: bytes) -> None:
        return

    task = DataRequested(user_id=user.id, at=at)
    await making.data_requested(stores, task, None, advance)


async def notified(stores: Stores, user: User) -> list[int]:
    """The requests of whose files the user was notified, newest first."""
    inbox = await stores.shards.notifications.of_user(user.id, 100)
    assert all(it.kind is NotificationKind.DATA_READY for it in inbox.notifications)
    return [it.about_id for it in inbox.notifications]


async def lines_of(stores: Stores, user: User) -> dict[str, list[Any]]:
    """The lines that the archive must have, by the file. The user is notified of the file after it
    was written."""
    found = dict[str, list[Any]]()
    for part in parts(stores, user):
        lines = [line async for page in part.pages for line in page]
        known = [line for line in lines if line.get("kind") != "DATA_READY"]
        found[f"{part.name}.json"] = json.loads(json.dumps(known))
    return found


def read_archive(content: bytes | None) -> dict[str, list[Any]]:
    assert content is not None
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


async def test_the_file_has_all_parts_and_the_record_says_that_it_is_complete(
    stores: Stores, ann: User
) -> None:
    asked = await writes.request_my_data(stores, ann.id, at=NOW)
    assert asked.data_export == DataExport(NOW)
    await pictures_of(stores).put(f"{ann.id}/c0ffee/236.webp", b"x")
    await run(stores, ann, DataRequested)
    name = file_name(ann.id, NOW)
    content = await pictures_of(stores).get(name)
    found = read_archive(content)
    assert found == await lines_of(stores, ann)
    assert len(found["pins.json"]) == 2
    assert found["events.json"] == []
    assert found["uploaded_pictures.json"] == [
        {"type": "uploaded_picture", "file": f"{ann.id}/c0ffee/236.webp"}
    ]
    export = await export_of(stores, ann)
    assert export is not None
    assert content is not None
    assert export.size == len(content)
    assert abs(export.ready - now_ms()) < 10 * MINUTE
    assert await notified(stores, ann) == [NOW]


async def test_a_user_has_one_request_a_day_and_an_unfinished_one_is_not_doubled(
    stores: Stores, ann: User
) -> None:
    first = await writes.request_my_data(stores, ann.id, at=NOW)
    second = await writes.request_my_data(stores, ann.id, key="another", at=NOW + 1)
    assert first.data_export == second.data_export == DataExport(NOW)
    assert len(await tasks_of(stores, ann, DataRequested)) == 1
    await run(stores, ann, DataRequested)
    with pytest.raises(QuotaExceeded, match="request it again from 20") as refused:
        await writes.request_my_data(stores, ann.id, at=NOW + AGAIN_AFTER - 1500)
    assert refused.value.retry_after == 2
    third = await writes.request_my_data(stores, ann.id, at=NOW + AGAIN_AFTER)
    assert third.data_export == DataExport(NOW + AGAIN_AFTER)
    await run(stores, ann, DataRequested)
    assert await files_of(stores, ann) == [file_name(ann.id, NOW + AGAIN_AFTER)]


async def test_a_request_that_was_never_done_is_replaced_after_a_day(
    stores: Stores, ann: User
) -> None:
    await writes.request_my_data(stores, ann.id, at=NOW - AGAIN_AFTER)
    await writes.request_my_data(stores, ann.id, at=NOW)
    assert len(await tasks_of(stores, ann, DataRequested)) == 2
    await run(stores, ann, DataRequested)
    await again(stores, ann, NOW - AGAIN_AFTER)
    assert await files_of(stores, ann) == [file_name(ann.id, NOW)]
    assert len(await tasks_of(stores, ann, DataExpired)) == 1
    assert await notified(stores, ann) == [NOW]


async def test_a_deleted_user_requests_nothing(stores: Stores, ann: User) -> None:
    await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
    with pytest.raises(NotFound):
        await writes.request_my_data(stores, ann.id)


async def test_the_file_is_removed_at_its_end_and_no_late_job_brings_it_back(
    stores: Stores, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    await writes.request_my_data(stores, ann.id, at=NOW)
    await run(stores, ann, DataRequested)
    due = now_ms() + KEPT_FOR
    [(expiring, _)] = await tasks_of(stores, ann, DataExpired)
    rows = [Job(row.shard, row.id) for row in await stores.shards.outbox.pending(due - MINUTE, 99)]
    assert expiring not in rows
    rows = [Job(row.shard, row.id) for row in await stores.shards.outbox.pending(due + MINUTE, 99)]
    assert expiring in rows
    await run(stores, ann, DataExpired)
    assert await files_of(stores, ann) == []
    monkeypatch.setattr(making, "now_ms", lambda: due + MINUTE)
    await again(stores, ann, NOW)
    assert await files_of(stores, ann) == []
    assert await tasks_of(stores, ann, DataExpired) == []


SEAMS = [
    (name, when)
    for name in ("names", "delete", "write_archive", "put_file", "commit")
    for when in ("before", "after")
]


def dying(call: Callable[..., Awaitable[Any]], when: str) -> Callable[..., Awaitable[Any]]:
    async def killed(*args: Any) -> None:
        if when == "after":
            await call(*args)
        raise Killed

    return killed


def owner_of(stores: Stores, name: str) -> Any:
    return making if hasattr(making, name) else stores.pictures


@pytest.mark.parametrize(("name", "when"), SEAMS)
async def test_a_job_that_is_killed_at_a_seam_does_the_rest_when_it_runs_again(
    stores: Stores, ann: User, monkeypatch: pytest.MonkeyPatch, name: str, when: str
) -> None:
    await pictures_of(stores).put(file_name(ann.id, NOW - AGAIN_AFTER), b"of an earlier request")
    await writes.request_my_data(stores, ann.id, at=NOW)
    [(job, _)] = await tasks_of(stores, ann, DataRequested)
    with monkeypatch.context() as patch:
        owner = owner_of(stores, name)
        patch.setattr(owner, name, dying(getattr(owner, name), when))
        with pytest.raises(Killed):
            await run_job(stores, job)
    await settle()
    before = await export_of(stores, ann)
    assert before is not None
    done = (name, when) == ("commit", "after")
    assert bool(before.ready) is done
    assert await notified(stores, ann) == [NOW] * done
    await run_job(stores, job)
    await settle()
    export = await export_of(stores, ann)
    assert export is not None
    assert export.ready
    assert await files_of(stores, ann) == [file_name(ann.id, NOW)]
    content = await pictures_of(stores).get(file_name(ann.id, NOW))
    assert content is not None
    assert export.size == len(content)
    assert read_archive(content) == await lines_of(stores, ann)
    assert len(await tasks_of(stores, ann, DataExpired)) == 1
    assert await notified(stores, ann) == [NOW]


@pytest.mark.parametrize(("name", "when"), SEAMS)
async def test_an_account_that_is_deleted_meanwhile_leaves_no_file(
    stores: Stores, ann: User, monkeypatch: pytest.MonkeyPatch, name: str, when: str
) -> None:
    """The account is deleted before the file is written. Then the job is killed at a seam."""
    await writes.request_my_data(stores, ann.id, at=NOW)
    [(job, _)] = await tasks_of(stores, ann, DataRequested)
    pictures, put_file = pictures_of(stores), pictures_of(stores).put_file

    async def put_after_deletion(*args: Any) -> None:
        await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
        await erase_pictures(stores, ann.id)
        await put_file(*args)

    with monkeypatch.context() as patch:
        patch.setattr(pictures, "put_file", put_after_deletion)
        owner = owner_of(stores, name)
        patch.setattr(owner, name, dying(getattr(owner, name), when))
        with suppress(Killed):
            await run_job(stores, job)
    assert await notified(stores, ann) == []
    if not (await access.recall(stores, User, ann.id)).deleted:
        await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
    await run_job(stores, job)
    assert await files_of(stores, ann) == []
    assert await export_of(stores, ann) is None
    assert await tasks_of(stores, ann, DataExpired) == []


async def test_a_store_that_is_away_delays_the_job(
    stores: Stores, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> None:
        raise StoreUnavailable("away")

    await writes.request_my_data(stores, ann.id, at=NOW)
    [(job, _)] = await tasks_of(stores, ann, DataRequested)
    with monkeypatch.context() as patch:
        patch.setattr(pictures_of(stores), "put_file", away)
        with pytest.raises(StoreUnavailable):
            await run_job(stores, job)
    with pytest.raises(StoreUnavailable, match=r"stores\.pictures"):
        await run_job(stores._replace(pictures=None), job)
    await run(stores, ann, DataRequested)
    assert await files_of(stores, ann) == [file_name(ann.id, NOW)]
