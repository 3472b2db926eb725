"""Runs the outbox's jobs with the caps of a test, and fan-outs in small pages and batches."""

from typing import Any

from datasources.protocols import Job, OutboxRow, Stores
from feed_engine.feeds.settings import FeedSettings
from feed_engine.outbox.change import KIND, decode
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.outbox.tasks import HANDLERS, name_of
from tests.feeds import FEEDS

PAGED = {"PinPublished", "PinArrived", "FanOutBatch"}
"""Tasks that page through followers."""
AGAIN = FEEDS | {"BoardSecrecy", "BoardDeleted"}
"""Tasks that may run here without their row, repeated or partially."""


async def run_row(
    stores: Stores, row: OutboxRow, settings: FeedSettings, batch: int | None = None
) -> None:
    """Do the row's tasks, and leave the row. Causes with more followers than `batch` are left to
    batches. Raises StoreError."""
    for task in decode(row.payload).tasks:
        name = name_of(task)
        given: dict[str, Any] = {"settings": settings} if name in FEEDS else {}
        if batch is not None and name in PAGED:
            given["page"] = 2
            if name == "PinPublished":
                given["batch"] = batch
        await HANDLERS[name](stores, task, None, _nowhere, **given)


async def finish_row(
    stores: Stores, row: OutboxRow, settings: FeedSettings, batch: int | None = None
) -> None:
    """Do the row's task and remove the row. Each of several tasks gets a row. Raises StoreError."""
    names = [name_of(task) for task in decode(row.payload).tasks] if row.kind == KIND else []
    if len(names) == 1 and names[0] in FEEDS:
        await run_row(stores, row, settings, batch)
        await stores.shards.outbox.finish(row.shard, row.id)
    else:
        await run_job(stores, Job(row.shard, row.id))


def may_repeat(row: OutboxRow) -> bool:
    """Whether the row's tasks may be run here without their row."""
    return row.kind == KIND and {name_of(task) for task in decode(row.payload).tasks} <= AGAIN


async def drain(stores: Stores, settings: FeedSettings) -> None:
    """Run jobs until none is left."""
    await settle()
    while rows := await stores.shards.outbox.pending(2**62, 1000):
        for row in rows:
            await finish_row(stores, row, settings)
        await settle()


async def _nowhere(cursor: bytes) -> None: ...
