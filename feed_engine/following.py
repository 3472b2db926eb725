"""The following feed: new pins of followed users and boards, newest first (published design).

Fan-out writes a cell for each cause (the owner or the board that is followed). A cell is only a
hint: what decides is the viewer's edge to its cause, read at the same time as the pins. So a cell
that a late job left behind an unfollow is never shown, whatever became of its delete marker; and
one written under an earlier version of an edge that is active again is rightly shown.
"""

import asyncio
from dataclasses import dataclass

from datasources.ids import kind_of
from datasources.mappings import EdgeKey
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine import cursors
from feed_engine.applied import following_generation
from feed_engine.cursors import CursorKind
from feed_engine.feeds import Feeds
from feed_engine.follow_edges import FOLLOWS
from feed_engine.rows import FOLLOWING, FollowingColumn, behind_pin, id_row, parse_following
from feed_engine.seen import Applied, in_following, read_seeing
from feed_engine.speculation import Side
from feed_engine.visible import Visible

LEAST = 50  # cells a read


@dataclass(frozen=True, slots=True)
class FollowingItem:
    """A pin, the followed user or board that brought it, and the cursor behind it."""

    pin_id: int
    cause_id: int
    cursor: str


@dataclass(frozen=True, slots=True)
class FollowingPage:
    items: list[FollowingItem]
    has_next: bool
    side: Side  # the standby, if it gave any of it
    may_be_stale: bool
    stale_since: int | None = None  # epoch ms of the newest change that the side knew of


async def following_page(
    feeds: Feeds,
    viewer_id: int,
    *,
    first: int,
    after: str | None = None,
    seen: str | None = None,
    dated: bool = False,
    visible: Visible,
) -> FollowingPage:
    """`first` pins of what the viewer follows now, behind a cursor. `seen`: the token of a write,
    waited for; `dated`: tell since when a standby's answer may be stale, for one read more. Raises
    BadInput for a cursor or token that is not one, StoreError when neither side or the viewer's
    shard doesn't answer."""
    column = None if after is None else cursors.decode(CursorKind.FOLLOWING_1, after, least=24)
    there = None if seen is None else await in_following(feeds.stores, seen, viewer_id)
    items: list[FollowingItem] = []
    side, limit = Side.PRIMARY, max(LEAST, 2 * (first + 1))
    followed: dict[int, bool] = {}
    lacks, since = False, None
    while len(items) <= first:
        cells, answered, has, generation = await _read(
            feeds, viewer_id, column, limit, there, dated=dated and since is None
        )
        there, lacks, since = None, lacks or not has, since or generation
        if answered is Side.STANDBY:
            side = answered
        columns = [parse_following(cell.column) for cell in cells]
        shown = await _shown(feeds, viewer_id, columns, followed, visible)
        for cell, (_, pin_id, cause_id) in zip(cells, columns, strict=True):
            behind = behind_pin(cell.column)
            if (pin_id, cause_id) in shown and behind != column:
                column = behind
                cursor = cursors.encode(CursorKind.FOLLOWING_1, behind)
                items.append(FollowingItem(pin_id, cause_id, cursor))
        if len(cells) < limit:
            break
        column = max(column or b"", cells[-1].column)
    stale = lacks or side is Side.STANDBY
    return FollowingPage(items[:first], len(items) > first, side, stale, since)


async def _read(
    feeds: Feeds,
    viewer_id: int,
    after: bytes | None,
    limit: int,
    there: Applied | None,
    *,
    dated: bool,
) -> tuple[list[Cell], Side, bool, int | None]:
    """The cells; which side gave them; whether it has the write that was waited for; and, if it may
    lag, its generation."""
    row, sides = id_row(viewer_id), feeds.stores.feeds
    may_lag = [sides.standby] if there is None else list(sides)
    generations: dict[Side, int | None] = {}

    async def read(store: WideColumnStore) -> list[Cell]:
        if dated and any(store is side for side in may_lag):
            side = Side.STANDBY if store is sides.standby else Side.PRIMARY
            generations[side] = await following_generation(store, viewer_id)
        return await store.read(FOLLOWING, row, after=after, limit=limit)

    raced, has = await read_seeing(feeds.feeds_race, sides, read, there)
    stale = not has or raced.side is Side.STANDBY
    return raced.value, raced.side, has, generations.get(raced.side) if stale else None


async def _shown(
    feeds: Feeds,
    viewer_id: int,
    columns: list[FollowingColumn],
    followed: dict[int, bool],
    visible: Visible,
) -> set[tuple[int, int]]:
    """The (pin, cause) among the cells that may be shown. `followed` remembers causes."""
    causes = dict.fromkeys(c.cause_id for c in columns if c.cause_id not in followed)
    keys = [EdgeKey(FOLLOWS[kind_of(cause)], viewer_id, cause) for cause in causes]
    pin_ids = list(dict.fromkeys(c.pin_id for c in columns))
    if not pin_ids:
        return set()
    edges, pins = await asyncio.gather(feeds.stores.shards.mappings.edges(keys), visible(pin_ids))
    followed.update((key.to_id, key in edges and edges[key].active) for key in keys)
    return {
        (c.pin_id, c.cause_id)
        for c in columns
        if followed[c.cause_id] and _is_of(pins.get(c.pin_id), c.cause_id, viewer_id)
    }


def _is_of(pin: Pin | None, cause_id: int, viewer_id: int) -> bool:
    """Whether the pin is seen, somebody else's, and still its cause's."""
    return (
        pin is not None and pin.owner_id != viewer_id and cause_id in (pin.owner_id, pin.board_id)
    )
