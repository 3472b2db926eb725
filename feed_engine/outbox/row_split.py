"""Gives each task of an outbox row a row of its own, so that a failing task does not delay other
tasks.

A write posts one row for all its work, in its own transaction. A repin, for example, has two tasks:
publish the new pin, and count the repin. The first job of such a row completes the write and splits
the row. Earlier versions ran the tasks in order and stopped at the first failure. A row that an
earlier version began continues at the task that it had reached.
"""

import msgspec

from datasources.protocols import Job, OutboxRow, ShardTx, Stores
from feed_engine.outbox.change import KIND, Change, change, encode
from feed_engine.outbox.completion import keep
from feed_engine.outbox.newest_first import Progress
from feed_engine.outbox.priorities import of_tasks


async def split(stores: Stores, row: OutboxRow, whole: Change, progress: Progress) -> None:
    """Replace a row by a row for each of its tasks that is not done, and queue their jobs."""
    tasks = whole.tasks[progress.task :]

    async def replace(tx: ShardTx) -> list[int]:
        if await tx.owed(row.id) is None:
            return []  # another job did it
        ids = []
        for task in tasks:
            alone = msgspec.structs.replace(change(tasks=[task]), traceparent=whole.traceparent)
            ids.append(await tx.post(KIND, encode(alone)))
        if ids and progress.cursor is not None:
            await tx.advance(ids[0], msgspec.json.encode(Progress(0, progress.cursor)))
        await tx.finish_row(row.id)
        return ids

    ids = await stores.shards.objects.transact(row.shard, replace)
    jobs: dict[str, list[Job]] = {}
    for task, id in zip(tasks, ids, strict=False):
        jobs.setdefault(of_tasks([task]), []).append(Job(row.shard, id))
    for priority, some in jobs.items():
        keep(stores.queue.enqueue(some, priority=priority))
