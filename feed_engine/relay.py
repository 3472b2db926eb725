"""Feeds the queue from outbox rows that are left: what a dead process or a lost queue forgot."""

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable

from datasources.errors import StoreError
from datasources.protocols import Job, Stores

log = logging.getLogger(__name__)

ROWS = 1000  # at a time; the queue holds each job once, however often it is fed
LONGEST = 60.0  # seconds between two tries while a store is down
TELL_EVERY = 12  # rounds


async def relay(
    stores: Stores,
    *,
    every: float = 5.0,
    older_than: float = 10.0,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Run `relay_once` every so many seconds until cancelled. While a store fails, it waits longer
    from try to try, and says so once; so it does when rows were parked."""
    failures = parked = 0
    for rounds in itertools.count():
        try:
            await relay_once(stores, older_than=older_than)
            if rounds % TELL_EVERY == 0:
                parked = await _tell_parked(stores, parked)
        except StoreError as error:
            failures += 1
            if failures == 1:
                log.warning("the outbox can't be relayed, trying again: %s", error)
        else:
            if failures:
                log.info("the outbox is relayed again after %d failures", failures)
            failures = 0
        await sleep(min(every * 2 ** min(failures, 16), max(LONGEST, every)))


async def relay_once(stores: Stores, *, older_than: float) -> int:
    """Queue a job for every row that has been due for so many seconds; how many. Those younger are
    most likely being completed by the request that wrote them."""
    before = time.time_ns() // 1_000_000 - int(older_than * 1000)
    rows = await stores.shards.outbox.pending(before, ROWS)
    if rows:
        await stores.queue.enqueue([Job(row.shard, row.id) for row in rows])
    return len(rows)


async def _tell_parked(stores: Stores, told: int) -> int:
    """Log how many rows are parked, if it is another number than was told."""
    count, reason = await stores.shards.outbox.parked()
    if count and count != told:
        log.warning("%d outbox rows can't be done and are parked, one because: %s", count, reason)
    elif told and not count:
        log.info("no outbox row is parked any more")
    return count
