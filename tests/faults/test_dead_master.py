"""One failing master: the relay, the expiry and lists of reports continue for the other masters'
shards."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from datasources.errors import StoreError, StoreUnavailable
from datasources.ids import Kind, shard_of
from datasources.protocols import Answer, Job, Report, ReportReason, ShardTx, Stores
from datasources.sql.shards import SqlShards
from datasources.valkey import ValkeyServer
from feed_engine.outbox.expiry import expire_batch
from feed_engine.outbox.relay import ROWS, relay, relay_page
from gateway.operate.reports import list_cases
from tests.contract.shards import Deployment, fresh_id
from tests.contract.test_expiry import empty as forget_all
from tests.contract.test_outbox import empty
from tests.embedded_stores import embedded_config, embedded_stores

pytestmark = pytest.mark.anyio


@pytest.fixture
async def half_dead(
    deployment: Deployment, shards: SqlShards, tmp_path: Path
) -> AsyncIterator[Stores]:
    """Stores with a queue for this test only, and shards whose second server can't be reached."""
    await empty(shards)
    await forget_all(shards)
    dead = deployment.topology.shards[1].master
    address = {"sqlite": "sqlite:///nowhere/at/all", "mysql": "mysql://127.0.0.1:1"}
    servers = {**deployment.topology.servers, dead: address[deployment.backend]}
    store = deployment.open(msgspec.structs.replace(deployment.topology, servers=servers))
    async with (
        ValkeyServer(tmp_path) as valkey,
        embedded_stores(embedded_config(tmp_path, valkey)) as embedded,
    ):
        yield embedded._replace(shards=store)
    await store.close()
    await empty(shards)


async def post(shards: SqlShards, shard: int, rows: int) -> list[int]:
    async def work(tx: ShardTx) -> list[int]:
        return [await tx.post("change", b"%d" % n) for n in range(rows)]

    return await shards.objects.transact(shard, work)


class Fed:
    """A queue that records the queued jobs."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def enqueue(self, jobs: list[Job], *, priority: str) -> None:
        self.jobs += jobs


def fed(stores: Stores) -> tuple[Stores, Fed]:
    queue: Any = Fed()
    return stores._replace(queue=queue), queue


async def test_the_rows_of_living_servers_are_relayed(
    deployment: Deployment, shards: SqlShards, half_dead: Stores
) -> None:
    living, dead = deployment.shard(0), deployment.shard(1)
    await post(shards, dead, 2)
    ids = await post(shards, living, 3)
    stores, queue = fed(half_dead)
    done = await relay_page(stores, older_than=-1, behind={})
    assert queue.jobs == [Job(living, id) for id in ids]
    assert set(done.lost) == {deployment.topology.shards[1].master}
    assert (await half_dead.shards.outbox.parked()).rows == 0
    with pytest.raises(StoreError):
        await half_dead.shards.outbox.pending(2**62, 10)


async def test_the_relay_keeps_its_pace_and_logs_the_outage_once(
    half_dead: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []
    done = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 4:
            done.set()
            await asyncio.Event().wait()

    with caplog.at_level(logging.INFO, "feed_engine.outbox.relay"):
        work = relay(half_dead, every=5.0, older_than=-1, sleep=sleep, draw=max)
        task = asyncio.ensure_future(work)
        await done.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert waits == [5.0] * 4
    assert len(caplog.records) == 1


async def test_what_is_too_old_is_forgotten_on_living_servers(
    deployment: Deployment, shards: SqlShards, half_dead: Stores
) -> None:
    living, dead = deployment.shard(0), deployment.shard(1)
    viewer = fresh_id(Kind.USER, living)

    async def save(tx: ShardTx) -> None:
        await tx.save_answer(viewer, "key", Answer(b"fingerprint", b"answer", None))

    while (await expire_batch(half_dead, -1, -1, 2**61)).rows:
        pass  # other tests of the servers left rows
    for shard in (living, dead):
        await shards.objects.transact(shard, save)
    gone = await expire_batch(half_dead, -1, -1, 2**61)
    assert gone.rows == 1
    assert set(gone.lost) == {deployment.topology.shards[1].master}
    assert await shards.objects.transact(living, lambda tx: tx.answered(viewer, "key")) is None
    assert await shards.objects.transact(dead, lambda tx: tx.answered(viewer, "key"))


async def test_rows_that_stay_due_keep_no_row_behind_them_waiting(
    deployment: Deployment, shards: SqlShards, half_dead: Stores
) -> None:
    """More than a page of rows whose work needs a dead store, and then one row whose work does
    not."""
    shard = deployment.shard(0)
    stuck = await post(shards, shard, ROWS + 5)
    [last] = await post(shards, shard, 1)
    stores, queue = fed(half_dead)
    first = await relay_page(stores, older_than=-1, behind={})
    assert queue.jobs == [Job(shard, id) for id in stuck[:ROWS]]
    queue.jobs.clear()
    second = await relay_page(stores, older_than=-1, behind=first.behind)
    assert queue.jobs == [Job(shard, id) for id in (*stuck[ROWS:], last)]
    assert second.behind == {}

    waits: list[float] = []
    done = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            done.set()
            await asyncio.Event().wait()

    queue.jobs.clear()
    task = asyncio.ensure_future(relay(stores, every=5.0, older_than=-1, sleep=sleep, draw=max))
    await done.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert waits == [0.5, 5.0, 0.5]
    assert set(queue.jobs) == {Job(shard, id) for id in (*stuck, last)}


async def test_a_queue_that_fails_loses_no_page(
    deployment: Deployment, shards: SqlShards, half_dead: Stores
) -> None:
    shard = deployment.shard(0)
    ids = await post(shards, shard, 3)
    stores, queue = fed(half_dead)
    enqueue, waits = queue.enqueue, list[float]()
    done = asyncio.Event()

    async def fail(jobs: list[Job], *, priority: str) -> None:
        queue.enqueue = enqueue  # type: ignore[method-assign]
        raise StoreUnavailable("no queue")

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            done.set()
            await asyncio.Event().wait()

    queue.enqueue = fail  # type: ignore[method-assign]
    task = asyncio.ensure_future(relay(stores, every=5.0, older_than=-1, sleep=sleep, draw=max))
    await done.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert waits == [10.0, 5.0]
    assert queue.jobs == [Job(shard, id) for id in ids]


async def test_reports_on_living_servers_are_listed_and_the_dead_server_is_named(
    deployment: Deployment, shards: SqlShards, half_dead: Stores
) -> None:
    living, dead = (fresh_id(Kind.PIN, deployment.shard(n)) for n in (0, 1))
    for pin in (living, dead):
        report = Report(pin, 1, ReportReason.SPAM, "", 3 * 10**12)  # nearly the newest
        await shards.objects.transact(shard_of(pin), lambda tx, it=report: tx.report(it))  # type: ignore[misc]
    asked = {"status": "open", "kind": None, "order": "newest", "limit": 100, "after": None}
    found = await list_cases(half_dead, asked)
    listed = [case["id"] for case in found["cases"]]
    assert str(living) in listed
    assert str(dead) not in listed
    assert set(found["unreachable"]) == {deployment.topology.shards[1].master}
