"""Notifications: what others did with the viewer's profile, boards and pins, and what the viewer
waited for."""

from datetime import datetime
from enum import Enum
from typing import Annotated

import strawberry

from resolvers import notifications as resolved
from schema.costs import Cost, page, reads
from schema.fields import field, named, plain
from schema.nodes import PageInfo
from schema.types import Board, BoardInvitation, Comment, Pin, User

COUNTED = reads(66, each=1500)
"""The cost of counting unread notifications: all kept acts in one call, and the objects of the
entries that are counted."""


@strawberry.enum(description="What happened.")
class NotificationType(Enum):
    FOLLOWED_USER = strawberry.enum_value(
        "FOLLOWED_USER", description="The actor follows the viewer."
    )
    FOLLOWED_BOARD = strawberry.enum_value(
        "FOLLOWED_BOARD", description="The actor follows a board of the viewer."
    )
    SAVED = strawberry.enum_value(
        "SAVED", description="The actor saved a pin of the viewer to a public board."
    )
    LIKED = strawberry.enum_value(
        "LIKED", description="The actor, and perhaps others, like a pin of the viewer."
    )
    COMMENTED = strawberry.enum_value(
        "COMMENTED", description="The actor commented on a pin of the viewer."
    )
    INVITED = strawberry.enum_value(
        "INVITED", description="The actor invites the viewer to collaborate on a board."
    )
    JOINED_BOARD = strawberry.enum_value(
        "JOINED_BOARD", description="The actor accepted the viewer's invitation to a board."
    )
    DATA_READY = strawberry.enum_value(
        "DATA_READY",
        description="The file with the viewer's own data is ready (`User.dataExport`).",
    )


NotificationSubject = Annotated[
    Pin | Board | Comment | BoardInvitation,
    strawberry.union("NotificationSubject", description="What a notification is about."),
]


@strawberry.type(
    description="An act of another user, all likes of one pin that are kept, or a file that is "
    "ready. The objects are as the viewer may see them now."
)
class Notification:
    id: strawberry.ID = plain(
        "The notification's own id. It stays the same while further likes are added."
    )
    type: NotificationType = named(NotificationType, "type", "What happened.")
    actor: User | None = plain(
        "The user who did it, or did it last; null for `DATA_READY`, and, with an error, when that "
        "user's server does not answer."
    )
    other_count: int = plain("How many other users like the pin, too; 0 for other types.")
    subject: NotificationSubject | None = plain(
        "The board that is followed or shared, the viewer's pin that was saved or is liked, the "
        "comment, or the invitation; null if the viewer is followed, and for `DATA_READY`."
    )
    saved_pin: Pin | None = plain("The actor's own pin, of a pin that was saved; otherwise null.")
    at: datetime = plain("When it happened.", cost=[Cost(weight="1.25")])
    read: bool = plain("Whether the viewer marked it as read.")


@strawberry.type(description="A notification in its list.")
class NotificationEdge:
    cursor: str = plain(
        "The notification's place: pass it as `after` to continue after it, or as `upTo` to mark "
        "it and all older notifications as read.",
        cost=[Cost(weight="2.5")],
    )
    node: Notification = plain("The notification.")


@strawberry.type(description="A page of notifications, newest first.")
class NotificationConnection:
    edges: list[NotificationEdge] = plain("The notifications: `first`, or fewer.")
    page_info: PageInfo = plain("The position of this page in the list.")


@strawberry.type(description="The reads of notifications.")
class NotificationQuery:
    notifications: NotificationConnection | None = field(
        resolved.notifications,
        "The acts of other users on the viewer's profile, boards and pins, and the file with the "
        "viewer's own data, newest first. The newest 1,000 acts of 90 days are kept. All likes of "
        "one pin are one entry, which comes up again with a new like.",
        cost=page(66, 12, each=1000, backward=False),
        cached=0,
    )
    unread_notification_count: int | None = field(
        resolved.unread_notification_count,
        "The number of notifications that are not marked as read; 100 stands for more than 99. "
        "Null without a viewer.",
        cost=COUNTED,
        cached=0,
    )
