"""Rows with several tasks: each task gets a row and a job of its own."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest

from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import BULK, NORMAL, URGENT, Job, OutboxRow, ShardTx
from feed_engine import writes
from feed_engine.outbox import tasks
from feed_engine.outbox.change import (
    KIND,
    AnyTask,
    BoardSecrecy,
    Change,
    Followed,
    PinLiked,
    PinPublished,
    decode,
    encode,
)
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.outbox.newest_first import Progress
from tests.faulty import with_part, without
from tests.feeds import START, Feeding, feeding, valkey

__all__ = ["feeding", "valkey"]
pytestmark = pytest.mark.anyio
SHARD = 0
SEVERAL: list[AnyTask] = [
    PinLiked(viewer_id=1, pin_id=2, at=3),
    BoardSecrecy(board_id=1, secret=True, at=0),
    Followed(viewer_id=1, target_id=2, version=1, at=3),
]


async def post(feeding: Feeding, progress: Progress | None = None) -> Job:
    """A row with several tasks, some of which may be done."""

    async def work(tx: ShardTx) -> int:
        id = await tx.post(KIND, encode(Change(tasks=tuple(SEVERAL), traceparent="00-1")))
        if progress is not None:
            await tx.advance(id, msgspec.json.encode(progress))
        return id

    return Job(SHARD, await feeding.stores.shards.objects.transact(SHARD, work))


def tasks_of(rows: list[OutboxRow]) -> list[AnyTask]:
    return [task for row in rows for task in decode(row.payload).tasks]


async def test_a_task_that_fails_holds_up_no_other_task_of_its_write(feeding: Feeding) -> None:
    """A side of the feeds is unavailable, and the repin's work in the pools is done."""
    owner, friend, fan = [await feeding.user() for _ in range(3)]
    await feeding.follow(fan, friend.id)
    pin = await feeding.pin_at(await feeding.board(owner), START)
    board = await feeding.board(friend)
    await feeding.drain()
    await writes.repin(feeding.stores, friend.id, pin.id, board.id)
    assert len(await feeding.tasks()) == 2
    away = without(feeding.stores, "feeds", "standby")
    for _ in range(2):
        for row in await feeding.pending():
            with suppress(StoreError):
                await run_job(away, Job(row.shard, row.id))
    [left] = await feeding.tasks()
    assert isinstance(left, PinPublished)
    await feeding.drain()
    assert await feeding.tasks() == []


async def test_each_task_gets_a_row_and_a_job_of_its_own_priority(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: dict[str, list[Job]] = {}

    class Noting:
        async def enqueue(self, jobs: list[Job], *, priority: str) -> None:
            queued[priority] = jobs

    queue: Any = Noting()
    job = await post(feeding)
    await run_job(feeding.stores._replace(queue=queue), job)
    await settle()
    rows = await feeding.pending()
    assert tasks_of(rows) == SEVERAL
    assert {decode(row.payload).traceparent for row in rows} == {"00-1"}
    liked, secrecy, followed = [Job(row.shard, row.id) for row in rows]
    assert queued == {NORMAL: [liked], BULK: [secrecy], URGENT: [followed]}
    await run_job(feeding.stores, job)  # the row is gone: nothing is left to do
    assert await feeding.pending() == rows


async def test_a_row_that_an_earlier_version_began_goes_on_where_it_was(
    feeding: Feeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[tuple[object, bytes | None]] = []

    async def note(_: Any, task: object, cursor: bytes | None, advance: Any) -> None:
        began.append((task, cursor))

    for name in ("PinLiked", "BoardSecrecy", "Followed"):
        monkeypatch.setitem(tasks.HANDLERS, name, note)
    await run_job(feeding.stores, await post(feeding, Progress(1, b"half")))
    assert began == []
    for row in await feeding.pending():
        await run_job(feeding.stores, Job(row.shard, row.id))
    assert began == [(SEVERAL[1], b"half"), (SEVERAL[2], None)]
    assert await feeding.pending() == []


async def test_a_row_that_could_not_be_split_stays_as_it_was(feeding: Feeding) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(feeding.stores.shards.objects, name)

        async def transact(self, shard: int, work: Any) -> Any:
            async def broken(tx: ShardTx) -> None:
                await work(tx)
                raise StoreUnavailable("the server died before the commit")

            return await feeding.stores.shards.objects.transact(shard, broken)

    job = await post(feeding)
    before = await feeding.pending()
    with pytest.raises(StoreUnavailable):
        await run_job(with_part(feeding.stores, "objects", Failing()), job)
    assert await feeding.pending() == before
