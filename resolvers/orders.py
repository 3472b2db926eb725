"""The orders in which a list can be read, and pages of lists that are sorted for a request.

No index has these orders, so a sorted list is read as a whole: `MOST_SORTED` entries at most. A
longer list is refused, because sorting a part of it would give a wrong answer.

A cursor of a sorted list has the entry's id and the first bytes of its key. If the entry is still
in the list with this key, the page continues at the entry; else at the place of the key: the entry
may have left the list, or have another name or number now. Entries whose texts begin with the same
16 bytes may then be shown again, and so may the entry itself; no other entry is skipped.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

from datasources.errors import BadInput
from datasources.mappings import ListKey, PageRequest
from datasources.mappings import Mapping as MappingName
from datasources.records import Board, Pin, Record, User
from resolvers import visibility
from resolvers.columns import sizes
from resolvers.context import Context
from resolvers.cursors import CursorKind, Cursors
from resolvers.paging import (
    Connection,
    Edge,
    Keep,
    ListPageInfo,
    Pages,
    SortedPlace,
    Span,
    list_pages,
)

MOST_SORTED = 500
"""The maximum number of entries of a list that is sorted for a request."""
_LAST = 2**128 - 1
R = TypeVar("R", bound=Record)


class BoardOrder(Enum):
    """The orders of the boards that a user has or follows."""

    NEWEST = "NEWEST"
    OLDEST = "OLDEST"
    NAME = "NAME"
    PINS = "PINS"


class PinOrder(Enum):
    """The orders of the pins of a board or a section."""

    MANUAL = "MANUAL"
    NEWEST = "NEWEST"
    LIKES = "LIKES"


class CommentOrder(Enum):
    """The orders of a pin's comments."""

    NEWEST = "NEWEST"
    OLDEST = "OLDEST"


class UserOrder(Enum):
    """The orders of users in lists of follows, likes, mutes and blocks."""

    NEWEST = "NEWEST"
    OLDEST = "OLDEST"
    NAME = "NAME"


class Key(NamedTuple):
    """A sort key, ascending. `prefix` is a number of 16 bytes, which cursors have. `rest` decides
    between equal prefixes; it is empty if the prefix is the whole key."""

    prefix: int
    rest: bytes = b""


Keys = Callable[[Context, Sequence[R]], Awaitable[Mapping[int, Key]]]
"""Returns the keys of records by their ids."""


async def by_name(_: Context, boards: Sequence[Board]) -> Mapping[int, Key]:
    """By name, whatever its case."""
    return {board.id: _text_key(board.name) for board in boards}


async def by_username(_: Context, users: Sequence[User]) -> Mapping[int, Key]:
    """By user name, whatever its case."""
    return {user.id: _text_key(user.username) for user in users}


async def by_pins(context: Context, boards: Sequence[Board]) -> Mapping[int, Key]:
    """By the number of pins, the most first."""
    return await _by_size(context, MappingName.BOARD_HAS_PINS, boards)


async def by_age(_: Context, pins: Sequence[Pin]) -> Mapping[int, Key]:
    """By the time when the pin was made, the newest first."""
    return {pin.id: Key(_LAST - pin.created) for pin in pins}


async def by_likes(context: Context, pins: Sequence[Pin]) -> Mapping[int, Key]:
    """By the number of likes, the most first."""
    return await _by_size(context, MappingName.PIN_LIKED_BY_USERS, pins)


async def _by_size(
    context: Context, mapping: MappingName, records: Sequence[Record]
) -> Mapping[int, Key]:
    found = await sizes(context, [ListKey(mapping, record.id) for record in records])
    keys: dict[int, Key] = {}
    for record, size in zip(records, found, strict=True):
        if isinstance(size, BaseException):
            raise size
        keys[record.id] = Key(_LAST - size)
    return keys


def _text_key(text: str) -> Key:
    folded = text.casefold().encode()
    # A text of 16 bytes has a rest, too: its prefix may be the beginning of a longer text.
    return Key(int.from_bytes(folded[:16].ljust(16, b"\0")), folded[15:])


async def board_pages(
    context: Context,
    lists: Sequence[ListKey],
    span: Span,
    order_by: BoardOrder | None,
    keep: Keep[Board] = visibility.boards,
) -> Pages[Board]:
    """The boards of each list in a span."""
    if order_by is BoardOrder.NAME:
        return await sorted_pages(context, lists, span, keep, number=1, keys=by_name)
    if order_by is BoardOrder.PINS:
        return await sorted_pages(context, lists, span, keep, number=2, keys=by_pins)
    oldest_first = order_by is BoardOrder.OLDEST
    return await list_pages(context, lists, span, keep, oldest_first=oldest_first)


async def pin_pages(
    context: Context, lists: Sequence[ListKey], span: Span, order_by: PinOrder | None
) -> Pages[Pin]:
    """The pins of each list in a span, for lists that people order by hand."""
    keep = visibility.pins
    if order_by is PinOrder.NEWEST:
        return await sorted_pages(context, lists, span, keep, number=3, keys=by_age)
    if order_by is PinOrder.LIKES:
        return await sorted_pages(context, lists, span, keep, number=4, keys=by_likes)
    return await list_pages(context, lists, span, keep)


async def user_pages(
    context: Context,
    lists: Sequence[ListKey],
    span: Span,
    order_by: UserOrder | None,
    keep: Keep[User] = visibility.users,
) -> Pages[User]:
    """The users of each list in a span."""
    if order_by is UserOrder.NAME:
        return await sorted_pages(context, lists, span, keep, number=5, keys=by_username)
    oldest_first = order_by is UserOrder.OLDEST
    return await list_pages(context, lists, span, keep, oldest_first=oldest_first)


async def user_page(
    context: Context,
    key: ListKey,
    span: Span,
    order_by: UserOrder | None,
    keep: Keep[User] = visibility.users,
) -> Connection[User]:
    """The users of one list in a span. Raises StoreError, and BadInput for a list that is too long
    for the order."""
    [page] = await user_pages(context, [key], span, order_by, keep)
    if isinstance(page, BaseException):
        raise page
    return page


async def sorted_pages(
    context: Context,
    lists: Sequence[ListKey],
    span: Span,
    keep: Keep[R],
    *,
    number: int,
    keys: Keys[R],
) -> Pages[R]:
    """The visible entries of each list in a span, in the order of their keys. `number` identifies
    the order in cursors. Entries that can't be read are last. The error is BadInput for a list of
    more than `MOST_SORTED` entries."""
    of_lists = [context.cursors.of(key) for key in lists]
    places = [_place(cursors, span, number) for cursors in of_lists]
    refused = [place for place in places if isinstance(place, BadInput)]
    if refused and len(refused) == len(places):
        return refused
    found = await context.loaders.pages.many([PageRequest(key, MOST_SORTED + 1) for key in lists])
    ids = [
        row.to_id
        for rows in found
        if isinstance(rows, list) and len(rows) <= MOST_SORTED
        for row in rows
    ]
    kept = await keep(context, ids)
    records = [record for record in kept.values() if not isinstance(record, BaseException)]
    by_id = await keys(context, records)
    pages: list[Connection[R] | BaseException] = []
    for cursors, at, rows in zip(of_lists, places, found, strict=True):
        if isinstance(at, BadInput):
            pages.append(at)
        elif isinstance(rows, BaseException):
            pages.append(rows)
        elif len(rows) > MOST_SORTED:
            pages.append(
                BadInput(
                    f"orderBy sorts lists of {MOST_SORTED} entries at most, and this list has more:"
                    " read it in its own order",
                    "orderBy",
                )
            )
        else:
            entries = sorted(
                (by_id.get(row.to_id, Key(_LAST)), row.to_id) for row in rows if row.to_id in kept
            )
            pages.append(_cut(cursors, entries, kept, span, at, number))
    return pages


def _place(cursors: Cursors, span: Span, number: int) -> tuple[Key, int] | BadInput | None:
    """The key and the id in a span's cursor; an error for a cursor of another list or order."""
    if span.cursor is None:
        return None
    argument = "before" if span.backward else "after"
    try:
        place = cursors.decode(CursorKind.SORTED, span.cursor, argument)
    except BadInput as error:
        return error
    if place.era != number:
        return BadInput(f"{argument} is a cursor of another order of this list", argument)
    return Key(place.sequence), place.id


def _cut(
    cursors: Cursors,
    entries: Sequence[tuple[Key, int]],
    kept: Mapping[int, R | BaseException],
    span: Span,
    at: tuple[Key, int] | None,
    number: int,
) -> Connection[R]:
    """The part of a sorted list that a span shows."""
    start, end = 0, len(entries)
    if at is not None:
        prefix, id = at[0].prefix, at[1]
        places = {id: place for place, (key, id) in enumerate(entries) if key.prefix == prefix}
        own = places.get(id)
        if own is None:
            own = _rank(entries, at, backward=span.backward)
            start, end = (0, own) if span.backward else (own, end)
        else:
            start, end = (0, own) if span.backward else (own + 1, end)
    if span.backward:
        start = max(start, end - span.size)
    else:
        end = min(end, start + span.size)
    shown = [
        Edge(SortedPlace(number, key.prefix, id), kept[id], cursors)
        for key, id in entries[start:end]
    ]
    first = shown[0].place if shown else None
    last = shown[-1].place if shown else None
    info = ListPageInfo(end < len(entries), start > 0, first, last, cursors)
    return Connection(shown, info)


def _rank(entries: Sequence[tuple[Key, int]], at: tuple[Key, int], *, backward: bool) -> int:
    """The number of entries before the place of a cursor whose entry is not there. Its key has no
    rest. Entries with the same prefix and a rest are on either side of it, so they are on the side
    that is read."""
    prefix = at[0].prefix
    return sum(
        entry < at or (backward and entry[0].prefix == prefix and entry[0].rest != b"")
        for entry in entries
    )
