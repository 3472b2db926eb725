"""The types of the feeds, and of their stores' health."""

from datetime import datetime
from enum import Enum

import strawberry

from resolvers import feeds
from schema.costs import listed, reads
from schema.fields import field, named, plain
from schema.nodes import Node, PageInfo
from schema.types import Pin


@strawberry.enum(description="The reason why a pin is in the home feed.")
class FeedReason(Enum):
    FOLLOWED_USER = strawberry.enum_value(
        "FOLLOWED_USER", description="The viewer follows the pin's owner."
    )
    FOLLOWED_BOARD = strawberry.enum_value(
        "FOLLOWED_BOARD", description="The viewer follows the pin's board."
    )
    FOLLOWED_INTEREST = strawberry.enum_value(
        "FOLLOWED_INTEREST", description="The viewer follows one of the pin's interests."
    )
    RELATED = strawberry.enum_value(
        "RELATED", description="The pin is related to pins that the viewer saved."
    )
    POPULAR = strawberry.enum_value("POPULAR", description="Many users like the pin.")
    SHOWN_BEFORE = strawberry.enum_value(
        "SHOWN_BEFORE", description="An earlier visit showed the pin."
    )


@strawberry.enum(description="What a viewer did with a pin.")
class PinEventKind(Enum):
    OPENED = strawberry.enum_value("OPENED", description="The viewer opened the pin's page.")
    LINK_FOLLOWED = strawberry.enum_value(
        "LINK_FOLLOWED", description="The viewer followed the pin's link."
    )
    SEEN = strawberry.enum_value(
        "SEEN", description="At least half of the pin's card was on the screen for a second."
    )


@strawberry.enum(description="The side of a feed store that answered.")
class FeedStore(Enum):
    PRIMARY = strawberry.enum_value("PRIMARY", description="The primary.")
    STANDBY = strawberry.enum_value(
        "STANDBY", description="The hot standby, which is some hundred milliseconds behind."
    )


@strawberry.type(description="The stores that answered a home feed, and its freshness.")
class FeedHealth:
    pools: FeedStore | None = named(
        FeedStore,
        "pools",
        "The store of new pins. Null: no side answered, so new pins are missing.",
    )
    materialized: FeedStore | None = named(
        FeedStore,
        "materialized",
        "The store of the feed as shown before. Null: no side answered, so that feed is missing.",
    )
    may_be_stale: bool = plain(
        "Whether pins may be missing: newer pins, or pins of a server that is down."
    )
    stale_since: datetime | None = plain("The time since which pins may be missing, if known.")


@strawberry.type(description="The store that answered a following feed, and its freshness.")
class FollowingFeedHealth:
    store: FeedStore | None = named(FeedStore, "side", "The side that answered.")
    may_be_stale: bool = plain(
        "Whether pins may be missing: newer pins, or pins of a server that is down."
    )
    stale_since: datetime | None = plain("The time since which pins may be missing, if known.")


@strawberry.type(
    description="A user, board or interest that the viewer follows and that brought a picture into "
    "the home feed; or the pin that the viewer liked or saved and that the picture is related to."
)
class FeedCause:
    reason: FeedReason = named(FeedReason, "reason", "The kind of the cause.")
    followed: Node | None = field(
        feeds.followed,
        "The followed user, board or interest, or the liked or saved pin; null when its server is "
        "down.",
        cost=reads(9, each=1),
    )
    pin: Pin = plain(
        "The pin that the cause brought: the edge's own pin, or another pin of the same picture, "
        "which has no edge of its own."
    )


@strawberry.type(description="A pin of the home feed.")
class HomeFeedEdge:
    cursor: str = plain(
        "The pin's position in this visit: pass it as `after` to continue after this pin."
    )
    node: Pin = plain("The pin.")
    reason: FeedReason = named(FeedReason, "reason", "The reason why the pin is in the feed.")
    causes: list[FeedCause] = plain(
        "All that the viewer follows and that brought the picture: a picture and its repins have "
        "one edge. The causes of the pin itself come first. For a related pin, the first cause is "
        "the pin that the viewer liked or saved. Empty for a popular pin, and for a pin that an "
        "earlier visit showed.",
        cost=listed(12, 4, feeds.MOST_CAUSES),
    )


@strawberry.type(
    description="A page of the home feed. New pins come first, then pins that earlier visits "
    "showed. The pages of one visit never repeat or skip a pin."
)
class HomeFeedConnection:
    edges: list[HomeFeedEdge] = plain("The pins, best first.")
    page_info: PageInfo = plain("The position of this page in the visit.")
    visit_id: strawberry.ID = plain(
        "The id of this visit. Pass it as `visitId` to see the same pins again; no new pins are "
        "used up."
    )
    health: FeedHealth = plain("The stores that answered.")


@strawberry.type(description="A pin of the following feed.")
class FollowingFeedEdge:
    cursor: str = plain("The pin's position: pass it as `after` to continue after this pin.")
    node: Pin = plain("The pin.")


@strawberry.type(
    description="A page of the following feed: pins of followed users and boards, newest first. "
    "New pins and follows arrive by jobs, mostly within a second."
)
class FollowingFeedConnection:
    edges: list[FollowingFeedEdge] = plain("The pins, newest first.")
    page_info: PageInfo = plain("The position of this page in the feed.")
    health: FollowingFeedHealth = plain("The store that answered.")
