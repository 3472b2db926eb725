"""Notifications: what others did with a user's profile, boards and pins, and what a user waited
for. They are kept on the user's own shard."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

NOTIFICATIONS_KEPT = 1_000
"""Notifications of a user that are kept, at most: the newest."""


class NotificationKind(IntEnum):
    """The kind of an act. The numbers are stored, and never change."""

    FOLLOWED_USER = 1
    FOLLOWED_BOARD = 2
    SAVED = 3
    LIKED = 4
    COMMENTED = 5
    INVITED = 6
    JOINED_BOARD = 7
    DATA_READY = 8


class Notification(NamedTuple):
    """An act of `actor_id` for the user whom it concerns. Of a kind, a subject, an actor and
    `about_id`, a user has one notification. The user is also the subject and the actor of
    DATA_READY.

    `version` grows with each change of the act. A notification whose act was taken back is not
    `active`: nobody sees it, and it refuses earlier versions."""

    user_id: int
    kind: NotificationKind
    subject_id: int  # the user or board, or the pin that was saved, liked or commented on
    actor_id: int
    about_id: int  # the comment, the pin that the actor saved, or the request's epoch ms; or 0
    version: int
    at: int  # of the act, in epoch ms
    active: bool = True
    place: int = 0  # in the user's list; a stored notification has one


class Inbox(NamedTuple):
    """The newest notifications of a user, and the place up to which they were marked as read."""

    read_up_to: int
    notifications: Sequence[Notification]


class NotificationStore(Protocol):
    """Notifications, on the user's own shard. A place is unique among a user's notifications, and
    grows with the order in which they were stored; it is about the epoch ms of that."""

    async def of_user(self, user_id: int, limit: int, *, unread: bool = False) -> Inbox:
        """The user's newest active notifications, newest first; with `unread`, only these."""
