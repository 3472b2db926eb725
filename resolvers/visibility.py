"""What the viewer may see: every path to an object goes through one of these.

A secret board and its pins exist for their owner alone; for everybody else they are absent, just
as what was deleted or never was.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from datasources.records import Board, Comment, Interest, Pin, Record, User
from loaders.base import Loader
from resolvers.context import Context

R = TypeVar("R", bound=Record)
P = TypeVar("P", bound=Record)
Found = Mapping[int, R | BaseException]


def shows(context: Context, board: Board) -> bool:
    """Whether the viewer may see this board."""
    return not board.secret or board.owner_id == context.viewer_id


async def users(context: Context, ids: Sequence[int]) -> Found[User]:
    return await _load(context.loaders.users, ids)


async def interests(context: Context, ids: Sequence[int]) -> Found[Interest]:
    return await _load(context.loaders.interests, ids)


async def comments(context: Context, ids: Sequence[int]) -> Found[Comment]:
    """Comments of pins that are themselves visible."""
    return await _load(context.loaders.comments, ids)


async def boards(context: Context, ids: Sequence[int]) -> Found[Board]:
    found = await _load(context.loaders.boards, ids)
    return {
        id: board
        for id, board in found.items()
        if isinstance(board, BaseException) or shows(context, board)
    }


async def pins(context: Context, ids: Sequence[int]) -> Found[Pin]:
    """Pins whose board the viewer may see; an error where either could not be read."""
    return await _on_seen_boards(context, await _load(context.loaders.pins, ids))


async def public_boards(_: Context, boards: Sequence[Board]) -> Found[Board]:
    """Of boards that were read already, those that everybody may see."""
    return {board.id: board for board in boards if not board.secret}


async def public_pins(context: Context, pins: Sequence[Pin]) -> Found[Pin]:
    """Of pins that were read already, those that everybody may see; an error where the board could
    not be read."""
    seen = await _on_seen_boards(context, {pin.id: pin for pin in pins})
    on = await _boards_of(context, seen)
    secret = {id for id, board in on.items() if isinstance(board, Board) and board.secret}
    return {
        id: pin
        for id, pin in seen.items()
        if isinstance(pin, BaseException) or pin.board_id not in secret
    }


async def seen_comments(context: Context, ids: Sequence[int]) -> Found[Comment]:
    """Comments whose pin the viewer may see; an error where either could not be read."""
    found = await comments(context, ids)
    under = await pins(context, [c.pin_id for c in found.values() if isinstance(c, Comment)])
    return _seen_with(found, under, lambda comment: comment.pin_id)


async def board(context: Context, id: int) -> Board | None:
    return one(await boards(context, [id]), id)


async def pin(context: Context, id: int) -> Pin | None:
    return one(await pins(context, [id]), id)


def one(found: Found[R], id: int) -> R | None:
    """The record of one id, or the error of reading it, raised."""
    record = found.get(id)
    if isinstance(record, BaseException):
        raise record
    return record


async def _on_seen_boards(context: Context, found: Found[Pin]) -> Found[Pin]:
    """Those of pins that were read already whose board the viewer may see.

    A pin and its board are read one after the other, in either order, as boards are remembered for
    the request. In between a secret board may have become public when the pin had left it, or the
    pin have come to a board that had become secret. Where the board was flipped since the pin was
    written, or the other way around, the two are read again until the pin is the same before and
    after its board.
    """
    on = await _boards_of(context, found)
    seen = dict(_seen_with(found, on, _board_id))
    doubtful = {
        id: pin
        for id, pin in seen.items()
        if isinstance(pin, Pin) and _was_flipped(context, pin, on.get(pin.board_id))
    }
    while doubtful:
        for id, pin in doubtful.items():
            seen.pop(id, None)
            context.loaders.boards.clear(pin.board_id)
        on = await _boards_of(context, doubtful)
        for id in doubtful:
            context.loaders.pins.clear(id)
        later = await _load(context.loaders.pins, list(doubtful))
        changed = {
            id: pin for id, pin in later.items() if isinstance(pin, Pin) and pin != doubtful[id]
        }
        same = {id: pin for id, pin in later.items() if id not in changed}
        seen |= _seen_with(same, on, _board_id)
        doubtful = changed
    return seen


async def _boards_of(context: Context, pins: Found[Pin]) -> Found[Board]:
    ids = {pin.board_id for pin in pins.values() if isinstance(pin, Pin)}
    return await boards(context, list(ids))


def _board_id(pin: Pin) -> int:
    return pin.board_id


def _was_flipped(context: Context, pin: Pin, board: Board | BaseException | None) -> bool:
    """Whether a board that others may see became secret or public since the pin on it was written,
    or the pin was written since."""
    return (
        isinstance(board, Board)
        and board.owner_id != context.viewer_id
        and board.flips != pin.flips
    )


def _seen_with(found: Found[R], places: Found[P], place_of: Callable[[R], int]) -> Found[R]:
    """Those whose place can be seen; an error where the place could not be read."""
    seen: dict[int, R | BaseException] = {}
    for id, record in found.items():
        if isinstance(record, BaseException):
            seen[id] = record
        elif (place := places.get(place_of(record))) is not None:
            seen[id] = place if isinstance(place, BaseException) else record
    return seen


async def _load(loader: Loader[int, R | None], ids: Sequence[int]) -> Found[R]:
    loaded = await loader.many(ids)
    return {id: record for id, record in zip(ids, loaded, strict=True) if record is not None}
