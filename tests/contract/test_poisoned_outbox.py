"""Work that can't be done, however much of it, keeps none that can be done waiting."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Job, ShardTx, Stores
from datasources.sql.shards import SqlShards
from datasources.streaq import StreaqQueue
from datasources.valkey import ValkeyServer
from feed_engine.outbox import jobs
from feed_engine.outbox.change import KIND, change, encode
from feed_engine.outbox.jobs import run_job
from feed_engine.outbox.relay import ROWS
from tests.contract.shards import Deployment, fresh_id
from tests.contract.test_outbox import empty
from tests.embedded_stores import embedded_config, embedded_stores
from tests.relay_page import relay_once

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stores(shards: SqlShards, tmp_path: Path) -> AsyncIterator[Stores]:
    """The shards of each backend, with a queue for this test only. Its deadline is a long one: the
    relay leaves a page of rows whose queue is slow to a later round, and the test makes no other.
    """
    async with (
        ValkeyServer(tmp_path) as valkey,
        embedded_stores(embedded_config(tmp_path, valkey)) as embedded,
    ):
        queue = StreaqQueue(valkey.url(1), deadline=300.0)
        try:
            await empty(shards)
            yield embedded._replace(shards=shards, queue=queue)
            await empty(shards)
        finally:
            await queue.close()


async def test_more_unreadable_rows_than_are_relayed_at_a_time_keep_no_other_waiting(
    deployment: Deployment, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A parked row is due again after half a minute, which is short beside other work.
    for delay in ("FIRST_DELAY", "LAST_DELAY"):
        monkeypatch.setattr(jobs, delay, 1e6)
    shard = deployment.shard(8)
    poison = ROWS + 50

    async def write(tx: ShardTx) -> int:
        for _ in range(poison):
            await tx.post("weather", b"{}")
        key = ListKey(Mapping.USER_LIKES_PINS, fresh_id(Kind.USER, shard))
        return await tx.post(KIND, encode(change(lists=[key])))

    good = Job(shard, await stores.shards.objects.transact(shard, write))
    ran: set[Job] = set()
    progress = asyncio.Condition()

    async def run(job: Job) -> None:
        await run_job(stores, job)
        async with progress:
            ran.add(job)
            progress.notify_all()

    worker = asyncio.ensure_future(stores.queue.work(run, concurrency=32))
    try:
        async with asyncio.timeout(600), progress:
            assert await relay_once(stores, older_than=-1) == ROWS
            await progress.wait_for(lambda: len(ran) == ROWS)
            assert good not in ran
            assert await relay_once(stores, older_than=-1) == poison + 1 - ROWS
            await progress.wait_for(lambda: good in ran and len(ran) == poison + 1)
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    assert await stores.shards.outbox.load(*good) is None
    count, reason = await stores.shards.outbox.parked()
    assert count == poison
    assert "unknown kind 'weather'" in reason
