"""Finds the objects, orders and edges in the shards that have another state than the one that was
brought to the old database.

Every row of the shards is read in each round, and compared by a digest. The outbox has no row for
many changes, and embedded shards have no log of changes. A comparison misses no write, of no
program.
"""

import hashlib
from collections.abc import AsyncIterator, Iterable
from collections.abc import Mapping as MappingOf
from typing import TypeVar, cast

from datasources.ids import MAX_LOCAL, Kind, compose
from datasources.mappings import Mapping
from datasources.scans import Scan, ShardScans
from datasources.sql.engine import Row
from datasources.sql.pages import key_of
from datasources.sql.schema import OBJECT_SHARD, OBJECT_TABLES, Table
from gateway.operate.migration.back.ledger import EDGES, ORDERS, BackLedger, Subject

PAGE = 5000  # rows
KINDS = ("user", "interest", "board", "pin", "comment")
"""The kinds of objects that the old database can have, each after the kinds that it needs."""
_TABLES = {table.name: table for table in OBJECT_SHARD}
K = TypeVar("K")
_ACTIVE = 4  # the column of a mapping's row


class Scanner:
    """Notes subjects in the ledger, as subjects that are to be looked at."""

    def __init__(self, shards: ShardScans, ledger: BackLedger) -> None:
        self._shards, self._ledger = shards, ledger
        self.everything = False
        """Whether subjects whose state was brought are noted, too."""

    async def scan(self) -> int:
        """Read all shards. Returns the number of rows that stand, or are known."""
        rows = 0
        for group in self._shards.scanned_together():
            async with self._shards.scan(group) as scan:
                for shard in group:
                    for kind in KINDS:
                        rows += await self._objects(scan, shard, Kind[kind.upper()])
                    rows += await self._orders(scan, shard)
                    for mapping in EDGES.values():
                        rows += await self._edges(scan, shard, mapping)
        return rows

    async def _objects(self, scan: Scan, shard: int, kind: Kind) -> int:
        name, table = kind.name.lower(), _TABLES[OBJECT_TABLES[kind]]
        last, end = compose(shard, kind, 1) - 1, compose(shard, kind, MAX_LOCAL)
        count, key = 0, cast(Row, ())
        while True:
            rows = await scan.page(shard, table, key, PAGE)
            found = {compose(shard, kind, row[0]): object_digest(row[1]) for row in rows}
            up_to = max(found) if len(rows) == PAGE else end
            known = self._ledger.digests(name, last, up_to)
            self._ledger.look_at(Subject(name, id) for id in self._changed(found, known))
            count += len(found.keys() | known.keys())
            if up_to == end:
                return count
            last, key = up_to, key_of(table, rows[-1])

    async def _edges(self, scan: Scan, shard: int, mapping: Mapping) -> int:
        table = _TABLES[mapping.value]
        (first, end), count, key = _from_ids(shard), 0, cast(Row, ())
        last = (first, 0)
        while True:
            rows = await scan.page(shard, table, key, PAGE)
            found = {(row[0], row[1]): edge_digest(int(row[2]), row[_ACTIVE]) for row in rows}
            up_to = max(found) if len(rows) == PAGE else (end, 0)
            known = self._ledger.edge_digests(mapping.value, last, up_to)
            found = {ids: it for ids, it in found.items() if it or ids in known}
            self._ledger.look_at(Subject(mapping.value, *it) for it in self._changed(found, known))
            count += len(found.keys() | known.keys())
            if up_to == (end, 0):
                return count
            last, key = up_to, key_of(table, rows[-1])

    async def _orders(self, scan: Scan, shard: int) -> int:
        table = _TABLES[Mapping.BOARD_HAS_PINS.value]
        first, end = _from_ids(shard)
        orders: dict[int, bytes] = {}
        board, pins = 0, list[tuple[int, int]]()
        async for row in _all(scan, shard, table):
            if row[0] != board:
                orders[board] = order_digest(pins)
                board, pins = row[0], []
            if row[_ACTIVE]:
                pins.append((int(row[2]), row[1]))
        orders[board] = order_digest(pins)
        del orders[0]
        known = self._ledger.digests(ORDERS, first, end)
        self._ledger.look_at(Subject(ORDERS, id) for id in self._changed(orders, known))
        return len(orders.keys() | known.keys())

    def _changed(self, found: MappingOf[K, bytes], known: MappingOf[K, bytes | None]) -> set[K]:
        if self.everything:
            return found.keys() | known.keys()
        gone = {key for key in known.keys() - found.keys() if known[key] != b""}
        return gone | {key for key, digest in found.items() if known.get(key) != digest}


async def _all(scan: Scan, shard: int, table: Table) -> AsyncIterator[Row]:
    key: Row = ()
    while rows := await scan.page(shard, table, key, PAGE):
        for row in rows:
            yield row
        key = key_of(table, rows[-1])


def _from_ids(shard: int) -> tuple[int, int]:
    """Two numbers between which all ids of a shard's objects are."""
    return compose(shard, Kind(1), 1) - 1, compose(shard, max(Kind), MAX_LOCAL) + 1


def object_digest(data: bytes | None) -> bytes:
    """The digest of a stored object; empty for an object that was erased."""
    return hashlib.blake2b(data, digest_size=8).digest() if data is not None else b""


def edge_digest(sequence: int, active: object) -> bytes:
    """The digest of an edge; empty for an edge that ended."""
    return str(sequence).encode() if active else b""


def order_digest(pins: Iterable[tuple[int, int]]) -> bytes:
    """The digest of a board's order: the ids of its pins by their sequences."""
    digest = hashlib.blake2b(digest_size=8)
    for _, id in sorted(pins, reverse=True):
        digest.update(id.to_bytes(8, "big"))
    return digest.digest()
