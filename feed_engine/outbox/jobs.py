"""Does the work of an outbox row: the rest of its write, then its task.

Each task of a row with several tasks gets a row (`feed_engine.outbox.row_split`). A task's progress
is stored in the row, so a killed job resumes there. A task that runs twice does no harm.
"""

import logging
from collections.abc import Mapping

import msgspec

from datasources.errors import StoreCorrupt, StoreError, StoreUnavailable
from datasources.outages import backoff
from datasources.protocols import Job, OutboxRow, Stores
from datasources.recording import current, parse_traceparent
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.outbox import newest_first
from feed_engine.outbox.change import KIND, Advance, Handler, WholeRow
from feed_engine.outbox.completion import announce, change_of, fulfill
from feed_engine.outbox.newest_first import Progress, doing, is_late, newest_to_do
from feed_engine.outbox.row_split import split
from feed_engine.outbox.tasks import handlers, name_of
from feed_engine.related.walks import Walks

log = logging.getLogger(__name__)

FIRST_DELAY, LAST_DELAY = 60.0, 3600.0  # seconds until a parked row is tried again
SET_ASIDE_AFTER = 8
"""Attempts, over about two hours. Retries will not help such a row: it is set aside until a person
looks at it (`pinway jobs`)."""


async def run_job(
    stores: Stores,
    job: Job,
    *,
    settings: FeedSettings = DEFAULTS,
    walks: Walks | None = None,
) -> None:
    """Complete a row and remove it. Raises StoreError when that can't be done now: the row stays,
    and the job is run again.

    A row that this version can't read or do is parked, each time for longer: a later version may be
    able to do it. In the end it is set aside.
    """
    row = await stores.shards.outbox.load(job.shard, job.outbox_id)
    if row is None or row.attempts >= SET_ASIDE_AFTER:
        return
    does, late = handlers(settings, walks), False
    for _ in range(newest_first.IN_PLACE):
        async with newest_to_do(stores, row) as newer:
            if newer is None:
                break
            await _try(stores, newer, does)
            late = True
    if late and (row := await stores.shards.outbox.load(job.shard, job.outbox_id)) is None:
        return  # another job did this row in place of its own
    if await is_late(stores, row):
        raise StoreUnavailable("newer fan-outs to the side that was away go first")
    with doing(stores, row):
        await _try(stores, row, does)


async def _try(stores: Stores, row: OutboxRow, does: Mapping[str, Handler]) -> None:
    try:
        await _complete(stores, row, does)
    except StoreCorrupt as error:
        log.debug("%s; the row is parked", error)  # the relay logs the number of parked rows
        await _park(stores, row, error)
    except StoreError:
        raise
    except Exception as error:
        log.exception("outbox row %d of shard %d failed; it is parked", row.id, row.shard)
        await _park(stores, row, error)


async def _complete(stores: Stores, row: OutboxRow, does: Mapping[str, Handler]) -> None:
    if row.kind != KIND and row.kind in does:
        await does[row.kind](stores, WholeRow(row), row.cursor, _advance(stores, row))
        return
    change, progress = change_of(row), _progress(row)
    if (span := current()) is not None and change.traceparent:
        span.recording.link = parse_traceparent(change.traceparent)
    unknown = [task for task in change.tasks if name_of(task) not in does]
    if unknown:
        raise StoreCorrupt(f"outbox row {row.id} of shard {row.shard}: no job for {unknown[0]}")
    if row.cursor is None:
        await fulfill(stores, change)
        await announce(stores, row, change)
    if len(change.tasks) > 1:
        await split(stores, row, change, progress)
        return
    for task in change.tasks[progress.task :]:
        await does[name_of(task)](stores, task, progress.cursor, _advance(stores, row))
    await stores.shards.outbox.finish(row.shard, row.id)


async def _park(stores: Stores, row: OutboxRow, error: Exception) -> None:
    delay = backoff(FIRST_DELAY, row.attempts + 1, LAST_DELAY)
    last = row.attempts + 1 >= SET_ASIDE_AFTER
    reason = str(error) or type(error).__name__
    await stores.shards.outbox.park(row, reason, None if last else int(delay * 1000))


def _progress(row: OutboxRow) -> Progress:
    if row.cursor is None:
        return Progress()
    try:
        return msgspec.json.decode(row.cursor, type=Progress)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"outbox row {row.id} of shard {row.shard}: {error}") from error


def _advance(stores: Stores, row: OutboxRow) -> Advance:
    async def advance(cursor: bytes) -> None:
        progress = msgspec.json.encode(Progress(0, cursor))
        await stores.shards.outbox.advance(row.shard, row.id, progress)

    return advance
