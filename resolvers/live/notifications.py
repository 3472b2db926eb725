"""The stream of a viewer's notifications: the newest one, and how many are unread."""

from dataclasses import dataclass

from feed_engine.live.events import notifications_topic
from feed_engine.live.hub import Entry, Heard
from feed_engine.live.pace import Pace
from resolvers.context import Context
from resolvers.live.streams import NOTHING, Listening, LiveEvent, Nothing, Subscriber
from resolvers.notifications import Notification, unread

SOONEST = 1.0
"""Seconds between two looks of a stream. Notifications that come in between are one event."""


@dataclass(frozen=True, slots=True)
class Notified:
    """The unread notifications: their number (`resolvers.notifications.MOST_COUNTED` at most), and
    the newest of them."""

    unread_count: int
    notification: Notification | None

    def differs(self, other: "Notified | None") -> bool:
        """Whether a client that has the other event must be told of this one."""
        return other is None or self._told() != other._told()

    def _told(self) -> tuple[int, object]:
        newest = self.notification
        return self.unread_count, newest and (newest.act, newest.other_count)


def notified(context: Context, event: Notified) -> Notified:
    """The field's value: the event itself."""
    return event


class NotificationStream:
    """The notifications of one viewer."""

    def __init__(self, subscriber: Subscriber) -> None:
        self._subscriber = subscriber
        self._listening, self._pace = Listening(), Pace(SOONEST)
        self._started = False
        self._entry: Entry | None = None
        self._last: Notified | None = None

    async def begin(self) -> None:
        context = self._subscriber.new_context()
        viewer_id = context.require_viewer()
        await self._listening.begin(context.live, notifications_topic(viewer_id))

    async def wait(self) -> None:
        if not self._started:
            return
        if self._entry is None:
            self._entry = await self._listening.get()
        await self._pace.turn()
        # The look that comes now sees what was published until now.
        while self._listening.waits:
            self._entry = await self._listening.get()

    def is_shared(self) -> bool:
        entry = self._entry
        return isinstance(entry, Heard) and entry.shared.has(self._subscriber.key)

    async def next(self) -> LiveEvent | Nothing | None:
        entry, self._entry, self._started = self._entry, None, True
        if isinstance(entry, Heard):
            event = await entry.shared.get(self._subscriber.key, self._look)
        else:
            event = await self._look()
        if event is None or not event.value.differs(self._last):
            return NOTHING if event is not None else None
        self._last = event.value
        return event

    async def end(self) -> None:
        await self._listening.end()

    async def _look(self) -> LiveEvent | None:
        """The event; None if the viewer's account was deleted."""
        context = self._subscriber.new_context()
        found = await unread(context)
        if context.closed:
            return None
        return LiveEvent(context, Notified(len(found), found[0] if found else None))
