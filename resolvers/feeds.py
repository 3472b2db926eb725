"""The home feed and the following feed, as connections."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from datasources.mappings import ListKey, Mapping
from datasources.records import Pin
from feed_engine.following import following_page
from feed_engine.rows import Reason
from feed_engine.smart.results import Health, HomePage
from feed_engine.smart.service import home_page
from feed_engine.speculation import Side
from feed_engine.visible import Visible
from resolvers import visibility
from resolvers.context import ID, Context
from resolvers.paging import PageInfo, page_size

_COUNTED = {
    "likeCount": Mapping.PIN_LIKED_BY_USERS,
    "commentCount": Mapping.PIN_HAS_COMMENTS,
}
"""The lists behind the fields of a pin that can't be null."""


@dataclass(frozen=True, slots=True)
class FeedEdge:
    cursor: str
    node: Pin
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class FeedHealth:
    """Which side of each store answered, and whether and since when more may be missing."""

    pools: Side | None
    materialized: Side | None
    may_be_stale: bool
    stale_since: datetime | None


@dataclass(frozen=True, slots=True)
class FollowingHealth:
    side: Side
    may_be_stale: bool


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
    context: Context, *, first: int = 25, after: str | None = None, visit: ID | None = None
) -> HomeFeed:
    page: HomePage = await home_page(
        context.feeds,
        context.viewer_id,
        first=page_size(first),
        after=after,
        visit=visit,
        visible=_visible(context),
    )
    pins = await _showable(context, [item.pin_id for item in page.items])
    edges = [
        FeedEdge(item.cursor, pins[item.pin_id], item.reason)
        for item in page.items
        if item.pin_id in pins
    ]
    return HomeFeed(edges, _info(edges, page.has_next, after), page.visit, _health(page.health))


async def following_feed(
    context: Context, *, first: int = 25, after: str | None = None
) -> FollowingFeed:
    viewer_id = context.require_viewer()
    page = await following_page(
        context.feeds, viewer_id, first=page_size(first), after=after, visible=_visible(context)
    )
    pins = await _showable(context, [item.pin_id for item in page.items])
    edges = [FeedEdge(item.cursor, pins[item.pin_id]) for item in page.items if item.pin_id in pins]
    health = FollowingHealth(page.side, page.side is Side.STANDBY)
    return FollowingFeed(edges, _info(edges, page.has_next, after), health)


def _visible(context: Context) -> Visible:
    async def visible(ids: list[int]) -> dict[int, Pin]:
        return await _showable(context, ids)

    return visible


async def _showable(context: Context, ids: list[int]) -> dict[int, Pin]:
    """The pins of which all that was asked, and can't be null, can be read.

    A feed's pin can't be null either: one count whose server is down would take the whole feed
    away, though the pin itself is cached.
    """
    pins = await visibility.readable_pins(context, ids)
    keys = [
        ListKey(mapping, id)
        for name, mapping in _COUNTED.items()
        if name in context.asked
        for id in pins
    ]
    heads = await asyncio.gather(*map(context.loaders.heads.load, keys), return_exceptions=True)
    lost = {k.from_id for k, head in zip(keys, heads, strict=True) if isinstance(head, Exception)}
    return {id: pin for id, pin in pins.items() if id not in lost}


def _health(health: Health) -> FeedHealth:
    since = health.stale_since
    return FeedHealth(
        health.pools,
        health.materialized,
        health.may_be_stale,
        None if since is None else datetime.fromtimestamp(since / 1000, UTC),
    )


def _info(edges: list[FeedEdge], has_next: bool, after: str | None) -> PageInfo:
    start, end = (edges[0].cursor, edges[-1].cursor) if edges else (None, None)
    return PageInfo(has_next, after is not None, start, end)
