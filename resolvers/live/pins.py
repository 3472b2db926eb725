"""The stream of a pin's changes: likes, comments, edits."""

from dataclasses import dataclass
from enum import Enum
from functools import partial

from datasources.errors import NotFound
from datasources.ids import Kind
from datasources.records import Comment, Pin
from feed_engine.live.events import PinEvent, decode, pin_topic
from feed_engine.live.hub import Entry, Heard
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.hidden_objects import even_out
from resolvers.live.streams import NOTHING, Listening, LiveEvent, Nothing, Subscriber


class PinChangeKind(Enum):
    STARTED = "STARTED"
    LIKED = "LIKED"
    UNLIKED = "UNLIKED"
    COMMENTED = "COMMENTED"
    COMMENT_DELETED = "COMMENT_DELETED"
    EDITED = "EDITED"
    REFETCH = "REFETCH"


@dataclass(frozen=True, slots=True)
class PinChanged:
    """A change of a pin, as the viewer may see it at its delivery."""

    kind: PinChangeKind
    pin: Pin
    comment: Comment | None = None
    comment_id: str | None = None


def pin_changed(context: Context, changed: PinChanged, *, pin_id: ID) -> PinChanged:
    """The field's value: the event itself."""
    return changed


class PinStream:
    """The changes of one pin."""

    def __init__(self, subscriber: Subscriber, *, pin_id: ID) -> None:
        self._subscriber, self._text = subscriber, pin_id
        self._listening = Listening()
        self._started = False
        self._entry: Entry | None = None

    async def begin(self) -> None:
        context = self._subscriber.new_context()
        self._pin_id = id = object_id(self._text, Kind.PIN, argument="pinId")
        await self._listening.begin(context.live, pin_topic(id))
        if await visibility.pin(context, id) is None:
            await even_out(context, [id])
            raise NotFound(f"There is no pin {id}, or it is not yours to see.", "pinId")

    async def wait(self) -> None:
        if self._started and self._entry is None:
            self._entry = await self._listening.get()

    def is_shared(self) -> bool:
        entry = self._entry
        return isinstance(entry, Heard) and entry.shared.has(self._subscriber.key)

    async def next(self) -> LiveEvent | Nothing | None:
        if not self._started:
            self._started = True
            return await self._event(PinChangeKind.STARTED)
        entry, self._entry = self._entry, None
        if isinstance(entry, Heard):
            return await entry.shared.get(self._subscriber.key, partial(self._of, entry))
        return await self._event(PinChangeKind.REFETCH)

    async def _of(self, heard: Heard) -> LiveEvent | Nothing | None:
        event = decode(heard.message.payload)
        assert isinstance(event, PinEvent)
        return await self._event(PinChangeKind[event.change.name], event.about_id)

    async def _event(self, kind: PinChangeKind, about_id: int = 0) -> LiveEvent | Nothing | None:
        """The event; None if the viewer may not see the pin any more. A comment that the viewer
        may not see is no event."""
        context = self._subscriber.new_context()
        pin = await visibility.pin(context, self._pin_id)
        if pin is None:
            return None
        comment = None
        if kind is PinChangeKind.COMMENTED:
            found = await visibility.comments(context, [about_id])
            comment = visibility.one(found, about_id)
            if comment is None:
                return NOTHING
        shown = comment is not None or kind is PinChangeKind.COMMENT_DELETED
        return LiveEvent(context, PinChanged(kind, pin, comment, str(about_id) if shown else None))

    async def end(self) -> None:
        await self._listening.end()
