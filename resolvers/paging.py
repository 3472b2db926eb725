"""Connections: pages of lists by cursor, full in spite of what the viewer may not see."""

import base64
import binascii
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from datasources.errors import BadInput, StoreCorrupt
from datasources.ids import Kind
from datasources.mappings import Edge as Row
from datasources.mappings import ListKey, Position
from datasources.records import RECORDS, Record, decode
from resolvers.context import Context
from resolvers.places import Place, rows_after

log = logging.getLogger("pinway")
MAX_PAGE = 100
R = TypeVar("R", bound=Record)
Keep = Callable[[Context, Sequence[int]], Awaitable[Mapping[int, R | BaseException]]]
"""Of these ids, the records the viewer may see; an error for one that could not be read."""


@dataclass(frozen=True, slots=True)
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class Edge(Generic[R]):
    """A place in a list. `record` is an error where the object's server did not answer."""

    cursor: str
    record: R | BaseException

    @property
    def node(self) -> R:
        if isinstance(self.record, BaseException):
            raise self.record
        return self.record


@dataclass(frozen=True, slots=True)
class Connection(Generic[R]):
    edges: Sequence[Edge[R]]
    page_info: PageInfo


def connection(edges: Sequence[Edge[R]], *, has_next: bool, has_previous: bool) -> Connection[R]:
    """A page with the cursors of its ends."""
    start, end = (edges[0].cursor, edges[-1].cursor) if edges else (None, None)
    return Connection(edges, PageInfo(has_next, has_previous, start, end))


def page_size(first: int) -> int:
    """`first` checked. Raises BadInput."""
    if not 1 <= first <= MAX_PAGE:
        raise BadInput(f"first is {first}: ask for 1 to {MAX_PAGE}", "first")
    return first


def list_cursor(row: Row) -> str:
    """The opaque cursor of a place in a list."""
    era = f":{row.era}" if row.era else ""
    return _encode(f"l:{row.sequence}:{row.to_id}{era}")


def list_place(cursor: str | None) -> Place | None:
    """The place that a cursor names. Raises BadInput."""
    if cursor is None:
        return None
    sequence, to_id, *era = _decode(cursor, "l", 2, 3)
    return Place(Position(sequence, to_id), era[0] if era else 0)


async def list_page(
    context: Context, key: ListKey, first: int, after: str | None, keep: Keep[R]
) -> Connection[R]:
    """`first` visible entries of a list, newest first, after a cursor."""
    size, place, edges = page_size(first), list_place(after), list[Edge[R]]()
    while True:
        rows = await rows_after(context, key, size + 1, place)
        kept = await keep(context, [row.to_id for row in rows])
        for row in rows:
            place = Place(Position(row.sequence, row.to_id), row.era)
            if (record := kept.get(row.to_id)) is None:
                continue
            if len(edges) == size:
                return connection(edges, has_next=True, has_previous=after is not None)
            edges.append(Edge(list_cursor(row), record))
        if len(rows) <= size:
            return connection(edges, has_next=False, has_previous=after is not None)


async def object_page(
    context: Context,
    kind: Kind,
    first: int,
    after: str | None,
    keep: Callable[[Context, Sequence[R]], Awaitable[Sequence[R]]],
) -> Connection[R]:
    """`first` objects of a kind that `keep` lets through, in id order, after a cursor.

    One that can't be read is left out, since nobody knows whether it may be seen.
    """
    size, edges = page_size(first), list[Edge[R]]()
    after_id = _decode(after, "o", 1)[0] if after is not None else 0
    while True:
        rows = await context.stores.shards.objects.list(kind, after_id, size + 1)
        records = _readable(kind, rows)
        active = [r for r in records if r.active and isinstance(r, RECORDS[kind])]
        for record in await keep(context, active):  # type: ignore[arg-type]
            if len(edges) == size:
                return connection(edges, has_next=True, has_previous=after is not None)
            edges.append(Edge(_encode(f"o:{record.id}"), record))
        if len(rows) <= size:
            return connection(edges, has_next=False, has_previous=after is not None)
        after_id = rows[-1][0]


def _readable(kind: Kind, rows: Sequence[tuple[int, bytes]]) -> list[Record]:
    records = list[Record]()
    for id, data in rows:
        try:
            records.append(decode(kind, id, data))
        except StoreCorrupt as error:
            log.warning("left out of a list: %s", error)
    return records


def _encode(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str, kind: str, *numbers: int) -> list[int]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        tag, *parts = text.split(":")
        if (
            tag == kind
            and len(parts) in numbers
            and all(p.isdecimal() and len(p) < 40 for p in parts)
        ):
            return [int(part) for part in parts]
    except (binascii.Error, ValueError):
        pass
    raise BadInput(
        f"after is {cursor[:60]!r}: not a cursor of this list; pass the endCursor of its last page",
        "after",
    )
