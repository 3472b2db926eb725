"""The feeds' jobs, by task."""

from collections.abc import Awaitable, Callable
from typing import Any

from datasources.protocols import Stores
from feed_engine.change import (
    Advance,
    Followed,
    PinArrived,
    PinLiked,
    PinPublished,
    Task,
    Unfollowed,
    VisitShown,
)
from feed_engine.fanout import pin_arrived, pin_published
from feed_engine.follow_jobs import followed, unfollowed
from feed_engine.smart.handover import visit_shown
from feed_engine.smart.related import pin_liked

Handler = Callable[[Stores, Any, bytes | None, Advance], Awaitable[None]]
HANDLERS: dict[type[Task], Handler] = {
    PinPublished: pin_published,
    PinArrived: pin_arrived,
    Followed: followed,
    Unfollowed: unfollowed,
    PinLiked: pin_liked,
    VisitShown: visit_shown,
}
