"""Compares import lines with the objects and edges in the shards: the records and edges that lines
ask for, and the fields in which stored objects differ from them."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from datasources import records
from datasources.ids import Kind, kind_of
from datasources.mappings import SEQUENCE_STEP, Edge
from datasources.mappings import Mapping as MappingName
from datasources.protocols import Stores
from datasources.records import Board, Comment, Interest, Pin, Record, User
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    ChoiceLine,
    CollaboratorLine,
    CommentLine,
    FollowLine,
    InterestLine,
    LikeLine,
    PinLine,
    UserLine,
    created_ms,
    sequence_of,
)
from gateway.operate.imports.line_records import board_of, comment_of, interest_of, pin_of, user_of
from gateway.operate.imports.load import patiently
from gateway.operate.migration.copying import find_old
from gateway.operate.migration.items import Ref, needs, target_of, uses
from gateway.operate.migration.stored_keys import StoredKeys

PLACES = 1000
"""A pin whose place was taken has one of this many places above it."""
FIELDS: dict[type[Record], tuple[str, ...]] = {
    User: ("username", "full_name", "about", "avatar", "email", "subject", "created"),
    Interest: ("slug", "name", "description", "created"),
    Board: ("owner_id", "name", "description", "secret", "cover_pin_id", "created"),
    Pin: (
        *("board_id", "owner_id", "title", "description", "link", "image", "source_id"),
        *("interest_ids", "created"),
    ),
    Comment: ("pin_id", "author_id", "text", "created"),
}
"""Record → the fields that come from the source."""
FOLLOWS = {
    "user": MappingName.USER_FOLLOWS_USERS,
    "board": MappingName.USER_FOLLOWS_BOARDS,
    "interest": MappingName.USER_FOLLOWS_INTERESTS,
}
Found = dict[Ref, Record]
"""Objects that are not deleted, by their old ids."""


class Expected(NamedTuple):
    """A line's result: a record without its id, or an edge. `place`: a pin's sequence."""

    record: Record | None = None
    place: int = 0
    mapping: MappingName | None = None
    edge: Edge | None = None


async def find(stores: Stores, name: str, refs: Iterable[Ref]) -> Found:
    """The objects with these old ids. An object whose old id leads nowhere has none."""
    by_kind: dict[str, list[str]] = {}
    for kind, key in dict.fromkeys(refs):
        if kind.upper() in Kind.__members__:
            by_kind.setdefault(kind, []).append(key)
    ids: dict[int, Ref] = {}
    for kind, keys in by_kind.items():
        claimed = await patiently(partial(find_old, stores, name, kind, keys))
        ids |= {id: Ref(kind, key) for key, id in claimed.items()}
    stored = await patiently(lambda: stores.shards.objects.get(list(ids))) if ids else {}
    found: Found = {}
    for id, data in stored.items():
        record = records.decode(kind_of(id), id, data)
        if record.active:
            found[ids[id]] = record
    return found


def refs_of(line: AnyLine) -> list[Ref]:
    """The objects that a line is compared with."""
    edge = LikeLine | FollowLine | CollaboratorLine | ChoiceLine
    own = [] if isinstance(line, edge) else [Ref(_kind(line), line.key)]
    return [*own, *uses(line)]


def absent(line: AnyLine, found: Found) -> str:
    """Why a line can't be stored: an object that it needs is missing. Empty if it can."""
    for kind, key in needs(line):
        if Ref(kind, key) not in found:
            return f"there is no {kind} {key!r}"
    return ""


def expected(line: AnyLine, found: Found, keys: StoredKeys) -> Expected:
    """The result that the line asks for. All objects that it needs are in `found`."""
    wanted = _with_old_ids(line, found)
    if wanted.record is None or wanted.record.key is None:
        return wanted
    return wanted._replace(record=replace(wanted.record, key=keys.of(wanted.record.key)))


def _with_old_ids(line: AnyLine, found: Found) -> Expected:
    """The result, with the line's old id as its key."""
    created = created_ms(line)
    ids = {ref: record.id for ref, record in found.items()}
    match line:
        case UserLine():
            return Expected(user_of(line))
        case InterestLine():
            return Expected(interest_of(line))
        case BoardLine():
            return Expected(board_of(line, ids[Ref("user", line.owner)], _cover(line, found)))
        case PinLine():
            on = found[Ref("board", line.board)]
            assert isinstance(on, Board)
            interests = {key: ids[Ref("interest", key)] for key in line.interests}
            source = found[Ref("pin", line.source)] if line.source is not None else None
            own = found.get(Ref("pin", line.key))
            owned = own if isinstance(own, Pin) and own.board_id == on.id else on
            pin = pin_of(
                line,
                interests,
                board_id=on.id,
                owner_id=owned.owner_id,  # no row says that a collaborator added it
                source_id=source.id if source is not None else None,
                root_id=source.root_of_repins if isinstance(source, Pin) else None,
            )
            return Expected(pin, place=int(line.sequence or sequence_of(line.key, created)))
        case CommentLine():
            author_id = ids[Ref("user", line.author)]
            return Expected(comment_of(line, ids[Ref("pin", line.pin)], author_id))
        case LikeLine():
            ends = ids[Ref("user", line.user)], ids[Ref("pin", line.pin)]
            edge = Edge(*ends, created * SEQUENCE_STEP, 1)
            return Expected(mapping=MappingName.USER_LIKES_PINS, edge=edge)
    assert isinstance(line, FollowLine)  # no mapping file makes sections
    target = target_of(line)
    edge = Edge(ids[Ref("user", line.follower)], ids[target], created * SEQUENCE_STEP, 1)
    return Expected(mapping=FOLLOWS[target.kind], edge=edge)


def changes(stored: Record, wanted: Record) -> dict[str, Any]:
    """The fields in which a stored object differs, with their right values. A repin of another
    pin has another root, too."""
    found = {
        name: getattr(wanted, name)
        for name in compared(stored, wanted)
        if getattr(stored, name) != getattr(wanted, name)
    }
    if isinstance(wanted, Pin) and "source_id" in found:
        found["root_id"] = wanted.root_id
    return found


def compared(stored: Record, wanted: Record) -> tuple[str, ...]:
    """The fields that are compared. An interest that was here before the migration keeps its own
    texts."""
    if isinstance(wanted, Interest) and stored.key != wanted.key:
        return ("slug",)
    return FIELDS[type(wanted)]


def is_placed(row: Edge | None, place: int) -> bool:
    """Whether a pin's row on its board is where the source says."""
    return row is not None and row.active and 0 <= row.sequence - place < PLACES


def is_set(row: Edge | None, edge: Edge) -> bool:
    """Whether an edge stands as the source says."""
    return row is not None and row.active and row.sequence == edge.sequence


def _cover(line: BoardLine, found: Mapping[Ref, Record]) -> int | None:
    """The cover, if it is a pin of this board."""
    pin, board = found.get(Ref("pin", line.cover or "")), found.get(Ref("board", line.key))
    on_board = isinstance(pin, Pin) and board is not None and pin.board_id == board.id
    return pin.id if pin is not None and on_board else None


def _kind(line: AnyLine) -> str:
    return str(line.__struct_config__.tag)
