"""The jobs that add a follow's pins to the viewer's feeds, and remove an unfollow's pins from them.

Both jobs use the current edge and its version. In the following feed, cells that a follow brings
are stamped with the edge's version, and an unfollow hides cells with stamps up to its own version.
In the pools, which also hold pins of other causes, stamps are times: an unfollow removes cells at
their own stamps, and each job looks at the edge again when it has ended. So the jobs may run in any
order, twice, during each other, or during the fan-out of new pins.
"""

from collections.abc import Sequence

from datasources.ids import Kind, kind_of
from datasources.mappings import Edge, EdgeKey, ListKey
from datasources.protocols import Stores, WideColumnStore
from datasources.together import together
from feed_engine.feeds import marks
from feed_engine.feeds.content import PinLike, newest_pins
from feed_engine.feeds.dual import write_both
from feed_engine.feeds.follow_edges import FOLLOWS, PINS_OF, following_columns
from feed_engine.feeds.newest import newest_followed
from feed_engine.feeds.refill import refill, was_cut
from feed_engine.feeds.row_cap import mark_cut, trim_following
from feed_engine.feeds.rows import (
    FOLLOWING,
    FOLLOWING_APPLIED,
    POOLS_APPLIED,
    follow_stamp,
    id_row,
    parse_following,
    pool_row,
    unfollow_stamp,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import cuts, pools
from feed_engine.feeds.smart.interests import fill_short
from feed_engine.feeds.wide import read_row
from feed_engine.outbox.change import Advance, Followed, Unfollowed


async def followed(
    stores: Stores,
    task: Followed,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Add the target's pins to the viewer's feeds."""
    await _begin(stores, task.viewer_id, task.target_id, task.at, settings)


async def _begin(
    stores: Stores, viewer_id: int, target_id: int, at: int, settings: FeedSettings
) -> None:
    """Add the target's newest pins. The following feed gets as many as it can hold, so it doesn't
    matter which pins were fanned out before; the pool gets a few. Pins of an interest are in the
    interest's own pool."""
    key = EdgeKey(FOLLOWS[kind_of(target_id)], viewer_id, target_id)
    edge = await _edge(stores, key)
    if edge is None or not edge.active:
        return  # the unfollow leaves a later mark
    kind, limit = kind_of(target_id), settings.following_cap
    if kind is Kind.INTEREST:
        await fill_short(stores, target_id, at, settings)
        await write_both(
            stores.pools,
            lambda store: marks.mark(store, POOLS_APPLIED, *key[1:], edge.version, at),
        )
        return
    pins_of = ListKey(PINS_OF[kind], target_id)
    pins: Sequence[PinLike] = (await newest_pins(stores, [pins_of], limit))[pins_of]
    if kind is Kind.BOARD and len(pins) >= limit:
        # A board's list is in the user's own order: its first pins are not always the newest.
        newest = await newest_followed(stores, viewer_id, [target_id], limit)
        pins = [found.pin for found in newest]
    more = (await stores.shards.mappings.heads([pins_of]))[pins_of].size > len(pins)
    row = id_row(viewer_id)
    columns = following_columns(viewer_id, target_id, pins)
    pool = pool_row(viewer_id, pools.followed_source(target_id))
    best = pools.followed_cells(pins[: settings.backfill], viewer_id, target_id)

    async def into_feed(store: WideColumnStore) -> None:
        if more:
            await mark_cut(store, [row])
        if columns:
            cells = {row: dict.fromkeys(columns, b"")}
            await store.put(FOLLOWING, cells, follow_stamp(edge.version))
        await marks.mark(store, FOLLOWING_APPLIED, *key[1:], edge.version, at)

    async def into_pool(store: WideColumnStore) -> None:
        if more or len(pins) > settings.backfill:
            await cuts.mark_cut(store, viewer_id)
        await pools.bring(store, pool, best, at)
        await marks.mark(store, POOLS_APPLIED, *key[1:], edge.version, at)

    await together([write_both(stores.feeds, into_feed), write_both(stores.pools, into_pool)])

    now = await _edge(stores, key)
    if now is not None and not now.active:  # the follow ended, and its clean-up ran before this job
        await _end(stores, viewer_id, target_id, now.version, at, settings)
        return
    await write_both(stores.feeds, lambda store: trim_following(store, row, settings.following_cap))
    await write_both(
        stores.pools, lambda store: cuts.cut(store, pool, viewer_id, settings.pool_cap)
    )


async def unfollowed(
    stores: Stores,
    task: Unfollowed,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
) -> None:
    """Remove the pins that the target brought. The job only frees space: readers no longer show
    these pins. A following feed that was cut gets older pins from the targets that the viewer still
    follows."""
    cut = await was_cut(stores, task.viewer_id, settings.following_cap)
    end = _end(stores, task.viewer_id, task.target_id, task.version, task.at, settings)
    if cut:
        await together([end, refill(stores, task.viewer_id, settings)])
    else:
        await end


async def _end(
    stores: Stores, viewer_id: int, target_id: int, version: int, at: int, settings: FeedSettings
) -> None:
    """Remove what a follow brought. If the viewer follows the target again by now, its job may have
    written the pool's cells before they were removed here: they are brought again."""
    await _forget(stores, viewer_id, target_id, version, at)
    now = await _edge(stores, EdgeKey(FOLLOWS[kind_of(target_id)], viewer_id, target_id))
    if now is not None and now.active:
        await _begin(stores, viewer_id, target_id, at, settings)


async def _edge(stores: Stores, key: EdgeKey) -> Edge | None:
    return (await stores.shards.mappings.edges([key])).get(key)


async def _forget(stores: Stores, viewer_id: int, cause_id: int, version: int, at: int) -> None:
    row = id_row(viewer_id)

    async def from_feed(store: WideColumnStore) -> None:
        cells = await read_row(store, FOLLOWING, row)
        gone = [c.column for c in cells if parse_following(c.column).cause_id == cause_id]
        if gone:
            await store.delete(FOLLOWING, {row: gone}, unfollow_stamp(version))
        await marks.mark(store, FOLLOWING_APPLIED, viewer_id, cause_id, version, at)

    async def from_pool(store: WideColumnStore) -> None:
        await pools.forget_cause(store, viewer_id, cause_id)
        await marks.mark(store, POOLS_APPLIED, viewer_id, cause_id, version, at)

    interest = kind_of(cause_id) is Kind.INTEREST
    in_feed = [] if interest else [write_both(stores.feeds, from_feed)]
    await together([*in_feed, write_both(stores.pools, from_pool)])
