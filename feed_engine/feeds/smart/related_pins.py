"""Related pins: what a like or a repin adds to the viewer's pool of related pins.

At present, these are the newest pins on the liked pin's board and of its interests.
"""

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Pin
from datasources.together import together
from feed_engine.feeds.content import load_pins, newest_ids, public_pin
from feed_engine.feeds.rows import POOLS, PoolColumn, Source, pool_column, pool_row
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import scores
from feed_engine.feeds.smart.pools import why_of
from feed_engine.feeds.smart.popular import update_popularity
from feed_engine.feeds.wide import put_both, trim_both
from feed_engine.outbox.change import Advance, PinLiked

INTERESTS = 3  # interests of the liked pin that are searched, at most


async def pin_liked(
    stores: Stores,
    task: PinLiked,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Update the pin's popularity, and add to the viewer's pool of related pins. Only pins from
    before the like are used, so that a late job finds the same pins as a punctual job."""
    liked = await public_pin(stores, task.pin_id)
    if liked is None:
        return
    await together(
        [update_popularity(stores, [liked], settings), _add(stores, task, liked, settings)]
    )


async def _add(stores: Stores, task: PinLiked, liked: Pin, settings: FeedSettings) -> None:
    """Fill the viewer's pool of related pins."""
    beside = [ListKey(Mapping.BOARD_HAS_PINS, liked.board_id)]
    beside += [ListKey(Mapping.INTEREST_HAS_PINS, i) for i in liked.interest_ids[:INTERESTS]]
    found = await newest_ids(stores, beside, settings.related, until=task.at)
    pins = await load_pins(stores, (id for ids in found.values() for id in ids if id != liked.id))
    cells = {
        pool_column(PoolColumn(scores.related(pin.created, task.at), pin.id)): why_of(pin, liked.id)
        for pin in pins.values()
        if pin.owner_id != task.viewer_id
    }
    row = pool_row(task.viewer_id, Source.RELATED)
    await put_both(stores.pools, POOLS, {row: cells}, max(1, task.at))
    await trim_both(stores.pools, POOLS, [row], settings.pool_cap)
