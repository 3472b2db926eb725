"""Queues the jobs of outbox rows that a dead process or a lost queue left behind.

The relay walks through all due rows, a page at a time, and starts again at the end. Rows that can't
be done at present (their store is down) stay due. If the relay took the longest due rows each time,
it would relay the same page again and again, and never reach the rows after it.

Each round reads a bounded number of shards of each server (`datasources.sql.turns`), so the cost of
a round does not grow with the shards. The time until a row is relayed grows: with 4,096 shards on
one server, the relay comes to each of them every 16 rounds.
"""

import asyncio
import itertools
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from datasources.clocks import now_ms
from datasources.errors import StoreCorrupt, StoreError
from datasources.outages import Outages, backoff
from datasources.protocols import NORMAL, PRIORITIES, Job, JobQueue, OutboxRow, Places, Stores
from feed_engine.outbox.completion import change_of
from feed_engine.outbox.priorities import of_tasks

log = logging.getLogger(__name__)

ROWS = 1000  # rows in a page; the queue holds each job once, however often it is queued
LONGEST = 60.0  # seconds between two attempts while the queue is down
TELL_EVERY = 12  # rounds between two log lines
NEXT_PAGE = 0.1  # of the time between two rounds: the wait after a full page
ALL = "all servers"


class Relayed(NamedTuple):
    """The number of relayed rows, the places where the walk continues (empty: at the start), and
    the error of each server whose rows could not be read."""

    rows: int
    behind: Places
    lost: Mapping[str, StoreError]


async def relay(
    stores: Stores,
    *,
    every: float = 5.0,
    older_than: float = 10.0,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    draw: Callable[[float, float], float] = random.uniform,
) -> None:
    """Relay a page, of the shards of one turn, every `every` seconds until cancelled; after a full
    page, the next page follows sooner. While the queue or all servers fail, the waits grow. If one
    server fails, only its own rows wait. The second half of each wait is random, so that processes
    which started together don't call together. Outages and parked rows are logged once."""
    outages = Outages(log, "the outbox of {} can't be relayed")
    failures = parked = turn = 0
    behind: Places = {}
    for rounds in itertools.count():
        wait = backoff(every, 1, every, draw)
        try:
            done = await relay_page(stores, older_than=older_than, behind=behind, turn=turn)
            behind = done.behind
            outages.only(done.lost)
            if behind:
                wait = every * NEXT_PAGE
            else:
                turn += 1
            if rounds % TELL_EVERY == 0:
                parked = await _tell_parked(stores, parked)
        except StoreError as error:
            failures += 1
            outages.failed(ALL, error)
            wait = backoff(every, failures + 1, max(LONGEST, every), draw)
        else:
            failures = 0
        await sleep(wait)


async def relay_page(
    stores: Stores, *, older_than: float, behind: Places, turn: int | None = None
) -> Relayed:
    """Queue a job for each row of the page after a place, if the row has been due for `older_than`
    seconds. Younger rows are most likely being completed by the request that wrote them. See
    `Outbox.due` for `turn`."""
    before = now_ms() - int(older_than * 1000)
    due = await stores.shards.outbox.due(before, ROWS, behind=behind, turn=turn)
    if due.rows:
        await _enqueue(stores.queue, due.rows)
    return Relayed(len(due.rows), due.read_to if len(due.rows) == ROWS else {}, due.lost)


async def _tell_parked(stores: Stores, told: int) -> int:
    """Log how many rows are parked, if the number changed. Returns the number."""
    count, reason = await stores.shards.outbox.parked()
    if count and count != told:
        log.warning("%d outbox rows can't be done and are parked, one because: %s", count, reason)
    elif told and not count:
        log.info("no outbox row is parked any more")
    return count


async def _enqueue(queue: JobQueue, rows: Sequence[OutboxRow]) -> None:
    """Queue a job for each row, with its priority."""
    by_priority: dict[str, list[Job]] = {}
    for row in rows:
        by_priority.setdefault(_priority(row), []).append(Job(row.shard, row.id))
    for priority in PRIORITIES:
        if jobs := by_priority.get(priority):
            await queue.enqueue(jobs, priority=priority)


def _priority(row: OutboxRow) -> str:
    try:
        return of_tasks(change_of(row).tasks)
    except StoreCorrupt:
        return NORMAL
