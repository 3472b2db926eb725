"""Forgets answers kept under idempotency keys, and visits, when their time is over."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from datasources.errors import StoreError
from datasources.protocols import Stores
from feed_engine.feeds import epoch_ms

log = logging.getLogger(__name__)

BATCH = 100  # rows of a shard at a time
DAY = 24 * 3600 * 1000  # ms


async def expire(
    stores: Stores,
    *,
    answers_days: int,
    visits_days: int,
    every: float = 600.0,
    pause: float = 0.1,
    clock: Callable[[], int] = epoch_ms,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Run until cancelled: every so many seconds, small batches with a pause after each, until
    nothing is left that is too old. A store that fails is tried again the next time."""
    while True:
        try:
            while await expire_batch(stores, answers_days, visits_days, clock()):
                await sleep(pause)
        except StoreError as error:
            log.info("what is too old could not all be forgotten: %s", error)
        await sleep(every)


async def expire_batch(stores: Stores, answers_days: int, visits_days: int, now: int) -> int:
    """Forget up to BATCH answers and BATCH visits of each shard that are older; how many."""
    answers = await stores.shards.expiry.answers(now - answers_days * DAY, BATCH)
    return answers + await stores.shards.expiry.visits(now - visits_days * DAY, BATCH)
