"""Deletes old answers kept under idempotency keys, old visits, old events, old notifications, old
cases of reports, and old counts of quotas."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from datasources.clocks import now_ms
from datasources.errors import StoreError
from datasources.outages import Outages
from datasources.protocols import Forgotten, Stores
from feed_engine.outbox.relay import ALL
from feed_engine.times import DAY

log = logging.getLogger(__name__)

ANSWERS_DAYS = 7
"""Days that the answer to a mutation with an idempotency key is kept. After that, the same input is
a new write."""
VISITS_DAYS = 30
"""Days that a visit of a home feed is kept. After that, its name begins a new visit; its cursors
still continue its pages."""
EVENTS_DAYS = 30
"""Days that an event of a viewer is kept."""
NOTIFICATIONS_DAYS = 90
"""Days that a notification is kept, read or not."""
CASES_DAYS = 365
"""Days that a decided case is kept, with its reports and decisions. An open case stays."""
CASES = 10  # of a shard in one transaction: a case has many reports
BATCH = 100  # rows of a shard in one transaction


async def expire(
    stores: Stores,
    *,
    answers_days: int = ANSWERS_DAYS,
    visits_days: int = VISITS_DAYS,
    every: float = 600.0,
    pause: float = 0.1,
    clock: Callable[[], int] = now_ms,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Run until cancelled. Every `every` seconds, delete small batches with a pause after each,
    until nothing is left that is too old. A server that fails is tried again with the next batch,
    and does not delay the other servers."""
    outages = Outages(log, "what is too old can't be forgotten on {}")
    while True:
        try:
            while True:
                rows, lost = await expire_batch(stores, answers_days, visits_days, clock())
                outages.only(lost)
                if not rows:
                    break
                await sleep(pause)
        except StoreError as error:
            outages.failed(ALL, error)
        await sleep(every)


async def expire_batch(stores: Stores, answers_days: int, visits_days: int, now: int) -> Forgotten:
    """Delete up to BATCH answers, visits, events, notifications and counts of quotas, and CASES
    cases, of each shard that are older. The counts of yesterday stay: the clock of another host may
    be late."""
    answers = await stores.shards.expiry.answers(now - answers_days * DAY, BATCH)
    visits = await stores.shards.expiry.visits(now - visits_days * DAY, BATCH)
    quotas = await stores.shards.expiry.quotas(now // DAY * DAY - DAY, BATCH)
    events = await stores.shards.expiry.events(now // DAY * DAY - EVENTS_DAYS * DAY, BATCH)
    notifications = await stores.shards.expiry.notifications(now - NOTIFICATIONS_DAYS * DAY, BATCH)
    cases = await stores.shards.expiry.reports(now - CASES_DAYS * DAY, CASES)
    parts = (answers, visits, quotas, events, notifications, cases)
    lost = {server: error for part in parts for server, error in part.lost.items()}
    return Forgotten(sum(part.rows for part in parts), lost)
