"""Writes all that Pinway keeps about one user, as JSON Lines: `pinway user export`.

The first line is the account. Each further line is one object or one row, with a `type`. Ids are
texts, and times are ISO 8601 in UTC. What others did and the user does not see, such as blocks and
reports of the user, is not in the file.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import msgspec

from datasources import files, records
from datasources.errors import ConfigError, NotFound
from datasources.ids import Kind, kind_of
from datasources.mappings import (
    SEQUENCE_STEP,
    Edge,
    ListKey,
    Mapping,
    PageRequest,
    Position,
    lists_of_kind,
)
from datasources.protocols import NOTIFICATIONS_KEPT, VISITS_KEPT, Stores
from datasources.records import Board, Comment, Image, Pin, Record, Section, User
from feed_engine.feeds.visits import remembered
from feed_engine.writes.comment_index import comments_of
from gateway.operate.imports.report import OnProgress, Progress
from gateway.operate.times import in_utc

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
"""The lists of a user whose rows are written, one line each."""


async def export_user(
    stores: Stores, user: User, account: Line, path: Path, on_progress: OnProgress
) -> int:
    """Write the user's data to a new file, which its owner alone may read. `account`: the first
    line. Returns the number of lines. Raises StoreError; NotFound for an account that was deleted;
    ConfigError if the file can't be written."""
    if not user.active:
        raise NotFound(f"the account {user.id} is deleted: its data is no longer kept")
    lines = 0
    try:
        with _opened(path) as file:
            async for found in _pages(stores, user, account):
                _write(file, found)
                lines += len(found)
                on_progress(Progress("Lines", lines, None, "lines"))
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from None
    return lines


def _opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path} exists: name a new file")
    return files.replacing(path)


def _write(file: IO[bytes], lines: Sequence[Line]) -> None:
    for line in lines:
        file.write(msgspec.json.encode(line) + b"\n")


async def _pages(stores: Stores, user: User, account: Line) -> AsyncIterator[list[Line]]:
    yield [{"type": "account", **account, "about": user.about, "picture": _image(user.avatar)}]
    async for boards in _rows(stores, ListKey(Mapping.USER_HAS_BOARDS, user.id)):
        yield await _told(stores, boards)
        for board in boards:
            async for sections in _rows(stores, ListKey(Mapping.BOARD_HAS_SECTIONS, board.to_id)):
                yield await _told(stores, sections)
    async for pins in _rows(stores, ListKey(Mapping.USER_HAS_PINS, user.id)):
        yield await _told(stores, pins)
    for mapping in LISTS:
        async for rows in _rows(stores, ListKey(mapping, user.id)):
            yield [_of_row(mapping, row) for row in rows]
    async for found in comments_of(stores, user.id, "", _nowhere):
        yield [_of_record(it) for some in found.values() for it in some if it.active]
    shards = stores.shards
    inbox = await shards.notifications.of_user(user.id, NOTIFICATIONS_KEPT)
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
    for visit in map(remembered, await shards.visits.recent(user.id, VISITS_KEPT)):
        shown = [str(pin_id) for pin_id, _ in visit.chunk.pins]
        yield [{"type": "visit", "at": _time(visit.created), "shown": shown}]
    yield [
        {"type": "event", "kind": it.kind.name, "pin": str(it.pin_id), "at": _time(it.at)}
        for it in await shards.events.of_user(user.id, _EVENTS)
    ]
    if stores.pictures is not None:
        yield [
            {"type": "uploaded_picture", "file": name}
            for name in sorted(await stores.pictures.names(str(user.id)))
        ]


async def _rows(stores: Stores, key: ListKey) -> AsyncIterator[list[Edge]]:
    after: Position | None = None
    while True:
        [rows] = await stores.shards.mappings.pages([PageRequest(key, _PAGE, after)])
        if rows:
            yield rows
        if len(rows) < _PAGE:
            return
        after = Position(rows[-1].sequence, rows[-1].to_id)


async def _told(stores: Stores, rows: Sequence[Edge]) -> list[Line]:
    ids = [row.to_id for row in rows]
    stored = await stores.shards.objects.get(ids)
    found = (records.decode(kind_of(id), id, stored[id]) for id in ids if id in stored)
    return [_of_record(record) for record in found if record.active]


async def _nowhere(place: str) -> None:
    """An export that was interrupted begins again."""


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
        "type": mapping.value.removeprefix("user_"),
        "id": str(row.to_id),
        "at": _time(row.sequence // SEQUENCE_STEP),
    }


def _image(image: Image | None) -> str | None:
    return None if image is None else image.url


def _id(id: int | None) -> str | None:
    return None if id is None else str(id)


def _time(epoch_ms: int) -> str:
    return in_utc(epoch_ms, "milliseconds")
