"""Events: what viewers did with the pins that they saw, kept on the viewer's own shard."""

from enum import IntEnum
from typing import NamedTuple, Protocol


class EventKind(IntEnum):
    """The kind of an event. The numbers are stored, and never change."""

    OPENED = 1
    LINK_FOLLOWED = 2
    SEEN = 3  # at least half of the card was on the screen for a second


class PinEvent(NamedTuple):
    """An event. Of a user, a pin and a kind, one event is kept for each day (its first epoch ms, in
    UTC): the first."""

    user_id: int
    day: int
    pin_id: int
    kind: EventKind
    at: int  # epoch ms


class EventStore(Protocol):
    """Events, on the user's own shard."""

    async def of_user(self, user_id: int, limit: int) -> list[PinEvent]:
        """The user's newest days' events, by day, pin and kind, the newest day first."""
