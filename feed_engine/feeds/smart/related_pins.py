"""The newest pins beside a liked pin: the related pins if walks (`feed_engine.related`) find few or
none."""

from collections.abc import Collection

from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Pin
from feed_engine.feeds.content import load_pins, newest_ids
from feed_engine.feeds.rows import PoolColumn, pool_column
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart import scores
from feed_engine.feeds.smart.pools import why_of
from feed_engine.outbox.change import PinLiked

INTERESTS = 3  # interests of the liked pin that are searched, at most


async def cells_beside(
    stores: Stores,
    task: PinLiked,
    liked: Pin,
    settings: FeedSettings,
    *,
    but: Collection[int] = (),
) -> dict[bytes, bytes]:
    """The cells of the newest pins on the liked pin's board and of its interests, without pins of
    the roots in `but`. Only pins from before the like are used, so that a late job finds the same
    pins as a punctual job."""
    beside = [ListKey(Mapping.BOARD_HAS_PINS, liked.board_id)]
    beside += [ListKey(Mapping.INTEREST_HAS_PINS, i) for i in liked.interest_ids[:INTERESTS]]
    found = await newest_ids(stores, beside, settings.related, until=task.at)
    pins = await load_pins(stores, (id for ids in found.values() for id in ids if id != liked.id))
    return {
        pool_column(PoolColumn(scores.related(pin.created, task.at), pin.id)): why_of(pin, liked.id)
        for pin in pins.values()
        if pin.owner_id != task.viewer_id and pin.root not in but
    }
