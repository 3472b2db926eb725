"""Search: pins, boards and users by the words of their texts.

The index is a hint: it may still have what was deleted, or became secret, a moment ago. So each hit
is loaded, and shown only if everybody may see it now. Hits that are left out leave no trace:
`hasNextPage` says that there is a further hit that was loaded, too.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from hashlib import blake2b

from datasources.errors import BadInput, StoreUnavailable
from datasources.ids import Kind
from datasources.protocols import Hit, SearchRequest, SearchStore
from datasources.records import Board, Pin, Record, User
from feed_engine.search.highlights import MOST_PARTS, Asked, Part
from resolvers import visibility
from resolvers.context import Context
from resolvers.cursors import CursorKind
from resolvers.nodes import of_ids
from resolvers.paging import FIRST, PageInfo, page_size
from resolvers.scan_limit import Further

__all__ = ["MOST_PARTS", "SearchType", "search", "suggest"]
LONGEST = 200
"""The maximum number of characters of a text."""
MOST_HITS = 1_000
"""The hits of a text that its pages show together."""
SUGGESTIONS = 8


class SearchType(Enum):
    """The types of objects that can be searched."""

    PIN = "PIN"
    BOARD = "BOARD"
    USER = "USER"

    @property
    def kind(self) -> Kind:
        return Kind[self.name]


@dataclass(frozen=True, slots=True)
class Highlight:
    """A text of an object that matches."""

    field: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class SearchEdge:
    """An object that was found."""

    node: Record
    cursor: str
    asked: Asked

    @property
    def highlights(self) -> list[Highlight]:
        found = list[Highlight]()
        for name, text, forgiving in _texts(self.node):
            parts = self.asked.parts(text, forgiving=forgiving) if text else None
            if parts is not None:
                found.append(Highlight(name, parts))
        return found


@dataclass(frozen=True)
class SearchConnection:
    """A page of the objects that were found."""

    edges: list[SearchEdge]
    page_info: PageInfo


@dataclass(frozen=True)
class Suggestion:
    """An object whose title begins with the typed words."""

    node: Record
    asked: Asked = field(repr=False)

    @property
    def text(self) -> str:
        return _title(self.node)

    @cached_property
    def parts(self) -> Sequence[Part]:
        found = self.asked.parts(self.text, forgiving=True, whole=True)
        return [Part(self.text, False)] if found is None else found


async def search(
    context: Context,
    *,
    text: str,
    types: list[SearchType] | None = None,
    first: int = FIRST,
    after: str | None = None,
) -> SearchConnection:
    """The objects with all words of a text, best first."""
    size, index = page_size(first), _index(context)
    _check(text, "text", index)
    kinds = _kinds(types)
    scope = _scope(text, kinds)
    start = 0 if after is None else _rank(context, after, scope)
    hits = _Hits(index, SearchRequest(text, 0, kinds))
    visible = await _visible(context, hits, start, size + 1)
    asked = Asked(text, index.roots)
    edges = [
        SearchEdge(record, context.cursors.encode(CursorKind.SEARCH, scope, rank + 1), asked)
        for rank, record in visible[:size]
    ]
    page_info = PageInfo(
        has_next_page=len(visible) > size,
        has_previous_page=after is not None,
        start_cursor=edges[0].cursor if edges else None,
        end_cursor=edges[-1].cursor if edges else None,
    )
    return SearchConnection(edges, page_info)


async def suggest(context: Context, *, prefix: str, first: int = SUGGESTIONS) -> list[Suggestion]:
    """Objects for words that are being typed: boards and users, about half of the list at most
    while there are pins, then pins. Each text comes once."""
    size, index = page_size(first), _index(context)
    _check(prefix, "prefix", index)
    some = list[Record]()
    for kinds in ((Kind.BOARD, Kind.USER), (Kind.PIN,)):
        hits = _Hits(index, SearchRequest(prefix, 0, kinds, prefix=True))
        some.extend(record for _, record in await _visible(context, hits, 0, 2 * size))
    others = [record for record in some if not isinstance(record, Pin)]
    pins = [record for record in some if isinstance(record, Pin)]
    half = max(size // 2, size - len(pins))
    asked, found = Asked(prefix, index.roots, prefix=True), dict[tuple[type, str], Suggestion]()
    for record in (*others[:half], *pins):
        suggestion = Suggestion(record, asked)
        if suggestion.text:
            found.setdefault((type(record), suggestion.text.lower()), suggestion)
    return list(found.values())[:size]


class _Hits:
    """The hits of a request, read from the index as far as they are needed."""

    def __init__(self, index: SearchStore, request: SearchRequest) -> None:
        self._index, self._request = index, request
        self._hits = list[Hit]()

    async def first(self, end: int) -> Sequence[Hit]:
        """The hits up to a rank; fewer at the end of the hits."""
        limit = self._request.limit
        if len(self._hits) == limit < min(end, MOST_HITS):
            # Pages may need more: several pins may be one picture, and hits may be left out.
            self._request = self._request._replace(limit=min(MOST_HITS, 2 * end))
            self._hits = await self._index.search(self._request)
        return self._hits[:end]


async def _visible(
    context: Context, hits: _Hits, start: int, wanted: int
) -> list[tuple[int, Record]]:
    """The ranks and objects of the first hits from a rank on that everybody may see, each picture
    once. Raises the error of a store if it can't read any of the objects."""
    found, fault = list[tuple[int, Record]](), None
    shown = {hit.group for hit in await hits.first(start)}
    rows, further = wanted, Further(context.scanning, wanted)
    while rows and len(found) < wanted:
        some = list(enumerate(await hits.first(start + rows)))[start:]
        new = [(rank, hit) for rank, hit in some if hit.group not in shown]
        records = await _public(context, [hit.id for _, hit in new])
        for rank, hit in new:
            record = records.get(hit.id)
            if isinstance(record, Record) and hit.group not in shown:
                shown.add(hit.group)
                found.append((rank, record))
            elif isinstance(record, BaseException):
                fault = record
        if len(some) < rows:
            break
        start += rows
        if len(found) < wanted:
            rows = further.rows()
    if not found and fault is not None:
        raise fault
    return found[:wanted]


async def _public(context: Context, ids: Collection[int]) -> dict[int, Record | BaseException]:
    """The objects that everybody may see, and an error for each object that can't be read."""
    seen = await of_ids(context, ids)
    pins = [record for record in seen.values() if isinstance(record, Pin)]
    boards = [record for record in seen.values() if isinstance(record, Board)]
    others = {id: it for id, it in seen.items() if isinstance(it, User | BaseException)}
    return {
        **others,
        **await visibility.public_pins(context, pins),
        **await visibility.public_boards(context, boards),
    }


def _index(context: Context) -> SearchStore:
    if context.search is None:
        raise StoreUnavailable("this gateway has no search index")
    return context.search


def _check(text: str, argument: str, index: SearchStore) -> None:
    if len(text) > LONGEST:
        raise BadInput(
            f"{argument} has {len(text)} characters: at most {LONGEST} are searched", argument
        )
    if not text.strip():
        raise BadInput(f"{argument} is empty: give a word to search for", argument)
    if not index.roots([text])[0]:
        raise BadInput(
            f"{argument} has no word of letters or digits, of 120 bytes at most, to search for",
            argument,
        )


def _kinds(types: list[SearchType] | None) -> tuple[Kind, ...]:
    if types is None:
        return ()
    if not types:
        raise BadInput("types is empty: name a type, or leave it out to search all", "types")
    return tuple(sorted({it.kind for it in types}))


def _scope(text: str, kinds: Sequence[Kind]) -> int:
    """The list that a cursor belongs to."""
    asked = f"{text}\n{','.join(kind.name for kind in kinds)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(asked, digest_size=8).digest())


def _rank(context: Context, after: str, scope: int) -> int:
    place = context.cursors.decode(CursorKind.SEARCH, after)
    if place.id != scope:
        raise BadInput("after is a cursor of another text or of other types", "after")
    return place.sequence


def _title(record: Record) -> str:
    if isinstance(record, User):
        return record.full_name or record.username
    return record.name if isinstance(record, Board) else getattr(record, "title", "")


def _texts(record: Record) -> list[tuple[str, str, bool]]:
    """The searched texts of an object: the field, its text, and whether words with typing errors
    are found in it."""
    if isinstance(record, User):
        return [
            ("username", record.username, True),
            ("fullName", record.full_name, True),
            ("about", record.about, False),
        ]
    if isinstance(record, Board):
        return [("name", record.name, True), ("description", record.description, False)]
    assert isinstance(record, Pin)
    return [("title", record.title, True), ("description", record.description, False)]
