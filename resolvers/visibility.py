"""The rules for what a viewer may see. Every path to an object calls one of these functions.

A secret board and its pins exist for its owner and its collaborators only. For all other viewers
they are absent, like objects that were deleted or never existed. So are a user's objects, and the
user, for a viewer if one of the two blocks the other. A board's owner sees all pins on it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from datasources.ids import Kind
from datasources.records import Board, Comment, Interest, OnBoard, Pin, Record, Section, User
from loaders.base import Loader
from resolvers import blocks
from resolvers.context import Context

R = TypeVar("R", bound=Record)
P = TypeVar("P", bound=Record)
Found = Mapping[int, R | BaseException]


def shows(context: Context, board: Board) -> bool:
    """Whether the viewer may see this board."""
    return not board.secret or board.has_member(context.viewer_id)


class Invitation(Record, frozen=True, kw_only=True):
    """An invitation of the viewer to a board, with all that an invited user learns of the board:
    its id, name and owner."""

    board_id: int
    board_name: str
    owner_id: int


class Rule(NamedTuple):
    """The rule for the objects of one kind: `read` returns the objects that the viewer may see, and
    an error for each object that can't be read. `on` is the kind of the object that each of them is
    on, which decides who may see it, and the attribute with that object's id."""

    read: Callable[[Context, Sequence[int]], Awaitable[Found[Any]]]
    on: tuple[Kind, str] | None = None


async def users(context: Context, ids: Sequence[int]) -> Found[User]:
    found = await _load(context, context.loaders.users, ids)
    return _without(found, await blocks.hidden(context, found))


def user_column(
    context: Context, ids: Sequence[int]
) -> Awaitable[Sequence[User | BaseException | None]]:
    """The user of each id, or an error; None for a user whom the viewer may not see."""
    if context.viewer_id is None:  # nobody is hidden from strangers
        return context.loaders.users.many(ids)
    return _seen_users(context, ids)


async def interests(context: Context, ids: Sequence[int]) -> Found[Interest]:
    loaded = await context.loaders.interests.many(ids)
    return {id: record for id, record in zip(ids, loaded, strict=True) if record is not None}


async def boards(context: Context, ids: Sequence[int]) -> Found[Board]:
    found = await _load(context, context.loaders.boards, ids)
    hidden = await blocks.hidden(context, _owner_ids(found.values()))
    return {
        id: board
        for id, board in found.items()
        if isinstance(board, BaseException)
        or (shows(context, board) and board.owner_id not in hidden)
    }


async def pins(context: Context, ids: Sequence[int]) -> Found[Pin]:
    """The pins whose boards the viewer may see; an error if a pin or its board could not be
    read."""
    loader = context.loaders.pins
    seen, on = await _on_seen_boards(context, loader, await _load(context, loader, ids))
    return await _by_shown_users(context, seen, on)


async def invitations(context: Context, ids: Sequence[int]) -> Found[Invitation]:
    """The viewer's invitations to boards."""
    found = await _load(context, context.loaders.boards, ids)
    hidden = await blocks.hidden(context, _owner_ids(found.values()))
    return {
        id: Invitation(id=id, board_id=id, board_name=it.name, owner_id=it.owner_id)
        if isinstance(it, Board)
        else it
        for id, it in found.items()
        if isinstance(it, BaseException)
        or (context.viewer_id in it.invited and it.owner_id not in hidden)
    }


async def sections(context: Context, ids: Sequence[int]) -> Found[Section]:
    """The sections whose boards the viewer may see; an error if a section or its board could not be
    read."""
    loader = context.loaders.sections
    seen, _ = await _on_seen_boards(context, loader, await _load(context, loader, ids))
    return seen


async def public_users(context: Context, users: Sequence[User]) -> Found[User]:
    """The users, already read, whom the viewer may see."""
    found = {user.id: user for user in users}
    return _without(found, await blocks.hidden(context, found))


async def public_boards(context: Context, boards: Sequence[Board]) -> Found[Board]:
    """The boards, already read, that everybody may see whom no block keeps from their owner."""
    hidden = await blocks.hidden(context, _owner_ids(boards))
    return {it.id: it for it in boards if not it.secret and it.owner_id not in hidden}


async def public_pins(context: Context, pins: Sequence[Pin]) -> Found[Pin]:
    """The pins, already read, that everybody may see whom no block keeps from their owner; an error
    if a pin's board could not be read."""
    for pin in pins:
        context.loaders.pins.prime(pin.id, pin)
    given = {pin.id: pin for pin in pins}
    found, on = await _on_seen_boards(context, context.loaders.pins, given)
    seen = await _by_shown_users(context, found, on)
    secret = {id for id, board in on.items() if isinstance(board, Board) and board.secret}
    return {
        id: pin
        for id, pin in seen.items()
        if isinstance(pin, BaseException) or pin.board_id not in secret
    }


async def comments(context: Context, ids: Sequence[int]) -> Found[Comment]:
    """The comments whose pins and authors the viewer may see; an error if a comment or its pin
    could not be read. If the board's `flips` changed since a comment was made, both are read again,
    as pins are."""
    loaders = context.loaders
    found = await _load(context, loaders.comments, ids)
    under = await pins(context, _pin_ids(found))
    on = await _boards_of(context, under)
    authors = {it.author_id for it in found.values() if isinstance(it, Comment)}
    hidden = await blocks.hidden(context, authors)
    seen = {
        id: comment
        for id, comment in _seen_with(found, under, _pin_id).items()
        if isinstance(comment, BaseException) or comment.author_id not in hidden
    }
    doubtful = {
        id: comment
        for id, comment in seen.items()
        if isinstance(comment, Comment)
        and isinstance(pin := under.get(comment.pin_id), Pin)
        and _was_flipped(context, comment.flips, on.get(pin.board_id))
    }
    if not doubtful:
        return await _by_users(context, seen)
    for pin_id in _pin_ids(doubtful):
        loaders.pins.clear(pin_id)
    for board_id in on:
        loaders.boards.clear(board_id)
    under = await pins(context, _pin_ids(doubtful))
    for id in doubtful:
        del seen[id]
        loaders.comments.clear(id)
    later = await _load(context, loaders.comments, list(doubtful))
    return await _by_users(context, seen | _seen_with(later, under, _pin_id))


async def user(context: Context, id: int) -> User | None:
    return one(await users(context, [id]), id)


async def board(context: Context, id: int) -> Board | None:
    return one(await boards(context, [id]), id)


async def pin(context: Context, id: int) -> Pin | None:
    return one(await pins(context, [id]), id)


async def section(context: Context, id: int) -> Section | None:
    return one(await sections(context, [id]), id)


def one(found: Found[R], id: int) -> R | None:
    """The record of one id. Raises the error of reading it."""
    record = found.get(id)
    if isinstance(record, BaseException):
        raise record
    return record


async def _on_seen_boards(
    context: Context, loader: Loader[int, OnBoard | None], found: Found[OnBoard]
) -> tuple[dict[int, OnBoard | BaseException], Found[Board]]:
    """The found objects, already read, whose boards the viewer may see, and these boards.

    An object and its board are read one after the other, in either order, because boards are
    remembered for the request. In between, a secret board may have become public after a pin left
    it, or the pin may have come to a board that had become secret. So if the board's `flips` and
    the object's differ, the two are read again until the object is the same before and after its
    board. Memberships change without `flips`, so a collaborator's objects on secret boards are
    always read again.
    """
    on = places = await _boards_of(context, found)
    seen = _seen_with(found, on, _board_id)
    doubtful = {
        id: it
        for id, it in seen.items()
        if not isinstance(it, BaseException)
        and _was_flipped(context, it.flips, on.get(it.board_id))
    }
    while doubtful:
        for id, it in doubtful.items():
            seen.pop(id, None)
            context.loaders.boards.clear(it.board_id)
        on = await _boards_of(context, doubtful)
        places = {**places, **on}
        for id in doubtful:
            loader.clear(id)
        later = await _load(context, loader, list(doubtful))
        changed = {
            id: it
            for id, it in later.items()
            if not isinstance(it, BaseException) and it != doubtful[id]
        }
        same = {id: it for id, it in later.items() if id not in changed}
        seen |= _seen_with(same, on, _board_id)
        doubtful = changed
    return seen, places


async def _by_shown_users(
    context: Context, found: dict[int, Pin | BaseException], on: Found[Board]
) -> Found[Pin]:
    """The pins without the pins that collaborators added whom the viewer does not see, or whose
    accounts are deleted. A board's owner sees the pins of hidden users, too, to delete them. Most
    pins are of their boards' owners: for them nothing is read."""
    added = {
        id: board
        for id, pin in found.items()
        if isinstance(pin, Pin)
        and isinstance(board := on.get(pin.board_id), Board)
        and pin.owner_id != board.owner_id
    }
    if not added:
        return found
    by = {id: pin.owner_id for id in added if isinstance(pin := found[id], Pin)}
    hidden = await blocks.hidden(context, set(by.values()))
    shown = {
        id: user_id
        for id, user_id in by.items()
        if user_id not in hidden or added[id].owner_id == context.viewer_id
    }
    asked = list(set(shown.values()))
    loaded = await context.loaders.users.many(asked)
    gone = {id for id, user in zip(asked, loaded, strict=True) if user is None}
    return {
        id: it for id, it in found.items() if id not in by or (id in shown and by[id] not in gone)
    }


async def _boards_of(context: Context, found: Found[OnBoard]) -> Found[Board]:
    ids = {it.board_id for it in found.values() if not isinstance(it, BaseException)}
    return await boards(context, list(ids))


_board_id: Callable[[Any], int] = attrgetter("board_id")
_pin_id: Callable[[Comment], int] = attrgetter("pin_id")


async def _by_users(context: Context, found: dict[int, Comment | BaseException]) -> Found[Comment]:
    """The comments without the comments of deleted accounts. Only the authors of visible comments
    are loaded: a hidden comment takes the same calls of stores as an absent comment."""
    authors = list({it.author_id for it in found.values() if isinstance(it, Comment)})
    loaded = await context.loaders.users.many(authors)
    gone = {id for id, user in zip(authors, loaded, strict=True) if user is None}
    if not gone:
        return found
    return {
        id: it
        for id, it in found.items()
        if isinstance(it, BaseException) or it.author_id not in gone
    }


def _pin_ids(found: Found[Comment]) -> list[int]:
    return list({it.pin_id for it in found.values() if isinstance(it, Comment)})


def _was_flipped(context: Context, flips: int, board: Board | BaseException | None) -> bool:
    """Whether another user's board may have been hidden from the viewer when an object with these
    `flips` was on it: it became secret or public after the object was written, or the object was
    written after the board was read, or the viewer is a collaborator of a secret board."""
    return (
        isinstance(board, Board)
        and board.owner_id != context.viewer_id
        and (board.secret or board.flips != flips)
    )


def _seen_with(
    found: Found[R], places: Found[P], place_of: Callable[[R], int]
) -> dict[int, R | BaseException]:
    """The objects whose place the viewer can see; an error if the place could not be read."""
    seen: dict[int, R | BaseException] = {}
    for id, record in found.items():
        if isinstance(record, BaseException):
            seen[id] = record
        elif (place := places.get(place_of(record))) is not None:
            seen[id] = place if isinstance(place, BaseException) else record
    return seen


async def _seen_users(
    context: Context, ids: Sequence[int]
) -> Sequence[User | BaseException | None]:
    found = await users(context, ids)
    return [found.get(id) for id in ids]


def _owner_ids(found: Iterable[Board | BaseException]) -> list[int]:
    return [board.owner_id for board in found if isinstance(board, Board)]


def _without(found: Found[R], hidden: Set[int]) -> Found[R]:
    return {id: it for id, it in found.items() if id not in hidden} if hidden else found


async def _load(context: Context, loader: Loader[int, R | None], ids: Sequence[int]) -> Found[R]:
    if blocks.at_hand(context) is not None:
        loaded = await loader.many(ids)
    else:  # the first objects of a request are loaded at the same time as the viewer's blocks
        loaded, _ = await asyncio.gather(loader.many(ids), blocks.load(context))
    return {id: record for id, record in zip(ids, loaded, strict=True) if record is not None}


RULES: dict[Kind, Rule] = {
    Kind.PIN: Rule(pins, on=(Kind.BOARD, "board_id")),
    Kind.BOARD: Rule(boards),
    Kind.USER: Rule(users),
    Kind.COMMENT: Rule(comments, on=(Kind.PIN, "pin_id")),
    Kind.INTEREST: Rule(interests),
    Kind.SECTION: Rule(sections, on=(Kind.BOARD, "board_id")),
}
"""The rules for all kinds."""
