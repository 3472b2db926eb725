"""The hand-over of a visit's chunk from the pools to the materialized feed.

First the chunk is written to both sides of the materialized feed, then its pins are removed from
both sides of the pools, and only then is the visit marked as saved. A job that is killed and runs
again produces the same state: every write is stamped with the visit's time, and the pins that are
removed are the pins that are marked as shown.

The chunk names its pins' cells in the pools, and the job removes exactly these. A visit that found
many useless pins has its job sweep the pools, and so does each SWEEP_EVERY-th visit: dead pins, and
shown pins that a job has put back, would keep the next visits from the pins below them.

A job hands over all unsaved visits of its user. After an outage, the first job of each user leaves
little to the user's other jobs.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from datasources.protocols import Stores
from feed_engine.feeds import visits
from feed_engine.feeds.rows import Source
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import materialized, pools
from feed_engine.feeds.smart.late import bring_late
from feed_engine.feeds.visits import Remembered
from feed_engine.outbox.change import Advance, VisitShown
from feed_engine.times import DAY

TRIM_EVERY = 8  # visits
SWEEP_EVERY = 16  # visits
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
    await _empty_pools(stores, task.user_id, unsaved)
    if any(visit.generation % TRIM_EVERY == 0 for visit in unsaved):
        await materialized.trim(stores.feeds, task.user_id, settings.materialized_cap)
    if any(visit.generation % FORGET_EVERY == 0 for visit in unsaved):
        before = unsaved[-1].created - settings.shown_days * DAY
        await materialized.forget_shown(stores.feeds, task.user_id, before)
    for visit in unsaved:
        await stores.shards.visits.mark_saved(task.user_id, visit.generation)


async def _empty_pools(stores: Stores, user_id: int, unsaved: Sequence[Remembered]) -> None:
    """Remove the chunks' pins from the pools."""
    at = max(1, *(visit.created for visit in unsaved))
    columns: dict[Source, list[bytes]] = defaultdict(list)
    for visit in unsaved:
        for source, named in (visit.chunk.cells or {}).items():
            columns[Source(source)] += named
    if any(_sweeps(visit) for visit in unsaved):
        shown = _Shown(stores, user_id).among
        await pools.sweep(stores, user_id, shown, at)
        await bring_late(stores, user_id, unsaved[-1].chunk.spans, shown, at)
    elif columns:
        await pools.take(stores.pools, user_id, columns, at)


def _sweeps(visit: Remembered) -> bool:
    # Earlier versions named no cells.
    regular = visit.generation % SWEEP_EVERY == 0
    return regular or visit.chunk.sweep or (visit.chunk.cells is None and visit.chunk.pins != ())


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
