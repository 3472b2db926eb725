"""The feeds, and what they say of their stores' health."""

from datetime import datetime
from enum import Enum

import strawberry

from schema.fields import named, plain
from schema.nodes import PageInfo
from schema.types import Pin


@strawberry.enum(description="Why a pin is in the home feed.")
class FeedReason(Enum):
    FOLLOWED_USER = strawberry.enum_value("FOLLOWED_USER", description="Its owner is followed.")
    FOLLOWED_BOARD = strawberry.enum_value("FOLLOWED_BOARD", description="Its board is followed.")
    FOLLOWED_INTEREST = strawberry.enum_value(
        "FOLLOWED_INTEREST", description="One of its interests is followed."
    )
    RELATED = strawberry.enum_value("RELATED", description="It is like what the viewer saved.")
    POPULAR = strawberry.enum_value("POPULAR", description="Many people like it.")
    SHOWN_BEFORE = strawberry.enum_value("SHOWN_BEFORE", description="An earlier visit showed it.")


@strawberry.enum(description="Which of a feed store's two sides answered.")
class FeedStore(Enum):
    PRIMARY = strawberry.enum_value("PRIMARY", description="The primary.")
    STANDBY = strawberry.enum_value(
        "STANDBY", description="The hot standby, some hundred milliseconds behind."
    )


@strawberry.type(description="Which stores answered a home feed, and how fresh it is.")
class FeedHealth:
    pools: FeedStore | None = named(FeedStore, "pools", "New pins; null: no answer, so none new.")
    materialized: FeedStore | None = named(
        FeedStore, "materialized", "The feed as shown before; null: no answer, so it is missing."
    )
    may_be_stale: bool = plain(
        "Whether something may be missing: newer pins, or pins of a server that is down."
    )
    stale_since: datetime | None = plain("From when on, where that is known.")


@strawberry.type(description="Which store answered a following feed, and how fresh it is.")
class FollowingFeedHealth:
    store: FeedStore | None = named(FeedStore, "side", "The side that answered.")
    may_be_stale: bool = plain(
        "Whether something may be missing: newer pins, or pins of a server that is down."
    )
    stale_since: datetime | None = plain("From when on, where that is known.")


@strawberry.type(description="A pin of the home feed.")
class HomeFeedEdge:
    cursor: str = plain("Names this place in this visit: pass it as `after`.")
    node: Pin = plain("The pin.")
    reason: FeedReason = named(FeedReason, "reason", "Why it is here.")


@strawberry.type(
    description="A page of the home feed. New pins come first, then what earlier visits showed. "
    "The pages of one visit never repeat or skip a pin."
)
class HomeFeedConnection:
    edges: list[HomeFeedEdge] = plain("The pins, best first.")
    page_info: PageInfo = plain("Where this page stands in the visit.")
    visit_id: strawberry.ID = plain("This visit: ask for it again, and nothing new is used up.")
    health: FeedHealth = plain("Which stores answered.")


@strawberry.type(description="A pin of the following feed.")
class FollowingFeedEdge:
    cursor: str = plain("Names this place: pass it as `after`.")
    node: Pin = plain("The pin.")


@strawberry.type(
    description="A page of the following feed: pins of followed users and boards, newest first. "
    "New pins and follows arrive by jobs, mostly within a second."
)
class FollowingFeedConnection:
    edges: list[FollowingFeedEdge] = plain("The pins, newest first.")
    page_info: PageInfo = plain("Where this page stands.")
    health: FollowingFeedHealth = plain("Which store answered.")
