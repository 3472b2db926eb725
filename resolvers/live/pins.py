"""The stream of a pin's changes: likes, comments, edits."""

from dataclasses import dataclass
from enum import Enum

from datasources.errors import NotFound
from datasources.ids import Kind
from datasources.protocols import Message
from datasources.records import Comment, Pin
from feed_engine.live.events import PinEvent, decode, pin_topic
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.hidden_objects import even_out
from resolvers.live.streams import Listening, LiveEvent, NewContext


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

    def __init__(self, new_context: NewContext, *, pin_id: ID) -> None:
        self._new_context, self._text = new_context, pin_id
        self._listening = Listening()
        self._started = False

    async def begin(self) -> None:
        context = self._new_context()
        self._pin_id = id = object_id(self._text, Kind.PIN, argument="pinId")
        await self._listening.begin(context.live, pin_topic(id))
        if await visibility.pin(context, id) is None:
            await even_out(context, [id])
            raise NotFound(f"There is no pin {id}, or it is not yours to see.", "pinId")

    async def next(self) -> LiveEvent | None:
        """The next event. A comment that the viewer may not see is none."""
        while True:
            changed, context = await self._next()
            if changed is None:
                return None
            if changed.kind is not PinChangeKind.COMMENTED or changed.comment is not None:
                return LiveEvent(context, changed)

    async def _next(self) -> tuple[PinChanged | None, Context]:
        kind, about_id = PinChangeKind.STARTED, 0
        if self._started:
            entry = await self._listening.get()
            kind = PinChangeKind.REFETCH
            if isinstance(entry, Message):
                event = decode(entry.payload)
                assert isinstance(event, PinEvent)
                kind, about_id = PinChangeKind[event.change.name], event.about_id
        self._started = True
        context = self._new_context()
        pin = await visibility.pin(context, self._pin_id)
        if pin is None:
            return None, context
        comment = None
        if kind is PinChangeKind.COMMENTED:
            found = await visibility.comments(context, [about_id])
            comment = visibility.one(found, about_id)
        shown = comment is not None or kind is PinChangeKind.COMMENT_DELETED
        return PinChanged(kind, pin, comment, str(about_id) if shown else None), context

    async def end(self) -> None:
        await self._listening.end()
