"""The stream of a board's changes, in the order of its order versions."""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial

from datasources.errors import BadInput, NotFound
from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.records import Board, Pin
from feed_engine.live.board_order import BoardOrder, Placed
from feed_engine.live.events import BoardChange, BoardEvent, board_topic, decode
from feed_engine.live.hub import Heard
from feed_engine.live.shared import Shared
from resolvers import visibility
from resolvers.context import ID, Context, object_id
from resolvers.hidden_objects import even_out
from resolvers.live.places import BoardPlace
from resolvers.live.streams import NOTHING, Listening, LiveEvent, Nothing, Subscriber

PATIENCE = 1.0
"""Seconds for which an event waits for the event before it."""


class BoardChangeKind(Enum):
    STARTED = "STARTED"
    SAVED = "SAVED"
    REORDERED = "REORDERED"
    EDITED = "EDITED"
    REMOVED = "REMOVED"
    BOARD_EDITED = "BOARD_EDITED"
    REFETCH = "REFETCH"


_KINDS = {
    BoardChange.SAVED: BoardChangeKind.SAVED,
    BoardChange.REORDERED: BoardChangeKind.REORDERED,
    BoardChange.EDITED: BoardChangeKind.EDITED,
    BoardChange.REMOVED: BoardChangeKind.REMOVED,
    BoardChange.BOARD_EDITED: BoardChangeKind.BOARD_EDITED,
    BoardChange.PLACES: BoardChangeKind.REFETCH,
}
_WITH_A_PIN = (BoardChangeKind.SAVED, BoardChangeKind.REORDERED, BoardChangeKind.EDITED)


@dataclass(frozen=True, slots=True)
class BoardChanged:
    """A change of a board, as the viewer may see it at its delivery."""

    kind: BoardChangeKind
    board: Board
    order_version: str
    cursor: str
    pin: Pin | None = None
    pin_id: str | None = None
    above_pin_id: str | None = None
    section_id: str | None = None


def board_changed(
    context: Context, changed: BoardChanged, *, board_id: ID, after: str | None = None
) -> BoardChanged:
    """The field's value: the event itself."""
    return changed


class BoardStream:
    """The changes of one board."""

    def __init__(self, subscriber: Subscriber, *, board_id: ID, after: str | None = None) -> None:
        self._new_context, self._key = subscriber.new_context, subscriber.key
        self._text, self._after = board_id, after
        self._listening = Listening()
        self._ready: list[Placed] = []
        self._first: BoardChangeKind | None = None
        self._is_due = False
        """Whether the stream is behind the board's order version, so an event must come soon."""

    async def begin(self) -> None:
        context = self._new_context()
        self._board_id = id = object_id(self._text, Kind.BOARD, argument="boardId")
        after = None
        if self._after is not None:
            after = BoardPlace.read(context.cursors.sealed_place(self._after))
            if after is None or after.board_id != id:
                raise BadInput("after is not a cursor of this subscription", "after")
        await self._listening.begin(context.live, board_topic(id))
        board = await visibility.board(context, id)
        if board is None:
            await even_out(context, [id])
            raise NotFound(f"There is no board {id}, or it is not yours to see.", "boardId")
        broadcasts, self._flips = context.stores.broadcasts, board.flips
        missed = None
        resumes = after is not None and not self._was_hidden(context, board, after.flips)
        if board.secret and board.owner_id != context.viewer_id:
            resumes = False  # a collaborator may have been none in between
        if after is not None and resumes:
            missed = await broadcasts.since(board_topic(id), after.place)
        version = await _version(context, id)
        if after is None or missed is None:
            self._place = await broadcasts.place(board_topic(id))
            self._order = BoardOrder(version)
            self._first = BoardChangeKind.STARTED if after is None else BoardChangeKind.REFETCH
            return
        self._place, self._order = after.place, BoardOrder(after.version)
        for message in missed:
            self._take(Heard(message, Shared()))
        reached = self._ready[-1].event.version if self._ready else 0
        self._is_due = max(reached, self._order.version) < version

    async def wait(self) -> None:
        while self._first is None and not self._ready:
            await self._hear()

    def is_shared(self) -> bool:
        return self._first is None and self._ready[0].shared.has(self._shared_as(self._ready[0]))

    async def next(self) -> LiveEvent | Nothing | None:
        if self._first is not None:
            kind, self._first = self._first, None
            return await self._whole(kind)
        event = await self._of(self._ready.pop(0))
        return NOTHING if self._first is not None else event

    async def end(self) -> None:
        await self._listening.end()

    async def _hear(self) -> None:
        """Wait for an entry. If an event does not come, let the viewer read the board again."""
        if self._order.waits or self._is_due:
            try:
                async with asyncio.timeout(PATIENCE):
                    entry = await self._listening.get()
            except TimeoutError:
                self._first = BoardChangeKind.REFETCH
                return
        else:
            entry = await self._listening.get()
        if isinstance(entry, Heard):
            self._take(entry)
        else:
            self._first = BoardChangeKind.REFETCH

    def _take(self, heard: Heard) -> None:
        event = decode(heard.message.payload)
        if isinstance(event, BoardEvent):
            placed = Placed(event, heard.message.place, heard.shared)
            self._ready += self._order.take(placed)
            self._is_due = False

    async def _whole(self, kind: BoardChangeKind) -> LiveEvent | None:
        """An event for which the viewer reads the board. What was published before it is not
        delivered any more."""
        context = self._new_context()
        if kind is BoardChangeKind.REFETCH:
            self._place = await context.stores.broadcasts.place(board_topic(self._board_id))
        board = await visibility.board(context, self._board_id)
        if board is None:
            return None
        version, self._flips = await _version(context, self._board_id), board.flips
        self._is_due = False
        self._ready = self._order.skip_to(version)
        at = BoardPlace(board.id, version, board.flips, self._place)
        return LiveEvent(context, self._changed(context, kind, board, at))

    def _was_hidden(self, context: Context, board: Board, flips: int) -> bool:
        """Whether the board was secret for some time since it had these `flips`. Its viewer then is
        not told what happened."""
        return board.flips != flips and board.owner_id != context.viewer_id

    async def _of(self, placed: Placed) -> LiveEvent | None:
        """The event; None if the board can't be seen any more, or if `_first` comes instead."""
        key = self._shared_as(placed)
        _, _, place, version = key
        flips, event = await placed.shared.get(
            key, partial(self._read, placed.event, self._flips, place, version)
        )
        if flips is not None and event is None:
            self._first = BoardChangeKind.REFETCH
        elif flips is not None:
            self._flips, self._place = flips, place
        return event

    def _shared_as(self, placed: Placed) -> tuple[Hashable, int, str, int]:
        """The viewer's key, the board's `flips`, the place and the order version of an event: what
        tells it from other streams' events of the same message."""
        place = max(self._place, placed.place, key=_position)
        return self._key, self._flips, place, placed.event.version or self._order.version

    async def _read(
        self, event: BoardEvent, flips: int, place: str, version: int
    ) -> tuple[int | None, LiveEvent | None]:
        """The board's `flips`, None if it can't be seen any more; and the event, None if the viewer
        must read the board again."""
        context = self._new_context()
        board = await visibility.board(context, self._board_id)
        if board is None:
            return None, None
        if self._was_hidden(context, board, flips):
            return board.flips, None
        kind, pin = _KINDS[event.change], None
        if kind in _WITH_A_PIN:
            pin = await visibility.pin(context, event.pin_id)
            if pin is None or pin.board_id != board.id:
                pin = None  # it left in the meantime: the event of that follows
        at = BoardPlace(board.id, version, board.flips, place)
        changed = self._changed(
            context,
            kind,
            board,
            at,
            pin=pin,
            pin_id=str(event.pin_id) if event.pin_id else None,
            above_pin_id=str(event.above_id) if event.above_id else None,
            section_id=str(event.section_id) if event.section_id else None,
        )
        return board.flips, LiveEvent(context, changed)

    def _changed(
        self,
        context: Context,
        kind: BoardChangeKind,
        board: Board,
        at: BoardPlace,
        pin: Pin | None = None,
        pin_id: str | None = None,
        above_pin_id: str | None = None,
        section_id: str | None = None,
    ) -> BoardChanged:
        cursor = context.cursors.seal(at.text())
        return BoardChanged(
            *(kind, board, str(at.version), cursor, pin, pin_id, above_pin_id, section_id)
        )


@lru_cache(maxsize=64)  # all streams of a board compare the same places
def _position(place: str) -> tuple[int, int]:
    milliseconds, _, number = place.partition(":")[2].partition("-")
    return int(milliseconds), int(number)


async def _version(context: Context, board_id: int) -> int:
    """The board's order version now."""
    key = ListKey(Mapping.BOARD_HAS_PINS, board_id)
    return (await context.stores.shards.mappings.heads([key]))[key].version
