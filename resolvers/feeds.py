"""The home feed and the following feed, as connections."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from datasources.errors import BadInput
from datasources.mappings import ListKey, Mapping
from datasources.records import Pin, Record
from feed_engine.feeds.following import following_page
from feed_engine.feeds.rows import Reason
from feed_engine.feeds.settings import Preferences
from feed_engine.feeds.smart.candidates import SIBLINGS
from feed_engine.feeds.smart.pools import followed_reason
from feed_engine.feeds.smart.results import Health, HomePage
from feed_engine.feeds.smart.service import home_page
from feed_engine.feeds.visits import check_name
from feed_engine.speculation import Side
from feed_engine.times import moment
from loaders.bulk import bulk
from resolvers import nodes, visibility
from resolvers.columns import Column
from resolvers.context import ID, Context
from resolvers.cursors import Cursors
from resolvers.paging import PageInfo, page_size

_COUNTED = {
    "likeCount": Mapping.PIN_LIKED_BY_USERS,
    "commentCount": Mapping.PIN_HAS_COMMENTS,
}
"""The lists behind the fields of a pin that can't be null."""

_DATED = "staleSince"
"""The field that costs an additional read when a standby answers."""


_CAUSES = "causes"
"""The field for which other pins of the cards' pictures are loaded, too."""

MOST_CAUSES = SIBLINGS + 1
"""Causes of an edge, at most."""


class FeedCause(msgspec.Struct):
    """A followed user, board or interest, and the pin that it brought."""

    reason: Reason
    followed_id: int
    pin: Pin


class FeedEdge(msgspec.Struct):
    """`place` is the feed engine's cursor, which can be read; clients get it encrypted."""

    place: str
    cursors: Cursors
    node: Pin
    reason: Reason | None = None
    causes: list[FeedCause] = []

    @property
    def cursor(self) -> str:
        return self.cursors.seal(self.place)


@dataclass(frozen=True, slots=True)
class FeedHealth:
    """For each store, the side that answered, and whether and since when pins may be missing."""

    pools: Side | None
    materialized: Side | None
    may_be_stale: bool
    stale_since: datetime | None


@dataclass(frozen=True, slots=True)
class FollowingHealth:
    side: Side
    may_be_stale: bool
    stale_since: datetime | None


@dataclass(frozen=True, slots=True)
class HomeFeed:
    edges: list[FeedEdge]
    page_info: PageInfo
    visit_id: str
    health: FeedHealth


@dataclass(frozen=True, slots=True)
class FollowingFeed:
    edges: list[FeedEdge]
    page_info: PageInfo
    health: FollowingHealth


async def home_feed(
    context: Context,
    *,
    first: int = 25,
    after: str | None = None,
    visit_id: ID | None = None,
    visit: ID | None = None,
    seen: str | None = None,
) -> HomeFeed:
    if visit_id is not None and visit is not None and visit_id != visit:
        raise BadInput("visitId and visit name two visits: send visitId alone", "visitId")
    wanted = visit if visit_id is None else visit_id
    if wanted is not None:
        check_name(wanted, "visit" if visit_id is None else "visitId")
    cards, size, seen = Cards(context), page_size(first), context.feed_tokens.read(seen)
    cursors, place = context.cursors, context.cursors.unseal(after)

    async def read(named: str | None) -> HomePage:
        return await home_page(
            context.feeds,
            context.viewer_id,
            first=size,
            after=place,
            visit=named,
            seen=seen,
            dated=_DATED in context.asked,
            causes=_CAUSES in context.asked,
            visible=cards.visible,
            boards=cards.load_boards,
            likes=cards.likes,
            know=cards.know,
        )

    begins = wanted is None and after is None
    page = await (context.visit.page(read) if begins else read(wanted))
    edges = [
        FeedEdge(
            item.cursor, cursors, item.pin, item.reason, [_cause(*cause) for cause in item.causes]
        )
        for item in page.items
    ]
    info = _info(edges, page.has_next, after)
    return HomeFeed(edges, info, page.visit, _health(page.health, cards.lost))


@bulk
async def followed(context: Context, causes: Sequence[FeedCause]) -> Column[Record | None]:
    found = await nodes.of_ids(context, dict.fromkeys(cause.followed_id for cause in causes))
    return [found.get(cause.followed_id) for cause in causes]


async def following_feed(
    context: Context, *, first: int = 25, after: str | None = None, seen: str | None = None
) -> FollowingFeed:
    viewer_id, cards = context.require_viewer(), Cards(context)
    seen = context.feed_tokens.read(seen)
    page = await following_page(
        context.feeds,
        viewer_id,
        first=page_size(first),
        after=context.cursors.unseal(after),
        seen=seen,
        dated=_DATED in context.asked,
        visible=cards.visible,
    )
    edges = [FeedEdge(item.cursor, context.cursors, item.pin) for item in page.items]
    stale = page.may_be_stale or cards.lost
    health = FollowingHealth(page.side, stale, _moment(page.stale_since))
    info = _info(edges, page.has_next, after)
    return FollowingFeed(edges, info, health)


class Cards:
    """The pins of a feed that can be shown now. `lost`: a pin could not be read.

    A feed's pin can't be null. So a pin on a server that is down is left out, and so is a cached
    pin if the query reads its counts, which can't be null either.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.lost = False

    async def visible(self, ids: list[int]) -> dict[int, Pin]:
        found, uncounted = await asyncio.gather(
            visibility.pins(self._context, ids), self._uncounted(ids)
        )
        pins = {id: pin for id, pin in found.items() if isinstance(pin, Pin)}
        counted = {id: pin for id, pin in pins.items() if id not in uncounted}
        self.lost |= len(counted) < len(found)
        return counted

    def know(self, preferences: Preferences) -> None:
        """Take the viewer's blocks from the preferences, with which they were read."""
        self._context.know(preferences.blocks)

    async def load_boards(self, ids: Collection[int]) -> None:
        """Load the boards on which pins most likely are, at the same time as the pins."""
        await visibility.boards(self._context, list(ids))

    async def likes(self, ids: Collection[int]) -> dict[int, int]:
        """The pins' numbers of likes, as far as they can be read."""
        keys = [ListKey(Mapping.PIN_LIKED_BY_USERS, id) for id in ids]
        heads = await self._context.loaders.heads.many(keys)
        pairs = zip(ids, heads, strict=True)
        return {id: head.size for id, head in pairs if not isinstance(head, BaseException)}

    async def _uncounted(self, ids: list[int]) -> set[int]:
        keys = [
            ListKey(mapping, id)
            for name, mapping in _COUNTED.items()
            if name in self._context.asked
            for id in ids
        ]
        heads = await self._context.loaders.heads.many(keys)
        pairs = zip(keys, heads, strict=True)
        return {key.from_id for key, head in pairs if isinstance(head, BaseException)}


def _cause(followed_id: int, pin: Pin) -> FeedCause:
    return FeedCause(followed_reason(followed_id), followed_id, pin)


def _health(health: Health, lost: bool) -> FeedHealth:
    stale = health.may_be_stale or lost
    return FeedHealth(health.pools, health.materialized, stale, _moment(health.stale_since))


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else moment(ms)


def _info(edges: list[FeedEdge], has_next: bool, after: str | None) -> PageInfo:
    start, end = (edges[0].cursor, edges[-1].cursor) if edges else (None, None)
    return PageInfo(has_next, after is not None, start, end)
