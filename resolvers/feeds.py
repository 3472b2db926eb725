"""The home feed and the following feed, as connections."""

from dataclasses import dataclass
from datetime import UTC, datetime

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
    pins = await visibility.readable_pins(context, [item.pin_id for item in page.items])
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
    pins = await visibility.readable_pins(context, [item.pin_id for item in page.items])
    edges = [FeedEdge(item.cursor, pins[item.pin_id]) for item in page.items if item.pin_id in pins]
    health = FollowingHealth(page.side, page.side is Side.STANDBY)
    return FollowingFeed(edges, _info(edges, page.has_next, after), health)


def _visible(context: Context) -> Visible:
    async def visible(ids: list[int]) -> dict[int, Pin]:
        return await visibility.readable_pins(context, ids)

    return visible


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
