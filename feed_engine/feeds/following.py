"""The following feed: new pins of followed users and boards, newest first (published design).

Fan-out writes a cell for each cause (the followed owner or board). A cell is only a hint: the
viewer's edge to the cause decides, and it is read at the same time as the pins. So a cell that a
late job writes after an unfollow is never shown, even if the delete marker is lost. A cell of an
earlier version of an edge is shown if the edge is active again.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import msgspec

from datasources.errors import StoreError
from datasources.ids import kind_of
from datasources.mappings import EdgeKey
from datasources.protocols import Cell, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds import cursors, marks
from feed_engine.feeds.cursors import CursorKind
from feed_engine.feeds.follow_edges import FOLLOWS
from feed_engine.feeds.marks import following_generation
from feed_engine.feeds.own_writes import Applied, in_following, read_seeing
from feed_engine.feeds.preferences import known_muted
from feed_engine.feeds.refill import ask_refill
from feed_engine.feeds.rows import FOLLOWING, FOLLOWING_APPLIED, behind_pin, following_ids, id_row
from feed_engine.feeds.settings import Feeds
from feed_engine.feeds.visible import Visible
from feed_engine.outbox.completion import keep
from feed_engine.speculation import Side

LEAST = 50  # cells in a read, at least


class FollowingItem(msgspec.Struct, frozen=True):
    """A pin, the followed user or board that brought it, and the place in the row after it."""

    pin: Pin
    cause_id: int
    place: bytes

    @property
    def cursor(self) -> str:
        return cursors.encode(CursorKind.FOLLOWING_1, self.place)


_Listed = tuple[bytes, int, list[int]]
"""The place in the row after a pin, the pin's id, and the ids of its causes."""


@dataclass(frozen=True, slots=True)
class FollowingPage:
    items: list[FollowingItem]
    has_next: bool
    side: Side  # the standby, if any part came from it
    may_be_stale: bool
    stale_since: int | None = None  # epoch ms of the newest change that the side had


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
    """The first `first` pins after a cursor of what the viewer follows now.

    `seen`: the token of a write that the read waits for. `dated`: say since when a standby's answer
    may be stale, which costs one more read. Raises BadInput for an invalid cursor or token, and
    StoreError when neither side answers. While the viewer's shard is unavailable, follows and
    unfollows may be missing from the page.
    """
    column = None if after is None else cursors.decode(CursorKind.FOLLOWING_1, after, least=24)
    there = None if seen is None else await in_following(feeds.stores, seen, viewer_id)
    items: list[FollowingItem] = []
    # Read a quarter more cells than pins: some pins have two causes, or are hidden.
    side, limit = Side.PRIMARY, max(LEAST, (first + 1) * 5 // 4)
    causes = _Causes(feeds, viewer_id)
    lacks, since, least, listed = False, None, 1, 0
    while len(items) <= first:
        cells, answered, has, generation = await _read(
            feeds, viewer_id, column, limit, there, dated=dated and since is None
        )
        there, lacks, since = None, lacks or not has, since or generation
        if answered is Side.STANDBY:
            side = answered
        pins = _by_pin(cells)
        while some := list(islice(pins, max(first + 1 - len(items), least))):
            items += await _shown(viewer_id, some, causes, visible)
            listed += len(some)
            least = LEAST  # where many pins are hidden, later reads are not smaller than this
            if len(items) > first:
                break
        if len(cells) < limit:
            break
        column = max(items[-1].place if items else b"", cells[-1].column)
    short = len(items) < listed or (after is None and len(items) < feeds.settings.following_cap)
    if len(items) <= first and short:
        keep(_ask_refill(feeds, side, viewer_id))
    stale = lacks or side is Side.STANDBY or causes.copied
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
    """The cells, the side that returned them, whether the side has the awaited write, and the
    side's generation if it may be behind."""
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
    """The pins of the cells. The cells of one pin are adjacent."""
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


class _Causes:
    """The causes that the viewer follows now. While the viewer's shard is unavailable, the versions
    that are stored beside the feed's row are used: an edge with an odd version is active."""

    def __init__(self, feeds: Feeds, viewer_id: int) -> None:
        self._feeds, self._viewer_id = feeds, viewer_id
        self._followed: dict[int, bool] = {}
        self._muted: frozenset[int] | None = None
        self.copied = False

    async def muted(self) -> frozenset[int]:
        """The users whom the viewer mutes, read once for a page."""
        if self._muted is None:
            self._muted = await known_muted(self._feeds, self._viewer_id)
        return self._muted

    async def followed(self, causes: Iterable[int]) -> dict[int, bool]:
        """Whether each cause known so far is followed; `causes` are added. Raises StoreError when
        neither the shard nor a side of the feeds answers."""
        asked = [c for c in dict.fromkeys(causes) if c not in self._followed]
        keys = [EdgeKey(FOLLOWS[kind_of(cause)], self._viewer_id, cause) for cause in asked]
        try:
            edges = await self._feeds.stores.shards.mappings.edges(keys)
        except StoreError:
            self.copied = True
            self._followed |= await self._copy(asked)
        else:
            self._followed |= {k.to_id: k in edges and edges[k].active for k in keys}
        return self._followed

    async def _copy(self, causes: Sequence[int]) -> dict[int, bool]:
        raced = await self._feeds.feeds_race(
            lambda store: marks.versions(store, FOLLOWING_APPLIED, self._viewer_id, causes),
            kind=("applied", len(causes).bit_length()),
        )
        return {cause: raced.value.get(cause, 0) % 2 == 1 for cause in causes}


async def _ask_refill(feeds: Feeds, side: Side, viewer_id: int) -> None:
    """Post a refill for a feed that ended early, if it had been cut. Each viewer's feed is checked
    at most once a minute."""
    if not feeds.look(id_row(viewer_id)):
        return
    sides = feeds.stores.feeds
    store = sides.primary if side is Side.PRIMARY else sides.standby
    with suppress(StoreError):  # a later reader tries again
        await ask_refill(feeds.stores, store, viewer_id, feeds.clock())


async def _shown(
    viewer_id: int, listed: Sequence[_Listed], causes: _Causes, visible: Visible
) -> list[FollowingItem]:
    """The items that may be shown."""
    followed, muted, pins = await asyncio.gather(
        causes.followed(cause for *_, some in listed for cause in some),
        causes.muted(),
        visible([pin_id for _, pin_id, _ in listed]),
    )
    items: list[FollowingItem] = []
    for place, pin_id, brought_by in listed:
        pin = pins.get(pin_id)
        if pin is None or pin.owner_id == viewer_id or pin.owner_id in muted:
            continue
        for cause in brought_by:
            # A moved pin no longer belongs to its former board.
            if followed[cause] and cause in (pin.owner_id, pin.board_id):
                items.append(FollowingItem(pin, cause, place))
                break
    return items
