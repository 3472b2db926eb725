"""The hand-over of a visit's chunk from the pools to the materialized feed.

First the chunk is written to both sides of the materialized feed, then its pins are removed from
both sides of the pools, and only then is the visit marked as saved. A job that is killed and runs
again produces the same state: every write is stamped with the visit's time, and the pins that are
removed are the pins that are marked as shown.

A visit that found many dead pins has its job sweep the pools: dead pins would keep the next visits
from the live pins below them.

Removing pins from the pools costs most, and costs the same for one visit or many. So a job hands
over all unsaved visits of its user. After an outage, the first job of each user leaves little to
the user's other jobs.
"""

import asyncio
from collections.abc import Sequence

from datasources.protocols import Stores
from feed_engine.feeds import visits
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import materialized, pools
from feed_engine.outbox.change import Advance, VisitShown
from feed_engine.times import DAY

TRIM_EVERY = 8  # visits
FORGET_EVERY = 64  # visits; all marks of the user's shown pins are read then


async def visit_shown(
    stores: Stores,
    task: VisitShown,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Save the user's chunks, and remove their pins from the pools."""
    told = await visits.recent(stores, task.user_id)
    # `told` has all unsaved visits
    unsaved = [visit for visit in reversed(told) if not visit.saved]
    if all(visit.generation != task.generation for visit in unsaved):
        return
    for visit in unsaved:  # oldest first: a pin that was chosen again leaves the earlier visit
        at = max(1, visit.created)
        chunk = visit.chunk
        roots = chunk.roots.values()
        await materialized.save(stores.feeds, task.user_id, visit.generation, chunk.pins, at, roots)
    shown = _Shown(stores, task.user_id)
    await pools.take(stores.pools, task.user_id, shown.among, max(1, unsaved[-1].created))
    if any(visit.chunk.sweep for visit in unsaved):
        await pools.sweep(stores, task.user_id)
    if any(visit.generation % TRIM_EVERY == 0 for visit in unsaved):
        await materialized.trim(stores.feeds, task.user_id, settings.materialized_cap)
    if any(visit.generation % FORGET_EVERY == 0 for visit in unsaved):
        before = unsaved[-1].created - settings.shown_days * DAY
        await materialized.forget_shown(stores.feeds, task.user_id, before)
    for visit in unsaved:
        await stores.shards.visits.mark_saved(task.user_id, visit.generation)


class _Shown:
    """The pins that were shown to a user. Each pin is looked up once for both sides."""

    def __init__(self, stores: Stores, user_id: int) -> None:
        self._stores, self._user_id = stores, user_id
        self._asked: set[int] = set()
        self._shown: set[int] = set()
        self._lock = asyncio.Lock()

    async def among(self, pins: Sequence[int]) -> set[int]:
        async with self._lock:
            asked = list(set(pins) - self._asked)
            primary = self._stores.feeds.primary
            self._shown |= await materialized.shown_among(primary, self._user_id, asked)
            self._asked.update(asked)
        return self._shown.intersection(pins)
