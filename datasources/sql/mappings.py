"""Mapping rows by page, head and edge: `datasources.protocols.MappingStore` over SQL."""

from collections.abc import Sequence
from typing import Any

from datasources.ids import shard_of
from datasources.mappings import (
    MAX_SEQUENCE,
    Edge,
    EdgeKey,
    ListHead,
    ListKey,
    Mapping,
    PageRequest,
    Position,
    Respacing,
)
from datasources.protocols import Window
from datasources.sql import codecs
from datasources.sql.dialect import Dialect
from datasources.sql.engine import Part, Place, Session
from datasources.sql.flights import Flights
from datasources.sql.lists import (
    HEAD_COLUMNS,
    NO_HEAD,
    ROWS_A_STATEMENT,
    Lists,
    edges_condition,
    heads_condition,
    heads_of,
)
from datasources.sql.router import SHARDS_AT_A_TIME, Router
from datasources.sql.schema import PAGES
from datasources.together import together

MAX_ID = 2**63 - 1
ROWS_A_TRANSACTION = 5000


class SqlMappings:
    """See MappingStore."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._flights = Flights()

    async def pages(self, requests: Sequence[PageRequest]) -> list[list[Edge]]:
        return [list(window.edges) for window in await self.windows(requests)]

    async def windows(self, requests: Sequence[PageRequest]) -> list[Window]:
        key = "windows", *requests
        return list(await self._flights.read(key, lambda: self._windows(requests)))

    async def _windows(self, requests: Sequence[PageRequest]) -> list[Window]:
        answers = [Window([], complete=True) for _ in requests]
        parts, numbers = [], []
        for number, request in enumerate(requests):
            place = self._place(request.key.from_id)
            if place is not None and request.limit > 0:
                parts.append(page_part(self._router.engine.dialect, place, request))
                numbers.append(number)
        # In the same statement, so that heads and rows are as of one moment; and with the same
        # number of columns, of similar types.
        ordered = [request.key for request in requests if request.key.mapping.ordered]
        heads = self._head_parts(ordered, "mapping, from_id, 0, size, version")
        read = await self._router.read("mappings.pages", [*parts, *heads])
        known = heads_of([(*row[:2], *row[3:]) for rows in read[len(parts) :] for row in rows])
        for number, rows in zip(numbers, read, strict=False):
            request = requests[number]
            head = known.get(request.key, NO_HEAD)
            edges = [codecs.edge(row, head.era) for row in rows]
            complete = len(rows) < request.limit
            answers[number] = Window(edges, complete, head.version, head.holds > 0)
        return answers

    async def heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead]:
        key = "heads", *keys
        return dict(await self._flights.read(key, lambda: self._heads(keys)))

    async def _heads(self, keys: Sequence[ListKey]) -> dict[ListKey, ListHead]:
        heads = dict.fromkeys(keys, ListHead(0, 0))
        for rows in await self._router.read("mappings.heads", self._head_parts(keys, HEAD_COLUMNS)):
            for key, head in heads_of(rows).items():
                heads[key] = ListHead(head.size, head.version, head.holds > 0)
        return heads

    async def edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        by_mapping: dict[Mapping, list[EdgeKey]] = {}
        for key in dict.fromkeys(keys):
            by_mapping.setdefault(key.mapping, []).append(key)
        by = self._router.engine.dialect.by()
        parts, mappings = [], []
        for mapping, of_mapping in by_mapping.items():
            for place, some in self._by_place(of_mapping, lambda key: key.from_id):
                where, args = edges_condition(some)
                rest = f"FROM {{db}}.{mapping.value}{by} WHERE {where}"
                parts.append(Part(place, codecs.EDGE_COLUMNS, rest, tuple(args)))
                mappings.append(mapping)
        read = await self._router.read("mappings.edges", parts)
        found = {}
        for mapping, rows in zip(mappings, read, strict=True):
            for edge in map(codecs.edge, rows):
                found[EdgeKey(mapping, edge.from_id, edge.to_id)] = edge
        return found

    async def respacings(self, key: ListKey, after_era: int) -> list[Respacing]:
        place = self._place(key.from_id)
        if place is None:
            return []
        rest = (
            "FROM {db}.respacings WHERE from_id = ? AND mapping = ? AND era > ? ORDER BY era "
            "LIMIT 1000000"  # MySQL forgets the order of a SELECT in parentheses without a limit
        )
        after = min(after_era, MAX_ID)  # a client may name any era
        part = Part(place, "era, moves", rest, (key.from_id, key.mapping.code, after))
        [rows] = await self._router.read("mappings.respacings", [part])
        return [codecs.respacing(row) for row in rows]

    async def rows_into(
        self, mapping: Mapping, shard: int, targets: range, after: EdgeKey | None, limit: int
    ) -> list[Edge]:
        seek, place = "", tuple[int, ...]()
        if after is not None:
            seek = "from_id >= ? AND (from_id > ? OR to_id > ?) AND "
            place = (after.from_id, after.from_id, after.to_id)
        rest = (
            f"FROM {{db}}.{mapping.value}{self._router.engine.dialect.by()} "
            f"WHERE {seek}to_id >= ? AND to_id < ? ORDER BY from_id, to_id LIMIT ?"
        )
        args = (*place, targets.start, targets.stop, limit)
        part = Part(self._router.place(shard), codecs.EDGE_COLUMNS, rest, args)
        [rows] = await self._router.read("mappings.rows_into", [part])
        return [codecs.edge(row) for row in rows]

    async def apply(self, edges: Sequence[tuple[Mapping, Edge]]) -> None:
        await self._write(edges, len(edges) or 1)

    async def load(self, edges: Sequence[tuple[Mapping, Edge]]) -> None:
        await self._write(edges, ROWS_A_TRANSACTION)

    async def _write(self, edges: Sequence[tuple[Mapping, Edge]], rows: int) -> None:
        by_shard: dict[int, list[tuple[Mapping, Edge]]] = {}
        for mapping, edge in edges:
            by_shard.setdefault(shard_of(edge.from_id), []).append((mapping, edge))
        await together(
            (self._write_shard(shard, some, rows) for shard, some in by_shard.items()),
            at_a_time=SHARDS_AT_A_TIME,
        )

    async def _write_shard(
        self, shard: int, edges: Sequence[tuple[Mapping, Edge]], rows: int
    ) -> None:
        dialect = self._router.engine.dialect

        for at in range(0, len(edges), rows):
            some = edges[at : at + rows]

            async def put(session: Session, some: Sequence[tuple[Mapping, Edge]] = some) -> None:
                lists = Lists(session, dialect)
                await lists.put_many(some)
                lists.finish()

            lists = {(mapping.code, edge.from_id) for mapping, edge in some}
            await self._router.write(shard, "mappings.write", put, locks=lists)

    def _head_parts(self, keys: Sequence[ListKey], columns: str) -> list[Part]:
        by, parts = self._router.engine.dialect.by(), []
        for place, some in self._by_place(list(dict.fromkeys(keys)), lambda key: key.from_id):
            where, args = heads_condition(some)
            parts.append(Part(place, columns, f"FROM {{db}}.lists{by} WHERE {where}", tuple(args)))
        return parts

    def _place(self, from_id: int) -> Place | None:
        """The shard's place; None if the shard is not open."""
        try:
            return self._router.place(shard_of(from_id))
        except KeyError:
            return None

    def _by_place(self, keys: Sequence[Any], from_id: Any) -> list[tuple[Place, list[Any]]]:
        """The keys of each shard, in groups that fit one statement."""
        by_shard: dict[int, list[Any]] = {}
        for key in keys:
            by_shard.setdefault(shard_of(from_id(key)), []).append(key)
        return [
            (place, some[at : at + ROWS_A_STATEMENT])
            for some in by_shard.values()
            if (place := self._place(from_id(some[0]))) is not None
            for at in range(0, len(some), ROWS_A_STATEMENT)
        ]


def page_part(dialect: Dialect, place: Place, request: PageRequest) -> Part:
    """The page as a range of the index (from_id, active, sequence, to_id).

    A comparison of pairs, (sequence, to_id) < (?, ?), would not use a range.
    """
    seek, args = "", ()
    if request.after is not None:
        seek, args = (_seek_up if request.ascending else _seek)(dialect, request.after)
    way = "ASC" if request.ascending else "DESC"
    rest = (
        f"FROM {{db}}.{request.key.mapping.value}{dialect.by(PAGES)} "
        f"WHERE from_id = ? AND active = 1 {seek}"
        f"ORDER BY sequence {way}, to_id {way} LIMIT ?"
    )
    return Part(place, codecs.EDGE_COLUMNS, rest, (request.key.from_id, *args, request.limit))


def _seek(dialect: Dialect, after: Position) -> tuple[str, Any]:
    sequence, to_id = dialect.bound(after.sequence), min(max(after.to_id, -MAX_ID), MAX_ID)
    if after.sequence < 0:  # below all rows: the bound is 0, and no id is below 0
        to_id = -MAX_ID
    return (
        "AND sequence <= ? AND (sequence < ? OR (sequence = ? AND to_id < ?)) ",
        (sequence, sequence, sequence, to_id),
    )


def _seek_up(dialect: Dialect, after: Position) -> tuple[str, Any]:
    sequence, to_id = dialect.bound(after.sequence), min(max(after.to_id, -MAX_ID), MAX_ID)
    if after.sequence > MAX_SEQUENCE:  # above all rows: the bound is the highest sequence
        to_id = MAX_ID
    elif after.sequence < 0:
        to_id = -MAX_ID
    return (
        "AND sequence >= ? AND (sequence > ? OR (sequence = ? AND to_id > ?)) ",
        (sequence, sequence, sequence, to_id),
    )
