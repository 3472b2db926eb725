"""The table of background tasks: the function that does each task, by the task's name.

The name is the task's type or, if a row is one task as a whole, the row's kind.
"""

from collections.abc import Mapping
from functools import partial

from feed_engine.feeds.fanout import pin_arrived, pin_published, pin_to_batch
from feed_engine.feeds.follow_jobs import followed, unfollowed
from feed_engine.feeds.refill import feed_short
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart.handover import visit_shown
from feed_engine.feeds.smart.interests import interest_short
from feed_engine.feeds.smart.related import pin_liked
from feed_engine.ordering import arrange
from feed_engine.ordering.arrange import rearranged
from feed_engine.ordering.respace_job import respace
from feed_engine.outbox.change import Handler, Task
from feed_engine.transactions import hold
from feed_engine.transactions.hold import held
from feed_engine.writes.board_tasks import board_deleted, board_secrecy

HANDLERS: dict[str, Handler] = {
    "PinPublished": pin_published,
    "PinArrived": pin_arrived,
    "FanOutBatch": pin_to_batch,
    "Followed": followed,
    "Unfollowed": unfollowed,
    "FeedShort": feed_short,
    "InterestShort": interest_short,
    "PinLiked": pin_liked,
    "VisitShown": visit_shown,
    "BoardSecrecy": board_secrecy,
    "BoardDeleted": board_deleted,
    "Respace": respace,
    arrange.KIND: rearranged,
    hold.KIND: held,
}


def name_of(task: Task) -> str:
    """The task's name in the table."""
    return type(task).__name__


def handlers(settings: FeedSettings) -> Mapping[str, Handler]:
    """The table. Its functions use the given limits of feeds."""
    if settings is DEFAULTS:
        return HANDLERS
    return {**HANDLERS, "VisitShown": partial(visit_shown, settings=settings)}
