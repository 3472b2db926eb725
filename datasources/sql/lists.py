"""Mapping rows and heads of lists inside one transaction, under the lists' locks.

A list's head is locked before any of the list's data is read or written. From then on no other
transaction changes the list, so heads and rows need to be read only once. Changed heads are written
together at the end.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from datasources.mappings import BY_CODE, Edge, EdgeKey, ListKey, Mapping
from datasources.sql import codecs
from datasources.sql.dialect import Dialect, marks, rows_of_marks
from datasources.sql.engine import Row, Session
from datasources.sql.schema import ERAS

ROWS_A_STATEMENT = 500  # SQLite takes expressions up to 1,000 terms deep
HEAD_COLUMNS = "mapping, from_id, size, version"
_HEAD_KEY = ("mapping", "from_id")


class Head(NamedTuple):
    """A list's rows in the table `lists`: two rows for an ordered list."""

    size: int
    version: int
    era: int = 0
    holds: int = 0


NO_HEAD = Head(0, 0)


class Lists:
    """The lists that a transaction has locked."""

    def __init__(self, session: Session, dialect: Dialect) -> None:
        self._session, self._dialect = session, dialect
        self._heads: dict[ListKey, Head] = {}
        self._rows: dict[EdgeKey, Edge | None] = {}
        self._changed: set[ListKey] = set()

    async def head(self, key: ListKey) -> Head:
        """The list's head. Locks the list."""
        await self.lock([key])
        return self._heads[key]

    async def next_era(self, key: ListKey) -> int:
        """Begin the list's next era."""
        head = await self.head(key)
        self._heads[key] = head = head._replace(era=head.era + 1)
        self._put_era(key, 0, head.era, self._dialect.replace(_HEAD_KEY, ("version",)))
        return head.era

    def hold(self, key: ListKey, times: int) -> None:
        """Change the number of holds of a list by `times`. The list need not be locked."""
        self._put_era(key, times, 0, self._dialect.add(_HEAD_KEY, "size"))

    async def lock(self, keys: Iterable[ListKey]) -> None:
        """Lock lists in one fixed order, so that transactions with many lists don't deadlock."""
        missing = sorted({k for k in keys if k not in self._heads}, key=_order)
        for at in range(0, len(missing), ROWS_A_STATEMENT):
            await self._lock(missing[at : at + ROWS_A_STATEMENT])

    async def row(self, key: EdgeKey) -> Edge | None:
        """The row as this transaction sees it. Locks its list."""
        await self.rows([key])
        return self._rows[key]

    async def rows(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """The rows of `keys` that exist, as this transaction sees them. Locks their lists."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._rows]
        lists = {ListKey(key.mapping, key.from_id) for key in unknown}
        if len(lists) == 1 and len(unknown) <= ROWS_A_STATEMENT:
            await self._lock_with_rows(lists.pop(), [key.to_id for key in unknown])
            return {key: row for key in keys if (row := self._rows[key]) is not None}
        await self.lock(lists)
        by_mapping: dict[Mapping, list[EdgeKey]] = {}
        for key in unknown:
            by_mapping.setdefault(key.mapping, []).append(key)
        for mapping, unread in by_mapping.items():
            for at in range(0, len(unread), ROWS_A_STATEMENT):
                some = unread[at : at + ROWS_A_STATEMENT]
                found = await self._read_rows(mapping, some)
                self._rows.update((key, found.get(key)) for key in some)
        return {key: row for key in keys if (row := self._rows[key]) is not None}

    async def put(self, mapping: Mapping, edge: Edge) -> bool:
        """Write one row if it is newer. Returns whether it was written."""
        old = await self.row(EdgeKey(mapping, edge.from_id, edge.to_id))
        if old is not None and edge.version <= old.version:
            return False
        if old is None:
            await self._insert(mapping, [edge])
        else:
            await self._update(mapping, edge)
        self._note(mapping, old, edge)
        return True

    async def put_many(self, edges: Sequence[tuple[Mapping, Edge]]) -> None:
        """Write the rows that are newer, with few statements."""
        newest: dict[EdgeKey, Edge] = {}
        for mapping, edge in edges:
            key = EdgeKey(mapping, edge.from_id, edge.to_id)
            if key not in newest or edge.version > newest[key].version:
                newest[key] = edge
        await self.lock({ListKey(key.mapping, key.from_id) for key in newest})
        by_mapping: dict[Mapping, list[EdgeKey]] = {}
        for key in sorted(newest, key=lambda k: (k.mapping.code, k.from_id, k.to_id)):
            by_mapping.setdefault(key.mapping, []).append(key)
        for mapping, keys in by_mapping.items():
            for at in range(0, len(keys), ROWS_A_STATEMENT):
                some = keys[at : at + ROWS_A_STATEMENT]
                await self._put_some(mapping, {key: newest[key] for key in some})

    async def erase(self, keys: Sequence[EdgeKey]) -> None:
        """Remove rows, whether they are active or not."""
        for key, row in (await self.rows(keys)).items():
            await self._session.run(
                "tx.erase_edges",
                f"DELETE FROM {{db}}.{key.mapping.value} WHERE from_id = ? AND to_id = ?",
                (key.from_id, key.to_id),
            )
            self._note(key.mapping, row, row._replace(active=False))
            self._rows[key] = None

    def finish(self) -> None:
        """Write the changed heads with the commit."""
        changed = sorted(self._changed, key=_order)
        for at in range(0, len(changed), ROWS_A_STATEMENT):
            some = changed[at : at + ROWS_A_STATEMENT]
            self._session.at_commit(
                f"INSERT INTO {{db}}.lists ({HEAD_COLUMNS}) VALUES {rows_of_marks(len(some), 4)} "
                + self._dialect.replace(_HEAD_KEY, ("size", "version")),
                [v for k in some for v in (k.mapping.code, k.from_id, *self._heads[k][:2])],
            )

    def _put_era(self, key: ListKey, holds: int, era: int, clause: str) -> None:
        self._session.at_commit(
            f"INSERT INTO {{db}}.lists ({HEAD_COLUMNS}) VALUES {rows_of_marks(1, 4)} {clause}",
            (ERAS + key.mapping.code, key.from_id, holds, era),
        )

    async def _lock(self, keys: Sequence[ListKey]) -> None:
        self._session.will_lock(map(_order, keys))
        await self._read_heads(keys)
        absent = [key for key in keys if key not in self._heads]
        if absent:
            await self._touch(absent)
            await self._read_heads(absent)

    async def _read_heads(self, keys: Sequence[ListKey]) -> None:
        where, args = heads_condition(keys)
        found = await self._session.run(
            "tx.head",
            f"SELECT {HEAD_COLUMNS} FROM {{db}}.lists{self._dialect.by()} "
            f"WHERE {where}{self._dialect.lock}",
            args,
        )
        there = {(code, from_id) for code, from_id, *_ in found.rows}
        heads = {k: head for k, head in heads_of(found.rows).items() if _order(k) in there}
        self._heads = heads | self._heads

    async def _touch(self, keys: Sequence[ListKey]) -> None:
        await touch(self._session, self._dialect, [(k.mapping.code, k.from_id) for k in keys])

    async def _lock_with_rows(self, key: ListKey, to_ids: Sequence[int]) -> None:
        """Lock one list and read some of its rows in one statement."""
        self._session.will_lock([_order(key)])
        if not await self._read_with_rows(key, to_ids):
            await self._touch([key])
            await self._read_with_rows(key, to_ids)

    async def _read_with_rows(self, key: ListKey, to_ids: Sequence[int]) -> bool:
        """Read a list's head and rows. Returns False if the list has no head yet."""
        columns = ", ".join(f"e.{name}" for name in codecs.EDGE_COLUMNS.split(", "))
        by, code = self._dialect.by(), key.mapping.code
        found = await self._session.run(
            "tx.edges",
            f"SELECT l.size, l.version, a.version, {columns} FROM {{db}}.lists l{by} "
            f"LEFT JOIN {{db}}.lists a{by} ON a.mapping = ? AND a.from_id = l.from_id "
            f"LEFT JOIN {{db}}.{key.mapping.value} e{by} "
            f"ON e.from_id = l.from_id AND e.to_id IN ({marks(len(to_ids))}) "
            f"WHERE l.mapping = ? AND l.from_id = ?{self._dialect.lock}",
            (ERAS + code, *to_ids, code, key.from_id),
        )
        for size, version, era, *row in found.rows:
            # The row in memory may be newer than the stored row, which is written at the end.
            self._heads.setdefault(key, Head(size, version, era or 0))
            if row[0] is not None:
                edge = codecs.edge(tuple(row))
                self._rows[EdgeKey(*key, edge.to_id)] = edge
        if found.rows:
            for to_id in to_ids:
                self._rows.setdefault(EdgeKey(*key, to_id), None)
        return bool(found.rows)

    async def _put_some(self, mapping: Mapping, edges: dict[EdgeKey, Edge]) -> None:
        old = await self._read_rows(mapping, [key for key in edges if key not in self._rows])
        for key in edges:
            self._rows.setdefault(key, old.get(key))
        fresh = {key: edge for key, edge in edges.items() if self._rows[key] is None}
        newer = {
            key: edge
            for key, edge in edges.items()
            if (row := self._rows[key]) is not None and edge.version > row.version
        }
        if fresh:
            await self._insert(mapping, list(fresh.values()))
        if newer and mapping.ordered:
            for edge in newer.values():
                await self._update(mapping, edge)
        elif newer:
            clause = self._dialect.replace(("from_id", "to_id"), ("sequence", "version", "active"))
            await self._insert(mapping, list(newer.values()), clause)
        for key, edge in {**fresh, **newer}.items():
            self._note(mapping, self._rows[key], edge)

    async def _read_rows(self, mapping: Mapping, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        if not keys:
            return {}
        where, args = edges_condition(keys)
        found = await self._session.run(
            "tx.edges",
            f"SELECT {codecs.EDGE_COLUMNS} FROM {{db}}.{mapping.value}{self._dialect.by()} "
            f"WHERE {where}{self._dialect.lock}",
            args,
        )
        edges = map(codecs.edge, found.rows)
        return {EdgeKey(mapping, edge.from_id, edge.to_id): edge for edge in edges}

    async def _insert(self, mapping: Mapping, edges: Sequence[Edge], clause: str = "") -> None:
        args = [value for edge in edges for value in self._values(edge)]
        await self._session.run(
            "tx.put_edge",
            f"INSERT INTO {{db}}.{mapping.value} ({codecs.EDGE_COLUMNS}) "
            f"VALUES {rows_of_marks(len(edges), 5)} {clause}",
            args,
        )

    async def _update(self, mapping: Mapping, edge: Edge) -> None:
        from_id, to_id, *values = self._values(edge)
        await self._session.defer(
            "tx.put_edge",
            f"UPDATE {{db}}.{mapping.value} SET sequence = ?, version = ?, active = ? "
            "WHERE from_id = ? AND to_id = ?",
            (*values, from_id, to_id),
        )

    def _values(self, edge: Edge) -> Row:
        sequence = self._dialect.sequence(edge.sequence)
        return edge.from_id, edge.to_id, sequence, edge.version, int(edge.active)

    def _note(self, mapping: Mapping, old: Edge | None, new: Edge) -> None:
        key = ListKey(mapping, new.from_id)
        head = self._heads[key]
        size = head.size + int(new.active) - int(old is not None and old.active)
        self._heads[key] = head._replace(size=size, version=head.version + 1)
        self._rows[EdgeKey(mapping, new.from_id, new.to_id)] = new
        self._changed.add(key)


async def touch(session: Session, dialect: Dialect, lists: Sequence[tuple[int, int]]) -> None:
    """Create rows of (mapping code, from id) in `lists`, so that they can be locked."""
    await session.run(
        "tx.touch",
        f"INSERT INTO {{db}}.lists ({HEAD_COLUMNS}) "
        f"VALUES {rows_of_marks(len(lists), 4)} {dialect.keep(_HEAD_KEY)}",
        [value for code, from_id in lists for value in (code, from_id, 0, 0)],
    )


def heads_condition(keys: Iterable[ListKey]) -> tuple[str, list[Any]]:
    """The condition for the heads of some lists: ranges of the primary key."""
    grouped: dict[int, list[int]] = {}
    for key in keys:
        grouped.setdefault(key.mapping.code, []).append(key.from_id)
        if key.mapping.ordered:
            grouped.setdefault(ERAS + key.mapping.code, []).append(key.from_id)
    return _condition("mapping", "from_id", grouped)


def heads_of(rows: Sequence[Row]) -> dict[ListKey, Head]:
    """The heads of the lists that have one, from rows of HEAD_COLUMNS."""
    heads: dict[ListKey, Head] = {}
    for code, from_id, size, version in rows:
        key = ListKey(BY_CODE[code % ERAS], from_id)
        head = heads.get(key, NO_HEAD)
        if code > ERAS:
            heads[key] = head._replace(holds=size, era=version)
        else:
            heads[key] = Head(size, version, head.era, head.holds)
    return heads


def edges_condition(keys: Iterable[EdgeKey]) -> tuple[str, list[Any]]:
    """The condition for some rows of one mapping: ranges of the primary key."""
    grouped: dict[int, list[int]] = {}
    for key in keys:
        grouped.setdefault(key.from_id, []).append(key.to_id)
    return _condition("from_id", "to_id", grouped)


def _condition(outer: str, inner: str, grouped: dict[int, list[int]]) -> tuple[str, list[Any]]:
    terms, args = [], []
    for value, values in grouped.items():
        terms.append(f"({outer} = ? AND {inner} IN ({', '.join('?' * len(values))}))")
        args += [value, *values]
    return " OR ".join(terms), args


def _order(key: ListKey) -> tuple[int, int]:
    return key.mapping.code, key.from_id
