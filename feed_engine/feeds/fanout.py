"""Fan-out of a new pin: into the following feeds and pools of the followers of its owner, board and
interests.

The pin's mappings were written before followers are read, and a follow writes its edge before it
reads the followed one's pins: so whichever comes first, one of the two sees the other. A cell is
stamped with the version of the edge that brought it, read with the followers.
"""

from collections import defaultdict
from collections.abc import Coroutine
from typing import Any, NamedTuple

import msgspec

from datasources.ids import Kind, kind_of
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping, PageRequest, Position
from datasources.protocols import Stores
from datasources.records import Pin
from datasources.together import together
from feed_engine.feeds.content import public_pin
from feed_engine.feeds.rows import (
    FOLLOWING,
    POOLS,
    FollowingColumn,
    follow_stamp,
    following_column,
    id_row,
    pool_row,
    unfollow_stamp,
)
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart import pools
from feed_engine.feeds.smart.popular import update_popularity
from feed_engine.feeds.wide import delete_both, due, put_both, trim_both
from feed_engine.outbox.change import Advance, PinArrived, PinPublished

PAGE = 1000  # followers a step; after each the cursor is saved

FOLLOWED_BY = {
    Kind.USER: Mapping.USER_FOLLOWED_BY_USERS,
    Kind.BOARD: Mapping.BOARD_FOLLOWED_BY_USERS,
    Kind.INTEREST: Mapping.INTEREST_FOLLOWED_BY_USERS,
}


class Reached(NamedTuple):
    """The progress of a fan-out: the last follower written, among the followers of the number-th
    cause."""

    number: int
    sequence: str  # up to 38 digits
    follower_id: int


_REACHED = msgspec.json.Decoder(Reached)


async def pin_published(
    stores: Stores,
    task: PinPublished,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
    page: int = PAGE,
) -> None:
    """Write the pin into every follower's row, on both sides. A pin that is not public (any more)
    is left out: when it becomes public, that is another task."""
    pin = await public_pin(stores, task.pin_id)
    if pin is None:
        return
    if cursor is None:
        await update_popularity(stores, [pin], settings)
    causes = [pin.owner_id, pin.board_id, *task.interest_ids]
    await _fan_out(stores, pin, causes, task.at, cursor, advance, settings, page)


async def pin_arrived(
    stores: Stores,
    task: PinArrived,
    cursor: bytes | None,
    advance: Advance,
    *,
    settings: FeedSettings = DEFAULTS,
    page: int = PAGE,
) -> None:
    """Write the pin into the rows of those who follow its new board. What it had brought to
    followers of the old one is not shown any more: readers go by the pin. Has it moved on, that is
    another task."""
    pin = await public_pin(stores, task.pin_id)
    if pin is not None and pin.board_id == task.board_id:
        await _fan_out(stores, pin, [pin.board_id], task.at, cursor, advance, settings, page)


async def _fan_out(
    stores: Stores,
    pin: Pin,
    causes: list[int],
    at: int,
    cursor: bytes | None,
    advance: Advance,
    settings: FeedSettings,
    page: int,
) -> None:
    reached = _REACHED.decode(cursor) if cursor else None
    for number in range(reached.number if reached else 0, len(causes)):
        key = ListKey(FOLLOWED_BY[kind_of(causes[number])], causes[number])
        after = Position(int(reached.sequence), reached.follower_id) if reached else None
        reached = None
        while True:
            (followers,) = await stores.shards.mappings.pages([PageRequest(key, page, after)])
            await _deliver(stores, pin, key, followers, at, settings)
            if len(followers) < page:
                break
            last = followers[-1]
            after = Position(last.sequence, last.to_id)
            await advance(msgspec.json.encode(Reached(number, str(last.sequence), last.to_id)))


async def _deliver(
    stores: Stores, pin: Pin, key: ListKey, followers: list[Edge], at: int, settings: FeedSettings
) -> None:
    """Put the pin's cells into these followers' rows, and take them out again where the follow
    ended meanwhile: its own clean-up may have been there before the cells."""
    followers = [edge for edge in followers if edge.to_id != pin.owner_id]
    if not followers:
        return
    cause_id = key.from_id
    feed_cell = following_column(FollowingColumn(pin.created, pin.id, cause_id))
    pool_cell, why = pools.followed_cell(pin, cause_id)
    # Cells that are written again get higher stamps, because they may have been removed meanwhile.
    source, pool_stamp = pools.followed_source(cause_id), max(1, pin.created, at)
    feed_rows = {edge.to_id: id_row(edge.to_id) for edge in followers}
    in_feeds: list[Coroutine[Any, Any, None]] = []
    pool_rows = {edge.to_id: pool_row(edge.to_id, source) for edge in followers}
    fed = kind_of(cause_id) is not Kind.INTEREST
    if fed:
        by_version: dict[int, list[int]] = defaultdict(list)
        for edge in followers:
            by_version[edge.version].append(edge.to_id)
        for version, ids in by_version.items():
            cells = {feed_rows[id]: {feed_cell: b""} for id in ids}
            in_feeds.append(put_both(stores.feeds, FOLLOWING, cells, follow_stamp(version, at)))
    in_pools = {row: {pool_cell: why} for row in pool_rows.values()}
    await together([*in_feeds, put_both(stores.pools, POOLS, in_pools, pool_stamp)])

    keys = [EdgeKey(key.mapping, cause_id, edge.to_id) for edge in followers]
    now = await stores.shards.mappings.edges(keys)
    for ended in (edge for edge in now.values() if not edge.active):
        if fed:
            gone = {feed_rows[ended.to_id]: [feed_cell]}
            await delete_both(stores.feeds, FOLLOWING, gone, unfollow_stamp(ended.version))
        await delete_both(stores.pools, POOLS, {pool_rows[ended.to_id]: [pool_cell]}, pool_stamp)
    if fed:
        full = [row for row in feed_rows.values() if due(row, pin.id)]
        await trim_both(stores.feeds, FOLLOWING, full, settings.following_cells)
    full = [row for row in pool_rows.values() if due(row, pin.id)]
    await trim_both(stores.pools, POOLS, full, settings.pool_cap)
