"""The following feed: new pins of followed users and boards, newest first (published design).

Fan-out writes a cell for each cause (the owner or the board that is followed). A cell is only a
hint: what decides is the viewer's edge to its cause, read at the same time as the pins. So a cell
that a late job left behind an unfollow is never shown, whatever became of its delete marker; and
one written under an earlier version of an edge that is active again is rightly shown.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from datasources.ids import kind_of
from datasources.mappings import EdgeKey
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds import cursors
from feed_engine.feeds.applied import following_generation
from feed_engine.feeds.cursors import CursorKind
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.rows import FOLLOWING, behind_pin, following_ids, id_row
from feed_engine.feeds.seen import Applied, in_following, read_seeing
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.visible import Visible
from feed_engine.speculation import Side

LEAST = 50  # cells a read


class FollowingItem(msgspec.Struct, frozen=True):
    """A pin, the followed user or board that brought it, and the place in the row behind it."""

    pin: Pin
    cause_id: int
    place: bytes

    @property
    def cursor(self) -> str:
        return cursors.encode(CursorKind.FOLLOWING_1, self.place)


_Listed = tuple[bytes, int, list[int]]
"""The place behind a pin of the row, the pin's id, and what brought it there."""


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
    BadInput for an invalid cursor or token, StoreError when neither side or the viewer's shard
    doesn't answer."""
    column = None if after is None else cursors.decode(CursorKind.FOLLOWING_1, after, least=24)
    there = None if seen is None else await in_following(feeds.stores, seen, viewer_id)
    items: list[FollowingItem] = []
    # A quarter more than pins: few are brought by both their owner and their board, or hidden.
    side, limit = Side.PRIMARY, max(LEAST, (first + 1) * 5 // 4)
    followed: dict[int, bool] = {}
    lacks, since, least = False, None, 1
    while len(items) <= first:
        cells, answered, has, generation = await _read(
            feeds, viewer_id, column, limit, there, dated=dated and since is None
        )
        there, lacks, since = None, lacks or not has, since or generation
        if answered is Side.STANDBY:
            side = answered
        pins = _by_pin(cells)
        while some := list(islice(pins, max(first + 1 - len(items), least))):
            items += await _shown(feeds, viewer_id, some, followed, visible)
            least = LEAST  # of a feed where much is hidden, a page is not filled pin by pin
            if len(items) > first:
                break
        if len(cells) < limit:
            break
        column = max(items[-1].place if items else b"", cells[-1].column)
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

    raced, has = await read_seeing(
        feeds.feeds_race, sides, read, there, kind=("following", limit.bit_length())
    )
    stale = not has or raced.side is Side.STANDBY
    return raced.value, raced.side, has, generations.get(raced.side) if stale else None


def _by_pin(cells: Iterable[Cell]) -> Iterator[_Listed]:
    """The pins of the cells; the cells of one pin follow each other."""
    listed: _Listed | None = None
    for cell in cells:
        place = behind_pin(cell.column)
        pin_id, cause = following_ids(cell.column)
        if listed is not None:
            if listed[0] == place:
                listed[2].append(cause)
                continue
            yield listed
        listed = place, pin_id, [cause]
    if listed is not None:
        yield listed


async def _shown(
    feeds: Feeds,
    viewer_id: int,
    listed: Sequence[_Listed],
    followed: dict[int, bool],
    visible: Visible,
) -> list[FollowingItem]:
    """The cells that may be shown. `followed` remembers causes."""
    causes = dict.fromkeys(cause for *_, some in listed for cause in some if cause not in followed)
    keys = [EdgeKey(FOLLOWS[kind_of(cause)], viewer_id, cause) for cause in causes]
    edges, pins = await asyncio.gather(
        feeds.stores.shards.mappings.edges(keys), visible([pin_id for _, pin_id, _ in listed])
    )
    followed.update((key.to_id, key in edges and edges[key].active) for key in keys)
    items: list[FollowingItem] = []
    for place, pin_id, brought_by in listed:
        pin = pins.get(pin_id)
        if pin is None or pin.owner_id == viewer_id:
            continue
        for cause in brought_by:
            # Still its cause's: a pin may have been moved.
            if followed[cause] and cause in (pin.owner_id, pin.board_id):
                items.append(FollowingItem(pin, cause, place))
                break
    return items
