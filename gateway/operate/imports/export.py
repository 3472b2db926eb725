"""`pinway export`: all objects in the stores as JSON Lines that an import can read.

A first walk over all objects gives each object a key, in a temporary file (`keys.Keys.add`). A
second walk writes the lines, which refer to objects by these keys. Deleted objects and the objects
that depend on them are left out.
"""

from collections.abc import AsyncIterator, Iterable
from typing import IO

import msgspec

from datasources import records
from datasources.ids import Kind
from datasources.mappings import (
    SEQUENCE_STEP,
    Edge,
    EdgeKey,
    Mapping,
)
from datasources.protocols import Stores
from datasources.records import Board, Comment, Image, Interest, Pin, Record, Section, User
from feed_engine.transactions.key_kinds import issuer_and_subject
from feed_engine.writes.members import FIELDS, INVITES
from gateway.operate.imports.export_lists import lines_of_lists
from gateway.operate.imports.jsonl import (
    KEY_LENGTH,
    AnyLine,
    BoardLine,
    CollaboratorLine,
    CommentLine,
    ImageField,
    InterestLine,
    PinLine,
    SectionLine,
    UserLine,
    canonical,
    time_of,
)
from gateway.operate.imports.keys import Keys
from gateway.operate.imports.report import OnProgress, Progress, silent

_OBJECTS = 1000  # objects in a read
_ORDER = (Kind.USER, Kind.INTEREST, Kind.BOARD, Kind.SECTION, Kind.PIN, Kind.COMMENT)


async def export_file(
    stores: Stores,
    out: IO[bytes],
    *,
    progress: OnProgress = silent,
    spool_dir: str | None = None,
) -> int:
    """Write every line in canonical form. Returns the number of lines. Raises OSError and stores'
    errors."""
    keys = Keys(spool_dir)
    lines = 0
    try:
        for kind in _ORDER:
            async for found in _walk(stores, kind):
                parents = keys.of(id for record in found for id in _parents(record))
                keys.add(
                    kind,
                    (
                        (record.id, _importable(record.key))
                        for record in found
                        if all(id in parents for id in _parents(record))
                    ),
                )
                progress(Progress("keys", keys.count, None, "objects"))
        for kind in _ORDER:
            stage = f"{kind.name.lower()}s"
            done, total = 0, keys.count_of(kind)
            async for found in _walk(stores, kind):
                lines += _write(out, await _lines(stores, keys, found))
                done += len(found)
                progress(Progress(stage, min(done, total), total, stage))
        before = lines
        async for found in _walk(stores, Kind.USER):
            async for edges in lines_of_lists(stores, keys, [user.id for user in found]):
                lines += _write(out, edges)
                progress(Progress("lists of users", lines - before, None, "lines"))
    finally:
        keys.close()
    return lines


async def _walk(stores: Stores, kind: Kind) -> AsyncIterator[list[Record]]:
    """All objects of a kind that are not deleted."""
    after = 0
    while rows := await stores.shards.objects.list(kind, after, _OBJECTS):
        found = [records.decode(kind, id, data) for id, data in rows]
        yield [record for record in found if record.active]
        after = rows[-1][0]


def _write(out: IO[bytes], lines: Iterable[AnyLine]) -> int:
    texts = [canonical(line) for line in lines]
    if texts:
        out.write(b"\n".join(texts) + b"\n")
    return len(texts)


async def _lines(stores: Stores, keys: Keys, found: list[Record]) -> list[AnyLine]:
    """The lines of objects of one kind, without objects that refer to a missing owner, board or
    other object."""
    wanted: set[int] = set()
    for record in found:
        wanted.update(_references(record))
    known = keys.of([*(record.id for record in found), *wanted])
    rows = [row for record in found for row in _rows(record)]
    edges = await stores.shards.mappings.edges(rows) if rows else {}
    places = {(key.mapping, key.to_id): str(edge.sequence) for key, edge in edges.items()}
    owners = await _owners(stores, {pin.board_id for pin in found if isinstance(pin, Pin)})
    lines: list[AnyLine] = []
    for record in found:
        key, created = known.get(record.id), time_of(record.created)
        if key is None or not all(id in known for id in _parents(record)):
            continue  # its parent is missing, or one of the two was created after the first walk
        match record:
            case User():
                avatar = _image(record.avatar)
                issuer, subject = issuer_and_subject(record.subject)
                lines.append(
                    UserLine(
                        key=key,
                        created=created,
                        username=record.username,
                        full_name=record.full_name,
                        about=record.about,
                        avatar=avatar,
                        email=record.email,
                        issuer=issuer,
                        subject=subject,
                    )
                )
            case Interest():
                lines.append(
                    InterestLine(
                        key=key,
                        created=created,
                        name=record.name,
                        slug=record.slug,
                        description=record.description,
                    )
                )
            case Board():
                lines.append(
                    BoardLine(
                        key=key,
                        created=created,
                        owner=known[record.owner_id],
                        name=record.name,
                        description=record.description,
                        secret=record.secret,
                        cover=known.get(record.cover_pin_id or 0),
                    )
                )
                lines += _collaborators(record, known, edges)
            case Pin():
                section = known.get(record.section_id or 0)
                of_other = record.owner_id != owners.get(record.board_id)
                lines.append(
                    PinLine(
                        key=key,
                        created=created,
                        board=known[record.board_id],
                        owner=known[record.owner_id] if of_other else None,
                        title=record.title,
                        description=record.description,
                        link=record.link,
                        image=_image(record.image),
                        source=known.get(record.source_id or 0),
                        interests=tuple(known[i] for i in record.interest_ids if i in known),
                        sequence=places.get((Mapping.BOARD_HAS_PINS, record.id)),
                        section=section,
                        section_sequence=places.get((Mapping.SECTION_HAS_PINS, record.id))
                        if section
                        else None,
                    )
                )
            case Section():
                lines.append(
                    SectionLine(
                        key=key,
                        created=created,
                        board=known[record.board_id],
                        name=record.name,
                        sequence=places.get((Mapping.BOARD_HAS_SECTIONS, record.id)),
                    )
                )
            case Comment():
                lines.append(
                    CommentLine(
                        key=key,
                        created=created,
                        pin=known[record.pin_id],
                        author=known[record.author_id],
                        text=record.text,
                    )
                )
    return lines


def _importable(key: str | None) -> str | None:
    """The key, unless it is too long for an import with the name of its source."""
    return key if key is not None and len(key) <= KEY_LENGTH else None


def _parents(record: Record) -> list[int]:
    """The objects that an object needs in order to exist."""
    match record:
        case Board():
            return [record.owner_id]
        case Pin():
            return [record.board_id, record.owner_id]
        case Section():
            return [record.board_id]
        case Comment():
            return [record.pin_id, record.author_id]
    return []


def _references(record: Record) -> list[int]:
    match record:
        case Board():
            members = (*record.collaborators, *record.invited)
            return [record.owner_id, record.cover_pin_id or 0, *members]
        case Pin():
            parents = (record.board_id, record.owner_id)
            further = (record.source_id or 0, record.section_id or 0)
            return [*parents, *further, *record.interest_ids]
    return _parents(record)


def _rows(record: Record) -> list[EdgeKey]:
    """The rows with the places of an object in ordered lists, or of a board's members."""
    match record:
        case Board():
            return [
                EdgeKey(mapping, record.id, user_id)
                for mapping, field in FIELDS.items()
                for user_id in getattr(record, field)
            ]
        case Pin():
            places = [EdgeKey(Mapping.BOARD_HAS_PINS, record.board_id, record.id)]
            if record.section_id:
                places.append(EdgeKey(Mapping.SECTION_HAS_PINS, record.section_id, record.id))
            return places
        case Section():
            return [EdgeKey(Mapping.BOARD_HAS_SECTIONS, record.board_id, record.id)]
    return []


async def _owners(stores: Stores, board_ids: set[int]) -> dict[int, int]:
    """The owners of boards."""
    stored = await stores.shards.objects.get(list(board_ids)) if board_ids else {}
    boards = records.decode_each(Kind.BOARD, stored).values()
    return {board.id: board.owner_id for board in boards if isinstance(board, Board)}


def _collaborators(
    board: Board, known: dict[int, str], rows: dict[EdgeKey, Edge]
) -> list[CollaboratorLine]:
    """The lines of a board's members, without users who are missing."""
    return [
        CollaboratorLine(
            board=known[board.id],
            user=known[user_id],
            invited=mapping is INVITES,
            created=time_of(row.sequence // SEQUENCE_STEP),
        )
        for mapping, field in FIELDS.items()
        for user_id in getattr(board, field)
        if user_id in known and (row := rows.get(EdgeKey(mapping, board.id, user_id))) is not None
    ]


def _image(image: Image | None) -> ImageField | None:
    return ImageField(**msgspec.structs.asdict(image)) if image else None
