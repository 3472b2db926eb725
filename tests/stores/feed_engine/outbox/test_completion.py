"""Completing writes: before the acknowledgement, after a cancellation, by jobs and the relay."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from datasources.clocks import now_ms
from datasources.errors import StoreError, StoreUnavailable
from datasources.ids import shard_of
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import Job, ShardTx, Stores
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.outbox import tasks
from feed_engine.outbox.change import KIND, BoardSecrecy, change, encode
from feed_engine.outbox.completion import _running, change_of, fulfill, settle
from feed_engine.outbox.jobs import run_job
from feed_engine.outbox.relay import TELL_EVERY, relay
from feed_engine.writes import board_tasks
from tests.audit import audit
from tests.contract.circuits import WithCircuits, until_well
from tests.embedded_stores import drain, embedded_config, embedded_stores, valkey
from tests.people import People
from tests.relay_page import relay_once

__all__ = ["valkey"]
pytestmark = pytest.mark.anyio


class Place(NamedTuple):
    stores: Stores
    people: People
    valkey: ValkeyServer


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """Stores with a separate Valkey, which a test may stop and start."""
    server = ValkeyServer(tmp_path)
    await server.start()
    try:
        async with embedded_stores(embedded_config(tmp_path, server)) as stores:
            yield Place(stores, People(stores), server)
            if server.pid is None:
                await server.start()
            await until_well(cast(WithCircuits, stores.mapping_cache))
            await drain(stores)
            assert await audit(stores) == []
    finally:
        await server.stop()


async def test_a_write_whose_caches_cannot_be_reached_is_kept_but_not_acknowledged(
    place: Place,
) -> None:
    stores, people, valkey = place
    owner = await people.user()
    board = await people.board(owner)
    await settle()
    await valkey.stop()
    new = writes.NewPin(board_id=board.id, title="kept")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="same idempotency key"):
            await writes.create_pin(stores, owner.id, new, key="k")
    assert len(await people.list(Mapping.BOARD_HAS_PINS, board.id)) == 1
    await valkey.start()
    written = await writes.create_pin(stores, owner.id, new, key="k")
    assert await people.list(Mapping.BOARD_HAS_PINS, board.id) == [written.pin.id]


async def test_nothing_to_change_is_not_acknowledged_either_while_caches_are_unreachable(
    place: Place,
) -> None:
    """The earlier write may still have work for the caches."""
    stores, people, valkey = place
    viewer = await people.user()
    pin = await people.pin(await people.board(viewer))
    await settle()
    await valkey.stop()
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await writes.like_pin(stores, viewer.id, pin.id)


async def test_a_write_cancelled_at_any_moment_happens_whole_or_not_at_all(place: Place) -> None:
    stores, people, _ = place
    viewer, other = await people.user(), await people.user()
    board, interest = await people.board(viewer), await people.interest()
    foreign = await people.pin(await people.board(other))
    new = writes.NewPin(board_id=board.id, interest_ids=(interest.id,))
    finished = 0
    for moments in range(0, 400, 3):
        work = (
            writes.create_pin(stores, viewer.id, new)
            if moments % 2
            else writes.like_pin(stores, viewer.id, foreign.id)
            if moments % 4
            else writes.unlike_pin(stores, viewer.id, foreign.id)
        )
        task = asyncio.ensure_future(work)
        for _ in range(moments):
            await asyncio.sleep(0)
        task.cancel()
        [result] = await asyncio.gather(task, return_exceptions=True)
        finished += not isinstance(result, BaseException)
    await drain(stores)
    assert await audit(stores) == []
    assert finished < 134


async def test_a_cancelled_request_does_not_stop_the_rest_of_its_write(place: Place) -> None:
    """Cancelled after the commit, a write is completed before the stores may be closed."""
    stores, people, _ = place
    viewer = await people.user()
    target = await people.user(away_from=viewer.id)
    await drain(stores)
    task = asyncio.ensure_future(writes.follow(stores, viewer.id, target.id))
    while not _running:  # noqa: ASYNC110 (until what follows the commit has begun)
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    await settle()
    assert await people.list(Mapping.USER_FOLLOWED_BY_USERS, target.id) == [viewer.id]


async def test_a_row_is_followed_through_as_often_as_one_likes(place: Place) -> None:
    stores, people, _ = place
    viewer = await people.user()
    target = await people.user(away_from=viewer.id)
    await drain(stores)
    await writes.follow(stores, viewer.id, target.id)
    await settle()
    [row] = await stores.shards.outbox.pending(2**62, 10)
    for _ in range(3):
        await fulfill(stores, change_of(row))
        await run_job(stores, Job(row.shard, row.id))
    assert await people.list(Mapping.USER_FOLLOWED_BY_USERS, target.id) == [viewer.id]


async def test_late_and_repeated_rows_never_undo_a_later_write(place: Place) -> None:
    stores, people, _ = place
    viewer = await people.user()
    pin = await people.pin(await people.board(await people.user(away_from=viewer.id)))
    await drain(stores)
    for _ in range(3):
        await writes.like_pin(stores, viewer.id, pin.id)
        await writes.unlike_pin(stores, viewer.id, pin.id)
    await settle()
    for row in reversed(await stores.shards.outbox.pending(2**62, 100)):
        await fulfill(stores, change_of(row))
    assert await people.list(Mapping.PIN_LIKED_BY_USERS, pin.id) == []


async def _post(stores: Stores, shard: int, kind: str, payload: bytes) -> Job:
    async def work(tx: ShardTx) -> int:
        return await tx.post(kind, payload)

    return Job(shard, await stores.shards.objects.transact(shard, work))


@pytest.mark.parametrize(
    ("kind", "payload"),
    [("weather", b"{}"), (KIND, b"not json"), (KIND, b'{"tasks":[{"type":"FromTheFuture"}]}')],
)
async def test_a_row_that_this_version_cannot_read_is_parked_longer_from_time_to_time(
    place: Place, kind: str, payload: bytes
) -> None:
    outbox = place.stores.shards.outbox
    job = await _post(place.stores, 0, kind, payload)
    for attempts, seconds in enumerate((60, 120, 240, 480, 960, 1920, 3600), 1):
        before = now_ms()
        await run_job(place.stores, job)
        kept = await outbox.load(*job)
        assert kept is not None
        assert (kept.payload, kept.attempts) == (payload, attempts)
        assert await outbox.pending(before + seconds * 500 - 1, 9) == []  # the second half is drawn
        assert await outbox.pending(now_ms() + seconds * 1000 + 1, 9) == [kept]
        count, reason = await outbox.parked()
        assert count == 1
        assert f"outbox row {job.outbox_id} of shard 0" in reason
    await run_job(place.stores, job)  # the eighth time
    [aside] = await outbox.listing(9, parked=True)
    assert (aside.row.attempts, aside.due) == (8, None)
    assert await outbox.pending(2**62 - 1, 9) == []
    await run_job(place.stores, job)
    assert await outbox.listing(9, parked=False) == [aside]
    await outbox.revive(*job)
    assert await outbox.listing(9, parked=True) == []
    assert [row.id for row in await outbox.pending(2**62 - 1, 9)] == [job.outbox_id]
    await outbox.finish(*job)
    assert await outbox.parked() == (0, "")


async def test_a_job_with_a_fault_of_ours_is_parked_and_a_store_that_fails_parks_none(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = place.stores.shards.outbox
    task = BoardSecrecy(board_id=1, secret=True, at=0)
    job = await _post(place.stores, 0, KIND, encode(change(tasks=[task])))
    for attempts, fault in ((0, StoreUnavailable("gone")), (1, ZeroDivisionError())):

        async def fail(*_: object, fault: Exception = fault) -> None:
            raise fault

        monkeypatch.setitem(tasks.HANDLERS, "BoardSecrecy", fail)
        if attempts:
            await run_job(place.stores, job)
        else:
            with pytest.raises(StoreUnavailable):
                await run_job(place.stores, job)
        kept = await outbox.load(*job)
        assert kept is not None
        assert kept.attempts == attempts
    assert await outbox.parked() == (1, "ZeroDivisionError")
    await outbox.finish(*job)


async def test_the_relay_tells_of_parked_rows_once(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = [await _post(place.stores, shard, "weather", b"{}") for shard in (0, 0, 1)]
    seen = asyncio.Event()
    rounds = 0

    async def pause(seconds: float) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            for job in jobs:
                await run_job(place.stores, job)
        if rounds == 3 * TELL_EVERY:
            for job in jobs:
                await place.stores.shards.outbox.finish(*job)
        if rounds == 5 * TELL_EVERY:
            seen.set()
            await asyncio.Event().wait()

    with caplog.at_level(logging.INFO, "feed_engine.outbox.relay"):
        task = asyncio.ensure_future(relay(place.stores, older_than=3600, sleep=pause))
        await seen.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    told, ended = [record.getMessage() for record in caplog.records]
    assert told.startswith("3 outbox rows can't be done and are parked, one because: outbox row ")
    assert ended == "no outbox row is parked any more"


async def test_a_job_interrupted_at_any_moment_goes_on_where_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, people, _ = place
    monkeypatch.setattr(board_tasks, "CHUNK", 2)
    owner, interest = await people.user(), await people.interest()
    boards = [await people.board(owner) for _ in range(2)]
    pins = [await people.pin(boards[number % 2], interest) for number in range(14)]
    await drain(stores)
    secret, public = writes.BoardChange(secret=True), writes.BoardChange(secret=False)
    for moments in range(5, 150, 12):
        await writes.update_board(stores, owner.id, boards[0].id, secret)
        await writes.update_board(stores, owner.id, boards[0].id, public)
        await writes.update_board(stores, owner.id, boards[0].id, secret)
        await settle()
        jobs = [Job(r.shard, r.id) for r in await stores.shards.outbox.pending(2**62, 100)]
        for job in jobs:
            task = asyncio.ensure_future(run_job(stores, job))
            for _ in range(moments):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await drain(stores)
        assert await audit(stores) == []
    shown = [pin.id for pin in reversed(pins) if pin.board_id == boards[1].id]
    assert await people.list(Mapping.USER_HAS_PUBLIC_PINS, owner.id) == shown


async def test_a_saved_cursor_is_handed_to_its_task(place: Place) -> None:
    """Pins above the cursor are not read again."""
    stores, people, _ = place
    owner = await people.user()
    board = await people.board(owner)
    first, second = await people.pin(board), await people.pin(board)
    await drain(stores)
    rows = await people.rows(Mapping.USER_HAS_PUBLIC_PINS, owner.id)

    async def hide(tx: ShardTx) -> None:
        for row in rows:
            hidden = row._replace(version=row.version + 1, active=False)
            await tx.put_edge(Mapping.USER_HAS_PUBLIC_PINS, hidden)

    await stores.shards.objects.transact(shard_of(owner.id), hide)
    await stores.mapping_cache.drop([ListKey(Mapping.USER_HAS_PUBLIC_PINS, owner.id)])
    change_board = writes.BoardChange
    await writes.update_board(stores, owner.id, board.id, change_board(secret=True))
    await writes.update_board(stores, owner.id, board.id, change_board(secret=False))
    await settle()
    saved: list[bytes] = []

    async def advance(cursor: bytes) -> None:
        saved.append(cursor)

    task = BoardSecrecy(board_id=board.id, secret=False, at=0)
    await board_tasks.board_secrecy(stores, task, str(first.id).encode(), advance)
    assert await people.list(Mapping.USER_HAS_PUBLIC_PINS, owner.id) == [second.id]
    await drain(stores)
    assert await people.list(Mapping.USER_HAS_PUBLIC_PINS, owner.id) == [second.id, first.id]


async def test_the_relay_feeds_the_queue_with_old_rows_only(place: Place) -> None:
    stores, people, _ = place
    viewer = await people.user()
    await drain(stores)
    depth = await stores.queue.depth()
    edge = Edge(viewer.id, viewer.id + 1, 1, 1)
    payload = encode(change(lists=[ListKey(Mapping.USER_LIKES_PINS, edge.from_id)]))
    job = await _post(stores, shard_of(viewer.id), KIND, payload)
    assert await relay_once(stores, older_than=3600) == 0
    assert await stores.queue.depth() == depth
    assert await relay_once(stores, older_than=-1) == 1
    assert await relay_once(stores, older_than=-1) == 1
    assert await stores.queue.depth() == depth + 1

    done = asyncio.Event()

    async def run(found: Job) -> None:
        await run_job(stores, found)
        if found == job:
            done.set()

    worker = asyncio.ensure_future(stores.queue.work(run))
    await done.wait()
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert await stores.shards.outbox.load(*job) is None


async def test_the_relay_survives_a_queue_that_is_down_and_says_so_once(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    stores, _, valkey = place
    await _post(stores, 0, KIND, encode(change(objects=[1])))
    await valkey.stop()
    waits: list[float] = []
    seen = asyncio.Event()

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 4:
            await valkey.start()
        if len(waits) == 6:
            seen.set()
            await asyncio.Event().wait()

    with caplog.at_level(logging.INFO, "feed_engine.outbox.relay"):
        work = relay(stores, every=1.0, older_than=-1, sleep=pause, draw=max)
        task = asyncio.ensure_future(work)
        await seen.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert waits[:4] == [2.0, 4.0, 8.0, 16.0]
    assert waits[-1] == 1.0
    assert len([r for r in caplog.records if r.levelno == logging.WARNING]) == 1


async def test_relays_that_began_together_do_not_ask_together(place: Place) -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise asyncio.CancelledError

    draws = iter([0.6, 0.9, 0.7])
    work = relay(place.stores, every=1.0, sleep=pause, draw=lambda low, high: next(draws))
    with pytest.raises(asyncio.CancelledError):
        await work
    assert waits == [0.6, 0.9, 0.7]


async def test_an_unreachable_queue_does_not_keep_a_write_from_its_answer(place: Place) -> None:
    """The relay finds the row later. The mapping cache is on the same server, so the write changes
    no list."""
    stores, people, valkey = place
    owner = await people.user()
    pin = await people.pin(await people.board(owner))
    await settle()
    await valkey.stop()
    change_title = writes.PinChange(title="new title")
    assert (await writes.update_pin(stores, owner.id, pin.id, change_title)).title == "new title"
    with pytest.raises(StoreError):
        await stores.queue.ping()
