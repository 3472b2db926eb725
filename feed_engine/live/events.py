"""The events that tell clients of changes: what a write publishes, and under which topics."""

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

import msgspec

from datasources.errors import StoreCorrupt
from datasources.mappings import ListKey, Mapping
from datasources.protocols import ShardTx


class BoardChange(Enum):
    """The kinds of changes of a board. `PLACES`: several pins may have new places."""

    SAVED = "saved"
    REORDERED = "reordered"
    EDITED = "edited"
    REMOVED = "removed"
    BOARD_EDITED = "board"
    PLACES = "places"


class PinChange(Enum):
    """The kinds of changes of a pin, its likes and its comments."""

    LIKED = "liked"
    UNLIKED = "unliked"
    COMMENTED = "commented"
    COMMENT_DELETED = "uncommented"
    EDITED = "edited"


class BoardEvent(msgspec.Struct, frozen=True, omit_defaults=True, tag="board"):
    """A change of a board. It brought the board's order version from `before` to `version`; both
    are 0 if the order did not change. `above_id` is the pin above a pin's new place; 0 on top of
    the board. `section_id` is the section of a pin that was saved or edited; 0 for none."""

    board_id: int
    change: BoardChange
    pin_id: int = 0
    before: int = 0
    version: int = 0
    above_id: int = 0
    section_id: int = 0


class PinEvent(msgspec.Struct, frozen=True, omit_defaults=True, tag="pin"):
    """A change of a pin. `about_id` is the comment that was written or deleted."""

    pin_id: int
    change: PinChange
    about_id: int = 0


class SignedOut(msgspec.Struct, frozen=True, tag="out"):
    """A user signed out everywhere: tokens that are not newer are refused. Or a user deleted the
    account."""

    user_id: int


class NotificationsChanged(msgspec.Struct, frozen=True, tag="notifications"):
    """A user has a new notification, one less, or marked notifications as read."""

    user_id: int


Event = BoardEvent | PinEvent | SignedOut | NotificationsChanged
SESSION = "session:"
"""Begins the topics of sign-outs."""
_DECODER = msgspec.json.Decoder(Event)


def topic_of(event: Event) -> str:
    match event:
        case BoardEvent():
            return board_topic(event.board_id)
        case PinEvent():
            return pin_topic(event.pin_id)
        case SignedOut():
            return session_topic(event.user_id)
        case NotificationsChanged():
            return notifications_topic(event.user_id)


def board_topic(board_id: int) -> str:
    return f"board:{board_id}"


def pin_topic(pin_id: int) -> str:
    return f"pin:{pin_id}"


def session_topic(user_id: int) -> str:
    return f"{SESSION}{user_id}"


def notifications_topic(user_id: int) -> str:
    return f"notifications:{user_id}"


def messages_of(events: Iterable[Event]) -> list[tuple[str, bytes]]:
    """The messages to publish: topics and payloads."""
    return [(topic_of(event), msgspec.json.encode(event)) for event in events]


@lru_cache(maxsize=64)  # all streams of a process read the same message
def decode(payload: bytes) -> Event:
    """The event of a message. Raises StoreCorrupt for an event of a later version."""
    try:
        event: Event = _DECODER.decode(payload)
    except msgspec.MsgspecError as error:
        raise StoreCorrupt(f"a published event: {error}") from error
    return event


def edited(board_id: int) -> BoardEvent:
    """The event of a change of the board itself."""
    return BoardEvent(board_id=board_id, change=BoardChange.BOARD_EDITED)


async def order_version(tx: ShardTx, board_id: int) -> int:
    """The board's order version, as this transaction sees it."""
    return (await tx.head(ListKey(Mapping.BOARD_HAS_PINS, board_id))).version
