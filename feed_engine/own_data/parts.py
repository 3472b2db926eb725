"""The parts of a user's own data. A part is a list of lines in pages; a line is the account, one
object or one row, with a `type`.

Ids are texts, and times are ISO 8601 in UTC. What others did and the user does not see, such as
blocks and reports of the user, is in no part.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, NamedTuple

from datasources import records
from datasources.ids import Kind, kind_of
from datasources.mappings import (
    SEQUENCE_STEP,
    Edge,
    ListKey,
    Mapping,
    PageRequest,
    lists_of_kind,
)
from datasources.protocols import NOTIFICATIONS_KEPT, VISITS_KEPT, Stores
from datasources.records import Board, Comment, Image, Pin, Record, Section, User
from feed_engine.feeds.visits import remembered
from feed_engine.own_data import account
from feed_engine.own_data.requests import is_export
from feed_engine.times import in_utc
from feed_engine.writes.comment_index import comments_of

Line = dict[str, Any]
_PAGE = 500
_EVENTS = 100_000
_LEFT_OUT = {
    # Objects; the public ones again; who blocks the user; which tokens are refused.
    *(Mapping.USER_HAS_BOARDS, Mapping.USER_HAS_PINS, Mapping.USER_WROTE_COMMENTS),
    *(Mapping.USER_HAS_PUBLIC_BOARDS, Mapping.USER_HAS_PUBLIC_PINS),
    *(Mapping.USER_BLOCKED_BY_USERS, Mapping.USER_SIGNED_OUT),
}
LISTS = tuple(it for it in lists_of_kind(Kind.USER) if it not in _LEFT_OUT)
"""The lists of a user whose rows are in the parts, one line each."""


class Part(NamedTuple):
    """A part by its name, and its pages of lines."""

    name: str
    pages: AsyncIterator[list[Line]]


def parts(stores: Stores, user: User) -> Iterator[Part]:
    """All parts. A part is read while its pages are iterated. Raises StoreError."""
    yield Part("account", _account(user))
    yield Part("boards", _boards(stores, user.id))
    yield Part("pins", _pins(stores, user.id))
    for mapping in LISTS:
        yield Part(_type(mapping), _list(stores, mapping, user.id))
    yield Part("comments", _comments(stores, user.id))
    yield Part("notifications", _notifications(stores, user.id))
    yield Part("visits", _visits(stores, user.id))
    yield Part("events", _events(stores, user.id))
    if stores.pictures is not None:
        yield Part("uploaded_pictures", _pictures(stores, user.id))


async def _account(user: User) -> AsyncIterator[list[Line]]:
    described = {"about": user.about, "picture": _image(user.avatar)}
    yield [{"type": "account", **account.told(user), **described}]


async def _boards(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    """Pages of boards. The sections of a page's boards follow it."""
    async for boards in _rows(stores, ListKey(Mapping.USER_HAS_BOARDS, user_id)):
        yield await _told(stores, boards)
        for board in boards:
            async for sections in _rows(stores, ListKey(Mapping.BOARD_HAS_SECTIONS, board.to_id)):
                yield await _told(stores, sections)


async def _pins(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    async for pins in _rows(stores, ListKey(Mapping.USER_HAS_PINS, user_id)):
        yield await _told(stores, pins)


async def _list(stores: Stores, mapping: Mapping, user_id: int) -> AsyncIterator[list[Line]]:
    async for rows in _rows(stores, ListKey(mapping, user_id)):
        yield [_of_row(mapping, row) for row in rows]


async def _comments(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    async for found in comments_of(stores, user_id, "", _nowhere):
        yield [_of_record(it) for some in found.values() for it in some if it.active]


async def _notifications(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    inbox = await stores.shards.notifications.of_user(user_id, NOTIFICATIONS_KEPT)
    yield [
        {
            "type": "notification",
            "kind": it.kind.name,
            "about": str(it.subject_id),
            "by": str(it.actor_id),
            "at": _time(it.at),
        }
        for it in inbox.notifications
    ]


async def _visits(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    for visit in map(remembered, await stores.shards.visits.recent(user_id, VISITS_KEPT)):
        shown = [str(pin_id) for pin_id, _ in visit.chunk.pins]
        yield [{"type": "visit", "at": _time(visit.created), "shown": shown}]


async def _events(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    yield [
        {"type": "event", "kind": it.kind.name, "pin": str(it.pin_id), "at": _time(it.at)}
        for it in await stores.shards.events.of_user(user_id, _EVENTS)
    ]


async def _pictures(stores: Stores, user_id: int) -> AsyncIterator[list[Line]]:
    assert stores.pictures is not None
    names = sorted(await stores.pictures.names(str(user_id)))
    yield [{"type": "uploaded_picture", "file": name} for name in names if not is_export(name)]


async def _rows(stores: Stores, key: ListKey) -> AsyncIterator[list[Edge]]:
    request: PageRequest | None = PageRequest(key, _PAGE)
    while request:
        [rows] = await stores.shards.mappings.pages([request])
        if rows:
            yield rows
        request = request.next(rows)


async def _told(stores: Stores, rows: Sequence[Edge]) -> list[Line]:
    ids = [row.to_id for row in rows]
    stored = await stores.shards.objects.get(ids)
    found = (records.decode(kind_of(id), id, stored[id]) for id in ids if id in stored)
    return [_of_record(record) for record in found if record.active]


async def _nowhere(place: str) -> None:
    """A reader that was interrupted begins again."""


def _of_record(record: Record) -> Line:
    told: Line = {"type": kind_of(record.id).name.lower(), "id": str(record.id)}
    match record:
        case Board():
            told |= {
                "name": record.name,
                "description": record.description,
                "secret": record.secret,
                "collaborators": [str(id) for id in record.collaborators],
                "invited": [str(id) for id in record.invited],
            }
        case Section():
            told |= {"board": str(record.board_id), "name": record.name}
        case Pin():
            told |= {
                "board": str(record.board_id),
                "section": _id(record.section_id),
                "title": record.title,
                "description": record.description,
                "link": record.link,
                "image": _image(record.image),
                "source": _id(record.source_id),
                "interests": [str(id) for id in record.interest_ids],
            }
        case Comment():
            told |= {"pin": str(record.pin_id), "text": record.text}
    return told | {"created": _time(record.created)}


def _of_row(mapping: Mapping, row: Edge) -> Line:
    """An affinity's time is the one at which a single like would be as strong."""
    return {
        "type": _type(mapping),
        "id": str(row.to_id),
        "at": _time(row.sequence // SEQUENCE_STEP),
    }


def _type(mapping: Mapping) -> str:
    """The type of the lines of a user's list."""
    return mapping.value.removeprefix("user_")


def _image(image: Image | None) -> str | None:
    return None if image is None else image.url


def _id(id: int | None) -> str | None:
    return None if id is None else str(id)


def _time(epoch_ms: int) -> str:
    return in_utc(epoch_ms, "milliseconds")
