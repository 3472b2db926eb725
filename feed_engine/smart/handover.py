"""The hand-over of a visit's chunk, from the pools to the materialised feed.

First the materialised feed of both sides gets the chunk, then the pools of both lose it, and only
then is the visit marked as saved. Killed anywhere and run again, it ends in the same state: every
write is stamped with the visit's time, and what is taken out is what is marked as shown.
"""

from collections.abc import Sequence

from datasources.protocols import Stores
from feed_engine import visits
from feed_engine.change import Advance, VisitShown
from feed_engine.feeds import DEFAULTS, FeedSettings
from feed_engine.smart import materialized, pools

TRIM_EVERY = 8  # visits


async def visit_shown(
    stores: Stores,
    task: VisitShown,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Save the visit's chunk, and empty the pools of it."""
    told = await visits.recent(stores, task.user_id)
    visit = next((v for v in told if v.generation == task.generation), None)
    if visit is None or visit.saved:  # all that are not saved are told
        return
    at = max(1, visit.created)
    await materialized.save(stores.feeds, task.user_id, task.generation, visit.chunk.pins, at)

    async def shown(pins: Sequence[int]) -> set[int]:
        return await materialized.shown_among(stores.feeds.primary, task.user_id, pins)

    await pools.take(stores.pools, task.user_id, shown, at)
    if task.generation % TRIM_EVERY == 0:
        await materialized.trim(stores.feeds, task.user_id, settings.materialized_cap)
    await stores.shards.visits.mark_saved(task.user_id, task.generation)
