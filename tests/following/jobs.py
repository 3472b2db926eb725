"""Runs the outbox's jobs with the caps of a test."""

from datasources.protocols import Job, OutboxRow, Stores
from feed_engine.feeds.settings import FeedSettings
from feed_engine.outbox.change import KIND, decode
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.outbox.tasks import HANDLERS, name_of
from tests.feeding import FEEDS


async def run_row(stores: Stores, row: OutboxRow, settings: FeedSettings) -> None:
    """Do the row's tasks, and leave the row. Raises StoreError."""
    for task in decode(row.payload).tasks:
        await HANDLERS[name_of(task)](stores, task, None, _nowhere, settings=settings)  # type: ignore[call-arg]


async def finish_row(stores: Stores, row: OutboxRow, settings: FeedSettings) -> None:
    """Do the row's tasks and remove it. Raises StoreError."""
    names = {name_of(task) for task in decode(row.payload).tasks} if row.kind == KIND else set()
    if names and names <= FEEDS:
        await run_row(stores, row, settings)
        await stores.shards.outbox.finish(row.shard, row.id)
    else:
        await run_job(stores, Job(row.shard, row.id))


async def drain(stores: Stores, settings: FeedSettings) -> None:
    """Run jobs until nothing is left to do."""
    await settle()
    while rows := await stores.shards.outbox.pending(2**62, 1000):
        for row in rows:
            await finish_row(stores, row, settings)
        await settle()


async def _nowhere(cursor: bytes) -> None: ...
