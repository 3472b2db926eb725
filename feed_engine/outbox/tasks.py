"""The table of background tasks: the function that does each task, by the task's name.

The name is the task's type or, if a row is one task as a whole, the row's kind.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from datasources.protocols import Stores
from feed_engine.feeds.fanout import pin_arrived, pin_published, pin_to_batch
from feed_engine.feeds.follow_jobs import followed, unfollowed
from feed_engine.feeds.refill import feed_short
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.feeds.smart.handover import visit_shown
from feed_engine.feeds.smart.interests import interest_short
from feed_engine.feeds.smart.pool_refill import pool_short
from feed_engine.ordering import arrange
from feed_engine.ordering.arrange import rearranged
from feed_engine.ordering.respace_job import respace
from feed_engine.outbox.change import Advance, Handler, PinHidden, Task, TextChanged
from feed_engine.own_data.making import data_expired, data_requested
from feed_engine.related.changes import SEARCH, noting
from feed_engine.related.pool import pin_liked
from feed_engine.related.walks import Walks
from feed_engine.transactions import hold
from feed_engine.transactions.hold import held
from feed_engine.writes.account_erasure import account_erased
from feed_engine.writes.account_tasks import account_deleted
from feed_engine.writes.block_tasks import blocked
from feed_engine.writes.board_tasks import board_deleted, board_secrecy
from feed_engine.writes.collaborator_tasks import membership_changed
from feed_engine.writes.event_tasks import events_recorded
from feed_engine.writes.key_tasks import key_ended, name_ended
from feed_engine.writes.notification_tasks import (
    comment_changed,
    notify_of_follow,
    notify_of_like,
    notifying,
    pin_saved,
    pin_unliked,
)
from feed_engine.writes.section_tasks import section_deleted


def _pin(task: Any) -> Sequence[int]:
    return [task.pin_id]


def _board(task: Any) -> Sequence[int]:
    return [task.board_id]


def _user(task: Any) -> Sequence[int]:
    return [task.user_id]


def _target(task: Any) -> Sequence[int]:
    return [task.target_id]


def _objects(task: Any) -> Sequence[int]:
    return [*task.object_ids]


async def _text_changed(
    stores: Stores, task: TextChanged, cursor: bytes | None, advance: Advance
) -> None:
    """The processes that write search indexes find out by themselves."""


async def _pin_hidden(
    stores: Stores, task: PinHidden, cursor: bytes | None, advance: Advance
) -> None:
    """The feeds find out by themselves."""


def name_of(task: Task) -> str:
    """The task's name in the table."""
    return type(task).__name__


def _table(settings: FeedSettings, walks: Walks | None) -> dict[str, Handler]:
    def within(handler: Callable[..., Awaitable[None]]) -> Handler:
        return partial(handler, settings=settings)

    liked: Handler = partial(pin_liked, settings=settings, walks=walks)
    return {
        "PinPublished": noting(within(pin_published), _pin),
        "PinArrived": noting(within(pin_arrived), _pin),
        "PinHidden": noting(_pin_hidden, _pin),
        "TextChanged": noting(_text_changed, _objects, SEARCH),
        "FanOutBatch": within(pin_to_batch),
        "Followed": noting(notifying(within(followed), notify_of_follow), _target, SEARCH),
        "Unfollowed": noting(notifying(within(unfollowed), notify_of_follow), _target, SEARCH),
        "Blocked": blocked,
        "MembershipChanged": membership_changed,
        "FeedShort": within(feed_short),
        "InterestShort": within(interest_short),
        "PoolShort": within(pool_short),
        "PinLiked": noting(notifying(liked, notify_of_like), _pin, SEARCH),
        "PinUnliked": pin_unliked,
        "PinSaved": pin_saved,
        "CommentChanged": comment_changed,
        "VisitShown": within(visit_shown),
        "EventsRecorded": events_recorded,
        "BoardSecrecy": noting(board_secrecy, _board),
        "BoardDeleted": noting(board_deleted, _board),
        "SectionDeleted": section_deleted,
        "AccountDeleted": noting(account_deleted, _user, SEARCH),
        "AccountErased": account_erased,
        "DataRequested": data_requested,
        "DataExpired": data_expired,
        "KeyEnded": key_ended,
        "NameEnded": name_ended,
        "Respace": respace,
        arrange.KIND: rearranged,
        hold.KIND: held,
    }


HANDLERS = _table(DEFAULTS, None)


def handlers(settings: FeedSettings, walks: Walks | None = None) -> Mapping[str, Handler]:
    """The table. Its functions use the given limits of feeds and graph of related pins."""
    if settings is DEFAULTS and walks is None:
        return HANDLERS
    return _table(settings, walks)
