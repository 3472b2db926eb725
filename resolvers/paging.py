"""Connections: pages of lists by cursor. A page reads further if the viewer may not see all its
entries.

A page reads beyond hidden entries as far as `resolvers.scan_limit` allows. If it is still short,
`hasNextPage` is true, and its `endCursor` is the place of the last entry that was read.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

from datasources.errors import BadInput, StoreCorrupt
from datasources.ids import Kind
from datasources.mappings import Edge as Row
from datasources.mappings import ListKey, Position
from datasources.protocols import Listed
from datasources.records import Record, decode
from resolvers.context import Context
from resolvers.cursors import CursorKind, Cursors
from resolvers.places import Place, Wanted, rows_after
from resolvers.scan_limit import Further

log = logging.getLogger("pinway")
MAX_PAGE = 100
FIRST = 25
"""The entries of a page without `first` and `last`."""
R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=Record)
Keep = Callable[[Context, Sequence[int]], Awaitable[Mapping[int, R | BaseException]]]
"""Returns the records with these ids that the viewer may see, and an error for each record that
could not be read."""
_LIST, _OBJECTS = int(CursorKind.LIST), int(CursorKind.OBJECTS)


class SortedPlace(NamedTuple):
    """A place in a list that is sorted for a request: the order's number, the first 16 bytes of the
    entry's key, and its id (`resolvers/orders.py`)."""

    order: int
    prefix: int
    id: int


Where = Row | SortedPlace | int
"""The place of an entry: a list's row, a place in a sorted list, or an id in the list of all
objects of a type."""


@dataclass(frozen=True, slots=True)
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class ListPageInfo:
    """A PageInfo that makes its cursors when they are requested."""

    has_next_page: bool
    has_previous_page: bool
    start: Where | None
    end: Where | None
    cursors: Cursors

    @property
    def start_cursor(self) -> str | None:
        return None if self.start is None else cursor_of(self.cursors, self.start)

    @property
    def end_cursor(self) -> str | None:
        return None if self.end is None else cursor_of(self.cursors, self.end)


@dataclass(slots=True)
class Edge(Generic[R]):
    """An entry of a list. `record` is an error if the record's server did not answer."""

    place: Where
    record: R | BaseException
    cursors: Cursors

    @property
    def cursor(self) -> str:
        return cursor_of(self.cursors, self.place)

    @property
    def node(self) -> R:
        if isinstance(self.record, BaseException):
            raise self.record
        return self.record


@dataclass(frozen=True, slots=True)
class Connection(Generic[R]):
    edges: Sequence[Edge[R]]
    page_info: PageInfo | ListPageInfo


Pages = Sequence[Connection[R] | BaseException]


@dataclass(frozen=True, slots=True)
class Span:
    """The part of a list that a page shows: `size` entries after a cursor or, `backward`, before
    it. Without a cursor, the first or the last entries."""

    size: int
    cursor: str | None
    backward: bool = False

    def place(self, cursors: Cursors) -> Place | None:
        """The place of the cursor. Raises BadInput."""
        if self.cursor is None:
            return None
        argument = "before" if self.backward else "after"
        place = cursors.decode(_LIST, self.cursor, argument)
        return Place(Position(place.sequence, place.id), place.era)


def page_size(first: int, argument: str = "first") -> int:
    """The checked number of entries. Raises BadInput."""
    if not 1 <= first <= MAX_PAGE:
        raise BadInput(f"{argument} is {first}: ask for 1 to {MAX_PAGE}", argument)
    return first


def span(first: int, after: str | None, last: int | None, before: str | None) -> Span:
    """The span of a connection's arguments (Relay's GraphQL Cursor Connections). `last` takes the
    place of `first`. Raises BadInput for both, and for a cursor of the other direction."""
    if last is None:
        if before is not None:
            raise BadInput("before goes with last, and after with first", "before")
        return Span(page_size(first), after)
    if first != FIRST:
        raise BadInput("give first or last, not both", "last")
    if after is not None:
        raise BadInput("after goes with first, and before with last", "after")
    return Span(page_size(last, "last"), before, backward=True)


def cursor_of(cursors: Cursors, place: Where) -> str:
    """The cursor of an entry."""
    if isinstance(place, int):
        return cursors.encode(_OBJECTS, place)
    if isinstance(place, SortedPlace):
        return cursors.encode(CursorKind.SORTED, place.id, place.prefix, place.order)
    return cursors.encode(_LIST, place.to_id, place.sequence, place.era)


async def list_pages(
    context: Context,
    lists: Sequence[ListKey],
    span: Span,
    keep: Keep[R],
    *,
    oldest_first: bool = False,
) -> Pages[R]:
    """The visible entries of each list in a span, newest first unless `oldest_first`."""
    readings = [_Reading[R](context, key, span, oldest_first) for key in lists]
    while unfinished := [reading for reading in readings if reading.page is None]:
        found = await rows_after(context, [reading.wanted for reading in unfinished])
        ids = [row.to_id for rows in found if isinstance(rows, list) for row in rows]
        kept = await keep(context, ids)
        for reading, rows in zip(unfinished, found, strict=True):
            reading.take(rows, kept)
    return [reading.page for reading in readings if reading.page is not None]


def empty_page(context: Context, span: Span) -> Connection[R]:
    """The page of a list without entries."""
    page = _backward_page if span.backward else _page
    return page(context.cursors, [], False, span.cursor is not None, None)


def with_empty_pages(
    context: Context, span: Span, shown: Sequence[bool], pages: Pages[R]
) -> Pages[R]:
    """The page of each list that is shown, and an empty page for each other list."""
    rest = iter(pages)
    return [next(rest) if is_shown else empty_page(context, span) for is_shown in shown]


def show_on(pages: Pages[R], parents: Sequence[S], on: Callable[[S, Any], Any]) -> Pages[R]:
    """The pages of lists, with each entry as `on` shows it on the list's parent."""
    for parent, page in zip(parents, pages, strict=True):
        if isinstance(page, Connection):
            for edge in page.edges:
                edge.record = on(parent, edge.record)
    return pages


class _Reading(Generic[R]):
    """The state of filling a page from a list. `page` is set when the page is complete or can't be
    read. Until then, `wanted` is the next read."""

    def __init__(self, context: Context, key: ListKey, span: Span, oldest_first: bool) -> None:
        self.page: Connection[R] | BaseException | None = None
        self._context, self._cursors, place = context, context.cursors.of(key), None
        try:
            place = span.place(self._cursors)
        except BadInput as error:
            self.page = error
        self.wanted = Wanted(key, place, span.size + 1, span.backward != oldest_first)
        self._size, self._edges, self._has_place = span.size, list[Edge[R]](), place is not None
        self._backward = span.backward
        self._further: Further | None = None

    def take(
        self, rows: Sequence[Row] | BaseException, kept: Mapping[int, R | BaseException]
    ) -> None:
        """Continue with the rows that were wanted."""
        if isinstance(rows, BaseException):
            self.page = rows
            return
        edges, cursors = self._edges, self._cursors
        for row in rows:
            if (record := kept.get(row.to_id)) is None:
                continue
            if len(edges) == self._size:
                self._end(True, edges[-1].place)
                return
            edges.append(Edge(row, record, cursors))
        if len(rows) < self.wanted.limit:
            self._end(False, edges[-1].place if edges else None)
            return
        if self._further is None:
            self._further = Further(self._context.scanning, self._size)
        last = rows[-1]
        if limit := self._further.rows():
            place = Place(Position(last.sequence, last.to_id), last.era)
            self.wanted = self.wanted._replace(place=place, limit=limit)
        else:
            self._end(True, last)

    def _end(self, has_more: bool, end: Where | None) -> None:
        page = _backward_page if self._backward else _page
        self.page = page(self._cursors, self._edges, has_more, self._has_place, end)


def _page(
    cursors: Cursors,
    edges: list[Edge[R]],
    has_next: bool,
    has_previous: bool,
    end: Where | None,
) -> Connection[R]:
    start = edges[0].place if edges else None
    return Connection(edges, ListPageInfo(has_next, has_previous, start, end, cursors))


def _backward_page(
    cursors: Cursors,
    edges: list[Edge[R]],
    has_previous: bool,
    has_next: bool,
    start: Where | None,
) -> Connection[R]:
    """The page of edges that were read from its end to its start."""
    edges.reverse()
    end = edges[-1].place if edges else None
    return Connection(edges, ListPageInfo(has_next, has_previous, start, end, cursors))


async def everything(_: Context, records: Sequence[R]) -> Mapping[int, R]:
    """Keeps all objects, in lists that everybody may see."""
    return {record.id: record for record in records}


async def object_page(
    context: Context,
    kind: Kind,
    first: int,
    after: str | None,
    keep: Callable[[Context, Sequence[R]], Awaitable[Mapping[int, R | BaseException]]],
) -> Connection[R]:
    """The first `first` objects of a kind that `keep` accepts, after a cursor, in order of id.

    If a server fails, all its objects between two other objects are one edge with its error. So the
    page shows where objects are missing: the next page continues after them, and the cursor before
    them reads them again. An object that can't be decoded is left out.
    """
    size, edges, cursors = page_size(first), list[Edge[R]](), context.cursors
    after_id = 0 if after is None else cursors.decode_object(kind, after)
    limit, further = size + 1, Further(context.scanning, size)

    def page(has_next: bool, end: Where | None) -> Connection[R]:
        return _page(cursors, edges, has_next, after is not None, end)

    while True:
        rows = await context.stores.shards.objects.list_reachable(kind, after_id, limit)
        kept = await keep(context, _readable(kind, rows))
        for id, data in rows:
            record = data if isinstance(data, BaseException) else kept.get(id)
            if record is None:
                continue
            if len(edges) == size:
                return page(True, edges[-1].place)
            edges.append(Edge(id, record, cursors))
        if len(rows) < limit:
            return page(False, edges[-1].place if edges else None)
        after_id = rows[-1][0]
        limit = further.rows()
        if not limit:
            return page(True, after_id)


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
