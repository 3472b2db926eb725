"""Connections: pages of lists by cursor, full in spite of what the viewer may not see."""

import base64
import binascii
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from datasources.errors import BadInput, StoreCorrupt
from datasources.ids import Kind
from datasources.mappings import Edge as Row
from datasources.mappings import ListKey, Position
from datasources.protocols import Listed
from datasources.records import Record, decode
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


@dataclass(slots=True)
class Edge(Generic[R]):
    """A place in a list: a row of it or, in the list of all objects, an id. `record` is an error
    where the server did not answer that holds what stands there."""

    place: Row | int
    record: R | BaseException

    @property
    def cursor(self) -> str:
        if isinstance(self.place, int):
            return _encode(f"o:{self.place}")
        return list_cursor(self.place)

    @property
    def node(self) -> R:
        if isinstance(self.record, BaseException):
            raise self.record
        return self.record


@dataclass(frozen=True, slots=True)
class Connection(Generic[R]):
    edges: Sequence[Edge[R]]
    page_info: PageInfo


Pages = Sequence[Connection[R] | BaseException]


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


async def list_pages(
    context: Context, lists: Sequence[ListKey], first: int, after: str | None, keep: Keep[R]
) -> Pages[R]:
    """`first` visible entries of each list, newest first, after a cursor."""
    size, place = page_size(first), list_place(after)
    readings = [_Reading[R](key, size, place) for key in lists]
    while unfinished := [reading for reading in readings if reading.page is None]:
        found = await rows_after(context, [(r.key, r.place) for r in unfinished], size + 1)
        ids = [row.to_id for rows in found if isinstance(rows, list) for row in rows]
        kept = await keep(context, ids)
        for reading, rows in zip(unfinished, found, strict=True):
            reading.take(rows, kept)
    return [reading.page for reading in readings if reading.page is not None]


class _Reading(Generic[R]):
    """How far a list was read to fill its page: `page` when it is full, or can't be read."""

    def __init__(self, key: ListKey, size: int, place: Place | None) -> None:
        self.key, self.place = key, place
        self.page: Connection[R] | BaseException | None = None
        self._size, self._edges, self._has_previous = size, list[Edge[R]](), place is not None

    def take(
        self, rows: Sequence[Row] | BaseException, kept: Mapping[int, R | BaseException]
    ) -> None:
        """Go on with the next rows of the list, one more than the page has entries."""
        if isinstance(rows, BaseException):
            self.page = rows
            return
        for row in rows:
            if (record := kept.get(row.to_id)) is None:
                continue
            if len(self._edges) == self._size:
                self._end(has_next=True)
                return
            self._edges.append(Edge(row, record))
        if len(rows) <= self._size:
            self._end(has_next=False)
        else:
            self.place = Place(Position(rows[-1].sequence, rows[-1].to_id), rows[-1].era)

    def _end(self, *, has_next: bool) -> None:
        self.page = connection(self._edges, has_next=has_next, has_previous=self._has_previous)


async def everything(_: Context, records: Sequence[R]) -> Mapping[int, R]:
    """For objects that all may see."""
    return {record.id: record for record in records}


async def object_page(
    context: Context,
    kind: Kind,
    first: int,
    after: str | None,
    keep: Callable[[Context, Sequence[R]], Awaitable[Mapping[int, R | BaseException]]],
) -> Connection[R]:
    """`first` objects of a kind that `keep` lets through, in id order, after a cursor.

    What a server that fails holds between two of them is one edge with its error, so that the page
    says where something is missing: the next page goes on behind it, and the cursor before it asks
    for it again. An object that is there and can't be decoded is left out.
    """
    size, edges = page_size(first), list[Edge[R]]()
    after_id = _decode(after, "o", 1)[0] if after is not None else 0
    while True:
        rows = await context.stores.shards.objects.list_reachable(kind, after_id, size + 1)
        kept = await keep(context, _readable(kind, rows))
        for id, data in rows:
            record = data if isinstance(data, BaseException) else kept.get(id)
            if record is None:
                continue
            if len(edges) == size:
                return connection(edges, has_next=True, has_previous=after is not None)
            edges.append(Edge(id, record))
        if len(rows) <= size:
            return connection(edges, has_next=False, has_previous=after is not None)
        after_id = rows[-1][0]


def _readable(kind: Kind, rows: Sequence[Listed]) -> list[R]:
    records = list[R]()
    for id, data in rows:
        if isinstance(data, bytes):
            try:
                record = cast(R, decode(kind, id, data))
            except StoreCorrupt as error:
                log.warning("left out of a list: %s", error)
                continue
            if record.active:
                records.append(record)
    return records


def _encode(text: str) -> str:
    # The text is digits, letters and colons, for which both alphabets of base64 are one.
    return binascii.b2a_base64(text.encode(), newline=False).rstrip(b"=").decode()


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
