"""Reads objects from the shards as they are now, as documents of the search index."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from datasources.errors import StoreCorrupt
from datasources.ids import Kind, kind_of
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Document, SearchStore, Stores
from datasources.records import Board, Pin, Record, User, decode_each
from feed_engine.feeds.content import OBJECTS, public_boards
from feed_engine.search.documents import board_document, pin_document, user_document

LIKED = {
    Kind.PIN: Mapping.PIN_LIKED_BY_USERS,
    Kind.BOARD: Mapping.BOARD_FOLLOWED_BY_USERS,
    Kind.USER: Mapping.USER_FOLLOWED_BY_USERS,
}
"""The searched kinds, each with the list that says how many people like an object."""


@dataclass(slots=True)
class Update:
    """Writes that make the index agree with objects."""

    documents: list[Document] = field(default_factory=list)
    delete: list[int] = field(default_factory=list)
    delete_boards: list[int] = field(default_factory=list)


async def update_for(stores: Stores, index: SearchStore, ids: Collection[int]) -> Update:
    """The writes for these objects as they are now. Of a repin, the first pin of its chain is
    written, too, because it has one save more."""
    found = await _records(stores, [id for id in ids if kind_of(id) in LIKED])
    roots = {pin.root for pin in found.values() if isinstance(pin, Pin)} - found.keys()
    found |= await _records(stores, [id for id in roots if kind_of(id) is Kind.PIN])
    searched = await public(stores, found.values())
    update = Update()
    for id in found.keys() - searched.keys():
        (update.delete_boards if kind_of(id) is Kind.BOARD else update.delete).append(id)
    copies = Counter(record.root for record in searched.values() if isinstance(record, Pin))
    others = await index.group_sizes(list(copies), but=list(found))
    sizes = {root: count + others[root] for root, count in copies.items()}
    update.documents = await documents(stores, searched.values(), saves_of=sizes)
    return update


async def public(stores: Stores, records: Iterable[Record | None]) -> dict[int, Record]:
    """The objects that everybody may see, by id."""
    active = [record for record in records if record is not None and record.active]
    boards = {record.board_id for record in active if isinstance(record, Pin)}
    seen = await public_boards(stores, boards)
    return {
        record.id: record
        for record in active
        if not (isinstance(record, Board) and record.secret)
        and not (isinstance(record, Pin) and record.board_id not in seen)
    }


async def documents(
    stores: Stores, records: Iterable[Record], *, saves_of: dict[int, int]
) -> list[Document]:
    """The documents of public objects. `saves_of`: the number of pins of each picture, by its first
    pin."""
    records = list(records)
    keys = {record.id: ListKey(LIKED[kind_of(record.id)], record.id) for record in records}
    heads = await stores.shards.mappings.heads(list(keys.values())) if keys else {}
    found = list[Document]()
    for record in records:
        liked = heads[keys[record.id]].size
        if isinstance(record, Pin):
            saves = max(0, saves_of.get(record.root, 1) - 1)
            found.append(pin_document(record, likes=liked, saves=saves))
        elif isinstance(record, Board):
            found.append(board_document(record, followers=liked))
        else:
            found.append(user_document(cast(User, record), followers=liked))
    return found


async def _records(stores: Stores, ids: Sequence[int]) -> dict[int, Record | None]:
    """The objects by id, deleted ones too; None for objects that never were, and for objects that
    can't be decoded."""
    found: dict[int, Record | None] = dict.fromkeys(ids)
    for start in range(0, len(ids), OBJECTS):
        stored = await stores.shards.objects.get(ids[start : start + OBJECTS])
        found |= decoded(stored.items())
    return found


def decoded(stored: Iterable[tuple[int, bytes]]) -> dict[int, Record | None]:
    """The objects by id; None for objects that can't be decoded."""
    by_kind = defaultdict[Kind, dict[int, bytes | str]](dict)
    for id, data in stored:
        by_kind[kind_of(id)][id] = data
    return {
        id: None if isinstance(record, StoreCorrupt) else record
        for kind, some in by_kind.items()
        for id, record in decode_each(kind, some).items()
    }
