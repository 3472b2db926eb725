"""The subscriptions: the root fields of all streams, and their events."""

import strawberry

from resolvers.live import boards, home, notifications, pins
from schema.costs import A_WRITE, Toll, reads
from schema.fields import field, named, plain
from schema.notifications import COUNTED, Notification
from schema.orders import described
from schema.types import Board, Comment, Pin

_STREAM = [*reads(16, each=12), Toll(weight=str(A_WRITE))]

described(
    boards.BoardChangeKind,
    "What changed on a board.",
    STARTED="The stream has begun: all later changes become events. A board that was read before "
    "may have an older `orderVersion`: then read it again.",
    SAVED="A pin came to the board.",
    REORDERED="A pin has a new place.",
    EDITED="The texts, the picture, the interests or the section of a pin changed, or its place in "
    "its section.",
    REMOVED="A pin left the board: it was deleted, or moved to another board.",
    BOARD_EDITED="The board's name, description, cover, secrecy or members changed, or its "
    "sections: a section is new, has another name or place, or was deleted.",
    REFETCH="Read the board again: several pins have new places, or events were lost.",
)
described(
    pins.PinChangeKind,
    "What changed about a pin.",
    STARTED="The stream has begun: all later changes become events.",
    LIKED="Somebody likes the pin.",
    UNLIKED="Somebody no longer likes the pin.",
    COMMENTED="Somebody commented on the pin.",
    COMMENT_DELETED="A comment was deleted.",
    EDITED="The pin was edited, or moved to another board or section.",
    REFETCH="Read the pin again: events were lost.",
)


@strawberry.type(
    description="A change of a board. The objects are as the viewer may see them when the event is "
    "delivered."
)
class BoardChanged:
    kind: boards.BoardChangeKind = named(boards.BoardChangeKind, "kind", "What changed.")
    board: Board = plain("The board as it is now.")
    order_version: str = plain(
        "The version of the board's order after the change: a whole number of up to 64 bits, in a "
        "string. The events come in this order."
    )
    cursor: str = plain("Pass it as `after` to resume the stream after this event.")
    pin: Pin | None = plain(
        "The pin that was saved, reordered or edited, as it is now; null if it has left the board "
        "since."
    )
    pin_id: strawberry.ID | None = plain("The id of the pin, also if it was removed.")
    above_pin_id: strawberry.ID | None = plain(
        "The pin directly above the new place of a pin that was saved or reordered, after this "
        "change; null on top of the board."
    )
    section_id: strawberry.ID | None = plain(
        "The section that a pin that was saved or edited was in after this change; null: none."
    )


@strawberry.type(
    description="A change of a pin. The objects are as the viewer may see them when the event is "
    "delivered."
)
class PinChanged:
    kind: pins.PinChangeKind = named(pins.PinChangeKind, "kind", "What changed.")
    pin: Pin = plain("The pin as it is now, with its counts.")
    comment: Comment | None = plain("The new comment; null for other changes, or if it is gone.")
    comment_id: strawberry.ID | None = plain("The id of the new or deleted comment.")


@strawberry.type(description="New pins for the viewer's home feed.")
class HomeFeedUpdated:
    waiting: int = plain(
        "The pins of followed users and boards that came since the stream began, and still wait: a "
        "visit of the home feed uses them up, this stream does not. 100 at most."
    )
    more: bool = plain("Whether there may be more than `waiting`.")


@strawberry.type(description="The viewer's unread notifications.")
class Notified:
    unread_count: int = plain(
        "The number of notifications that are not marked as read; 100 stands for more than 99."
    )
    notification: Notification | None = plain(
        "The newest of them: the new one, unless the number became smaller."
    )


@strawberry.type(
    description="Streams of events, by WebSocket or server-sent events. A stream ends when its "
    "viewer may no longer see its object."
)
class Subscription:
    board_changed: BoardChanged | None = field(
        boards.board_changed,
        "The changes of a board and its pins, in the order of `orderVersion`. The first event is "
        "STARTED, unless the stream is resumed.",
        cost=_STREAM,
        stream=boards.BoardStream,
    )
    pin_changed: PinChanged | None = field(
        pins.pin_changed,
        "The likes, comments and edits of a pin. The first event is STARTED.",
        cost=_STREAM,
        stream=pins.PinStream,
    )
    home_feed_updated: HomeFeedUpdated | None = field(
        home.home_feed_updated,
        "How many new pins wait for the viewer's next home feed. The first event comes "
        "at once. A further event comes when the number has changed, at most once a second.",
        cost=[*reads(8, each=400), Toll(weight=str(A_WRITE))],
        stream=home.HomeStream,
    )
    notified: Notified | None = field(
        notifications.notified,
        "The viewer's newest unread notification, and how many are unread. The first event comes "
        "at once. A further event comes when a notification came, was taken back or was marked as "
        "read, at most once a second.",
        cost=[*COUNTED, Toll(weight=str(A_WRITE))],
        stream=notifications.NotificationStream,
    )
