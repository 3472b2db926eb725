"""Compares the rows of a source with the objects and edges in the shards, by ranges of the primary
key.

The objects are found by their old ids, as clients find them: the ledger only says which rows were
left out, and which objects have lost their row. A user who was left out because another user had
the name is missing if nobody has it now. A user without a key of the source differs, unless another
user has the key.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from datasources.mappings import REVERSE, SEQUENCE_STEP, Edge, EdgeKey, Mapping
from datasources.protocols import Stores
from datasources.records import Board, Comment, Pin, Record, User
from feed_engine.transactions.key_kinds import EMAIL, KINDS, SUBJECT, USERNAME
from gateway.operate.imports.jsonl import AnyLine, UserLine
from gateway.operate.imports.line_records import user_of
from gateway.operate.imports.load import batches, patiently
from gateway.operate.imports.report import OnProgress, Progress
from gateway.operate.imports.scratch import open_scratch
from gateway.operate.migration.conversion import convert
from gateway.operate.migration.copying import PAGE
from gateway.operate.migration.expected import (
    Expected,
    Found,
    absent,
    compared,
    expected,
    find,
    is_placed,
    refs_of,
)
from gateway.operate.migration.items import Ref, item_of, keys_of
from gateway.operate.migration.ledger import Ledger, Row
from gateway.operate.migration.source_checks import TablePlan
from gateway.operate.migration.stored_keys import StoredKeys

if TYPE_CHECKING:
    from datasources.mysql.source import Source

_SEEN = "CREATE TABLE seen (source_table TEXT, row TEXT, PRIMARY KEY (source_table, row))"
_SHOWN = 80  # characters of a value


class Difference(NamedTuple):
    """A row that stands differently. `item`: its object or edge; `field`: what differs, with the
    values of the source and of the shards. `row`: the row to be looked at."""

    row: Row
    item: str
    field: str
    source: str
    shards: str

    def told(self) -> dict[str, str]:
        """The difference for people and programs."""
        where = {"table": self.row.table, "row": ", ".join(self.row.key)}
        return {**where, **self._asdict(), **where}


class Range(NamedTuple):
    """A range of a table's primary key: the first and the last key, the number of rows that should
    stand, and two checksums over them: of the source, and of the shards."""

    table: str
    first: str
    last: str
    rows: int
    source: str
    shards: str


class Verified(NamedTuple):
    """`rows`: rows that were compared. `left_out`: rows that can't be in the shards, because of
    what they have, or because another row is missing or has their place. `new`: rows of these that
    the ledger doesn't know; a repair looks at them, because it may bring what they refer to.
    `without_keys`: users who stand without a key that another user has."""

    ranges: list[Range]
    differences: list[Difference]
    rows: int
    left_out: int
    new: list[Row]
    without_keys: int


class _Pair(NamedTuple):
    """The values of a row by field. `shards` is empty if its object or edge is missing."""

    source: dict[str, Any]
    shards: dict[str, Any]


async def verify(
    stores: Stores,
    source: "Source",
    plans: Sequence[TablePlan],
    ledger: Ledger,
    keys: StoredKeys,
    progress: OnProgress,
) -> Verified:
    """Compare all rows of the plans' tables. Nothing is changed."""
    with closing(_Verifier(stores, ledger, keys)) as verifier:
        return await _verify(verifier, source, plans, progress)


async def _verify(
    verifier: "_Verifier", source: "Source", plans: Sequence[TablePlan], progress: OnProgress
) -> Verified:
    total = sum(plan.table.rows for plan in plans)
    done = 0
    for plan in plans:
        after: Sequence[str] | None = None
        while True:
            read = partial(source.page, plan.table, plan.wanted, where=plan.mapping.where)
            page = await patiently(partial(read, after=after, limit=PAGE))
            if not page.keys:
                break
            rows = [
                (Row(plan.table.name, key), convert(plan, values).parsed)
                for key, values in zip(page.keys, page.rows, strict=True)
            ]
            await verifier.compare(plan.table.name, rows)
            done += len(rows)
            progress(Progress("comparing", done, max(total, done), "rows"))
            after = page.keys[-1]
    await verifier.compare_lost_rows({plan.table.name for plan in plans})
    progress(Progress("comparing", done, done, "rows"))
    return Verified(
        verifier.ranges,
        verifier.differences,
        done,
        verifier.left_out,
        verifier.new,
        verifier.without_keys,
    )


class _Verifier:
    def __init__(self, stores: Stores, ledger: Ledger, keys: StoredKeys) -> None:
        self._stores, self._ledger, self._keys = stores, ledger, keys
        self._seen = open_scratch("pinway-verify-", _SEEN, None)
        self.ranges: list[Range] = []
        self.differences: list[Difference] = []
        self.left_out = self.without_keys = 0
        self.new: list[Row] = []

    def close(self) -> None:
        self._seen.close()

    async def compare(self, table: str, rows: Sequence[tuple[Row, AnyLine | None]]) -> None:
        """Compare a page of a table."""
        self._seen.executemany(
            "INSERT OR IGNORE INTO seen VALUES (?, ?)", [(row.table, row.text) for row, _ in rows]
        )
        lines = [(row, line) for row, line in rows if line is not None]
        self.left_out += len(rows) - len(lines)
        refs = [ref for _, line in lines for ref in refs_of(line)]
        found = await find(self._stores, self._keys.name, refs)
        wanted: list[tuple[Row, AnyLine, Expected]] = []
        taken = await self._taken(lines, found)
        for row, line in lines:
            holder = self._ledger.holder(item_of(line))
            left_out = holder != row and bool(self._ledger.reasons(row))
            if holder is None and isinstance(line, UserLine):
                left_out = left_out and USERNAME.namespace in taken[row]
            if left_out or absent(line, found):
                self.left_out += 1
                if holder is None and not self._ledger.reasons(row):
                    self.new.append(row)
                if holder == row and item_of(line).ref in found:
                    self._differ(row, line, "", "left out", "stands")
            else:
                want = expected(line, found, self._keys)
                if isinstance(want.record, User):
                    cleared = {
                        it.field: "" for it in (EMAIL, SUBJECT) if it.namespace in taken[row]
                    }
                    want = want._replace(record=replace(want.record, **cleared))
                    self.without_keys += bool(cleared)
                wanted.append((row, line, want))
        pairs = await self._pairs(wanted, found)
        sums = hashlib.sha256(), hashlib.sha256()
        for row, line, _ in wanted:
            pair = pairs[row]
            for digest, values in zip(sums, pair, strict=True):
                digest.update(msgspec.json.encode([row.key, values], order="sorted"))
            if not pair.shards:
                self._differ(row, line, "", "a row", "missing")
                continue
            for field, value in pair.source.items():
                if value != pair.shards[field]:
                    self._differ(row, line, field, _shown(value), _shown(pair.shards[field]))
        first, last = (", ".join(rows[at][0].key) for at in (0, -1))
        told = [digest.hexdigest()[:16] for digest in sums]
        self.ranges.append(Range(table, first, last, len(wanted), *told))
        await asyncio.sleep(0)

    async def _taken(
        self, lines: Sequence[tuple[Row, AnyLine]], found: Found
    ) -> dict[Row, set[str]]:
        """For each row of a user, the kinds of keys that the row asks for, and that another user
        has."""
        lacks: dict[Row, list[Ref]] = {}
        ids: dict[Row, int] = {}
        for row, line in lines:
            if isinstance(line, UserLine):
                stored = found.get(item_of(line).ref)
                has = keys_of(stored) if isinstance(stored, User) else []
                lacks[row] = [ref for ref in keys_of(user_of(line)) if ref not in has]
                ids[row] = stored.id if stored is not None else 0
        holders: dict[Ref, int] = {}
        for kind in KINDS:
            keys = [ref.key for refs in lacks.values() for ref in refs if ref.kind == kind]
            find_holders = partial(self._stores.shards.mod.find, kind, keys)
            held = await patiently(find_holders) if keys else {}
            holders |= {Ref(kind, key): id for key, id in held.items()}
        return {
            row: {ref.kind for ref in refs if holders.get(ref, ids[row]) != ids[row]}
            for row, refs in lacks.items()
        }

    async def compare_lost_rows(self, tables: set[str]) -> None:
        """Find objects and edges whose row is no longer in these tables of the source."""
        lost = (
            (row, item)
            for row, item in self._ledger.rows()
            if row.table in tables
            and not self._seen.execute(
                "SELECT 1 FROM seen WHERE source_table = ? AND row = ?", (row.table, row.text)
            ).fetchone()
        )
        for batch in batches(lost, PAGE):
            found = await find(self._stores, self._keys.name, [item.ref for _, item in batch])
            for row, item in batch:
                if item.b or item.ref in found:
                    self.differences.append(Difference(row, str(item), "", "no row", "stands"))

    async def _pairs(
        self, wanted: Sequence[tuple[Row, AnyLine, Expected]], found: Found
    ) -> dict[Row, _Pair]:
        """For each row, the values that the source asks for, and the shards' values."""
        keys: list[EdgeKey] = []
        stored: dict[Row, Record | None] = {}
        for row, line, want in wanted:
            stored[row] = found.get(item_of(line).ref) if want.record is not None else None
            keys += _edge_keys(want, stored[row])
        edges = await patiently(lambda: self._stores.shards.mappings.edges(keys)) if keys else {}
        return {
            row: _pair(want, stored[row], [edges.get(key) for key in _edge_keys(want, stored[row])])
            for row, _, want in wanted
        }

    def _differ(self, row: Row, line: AnyLine, field: str, source: str, shards: str) -> None:
        self.differences.append(Difference(row, str(item_of(line)), field, source, shards))


def _pair(want: Expected, stored: Record | None, rows: Sequence[Edge | None]) -> _Pair:
    """`rows` are the rows of `_edge_keys`."""
    first = rows[0] if rows else None
    listed = all(row is not None and row.active for row in rows)
    if want.edge is not None:
        return _Pair(
            {"created": want.edge.sequence // SEQUENCE_STEP},
            {"created": first.sequence // SEQUENCE_STEP} if listed and first is not None else {},
        )
    assert want.record is not None
    if stored is None:
        return _Pair({"": None}, {})
    fields = compared(stored, want.record)
    source = {name: getattr(want.record, name) for name in fields} | {"listed": True}
    shards = {name: getattr(stored, name) for name in fields} | {"listed": listed}
    if isinstance(want.record, Pin):
        source["place"] = want.place
        at = first.sequence if first is not None else 0
        shards["place"] = want.place if is_placed(first, want.place) else at
    return _Pair(source, shards)


def _edge_keys(want: Expected, stored: Record | None) -> list[EdgeKey]:
    """The rows of mappings that must be active."""
    if want.mapping is not None and want.edge is not None:
        edge = want.edge
        reverse = EdgeKey(REVERSE[want.mapping], edge.to_id, edge.from_id)
        return [EdgeKey(want.mapping, edge.from_id, edge.to_id), reverse]
    match stored, want.record:
        case Pin(), Pin():
            id, pin = stored.id, want.record
            return [
                EdgeKey(Mapping.BOARD_HAS_PINS, pin.board_id, id),
                EdgeKey(Mapping.USER_HAS_PINS, pin.owner_id, id),
            ]
        case Board(), Board():
            lists = [Mapping.USER_HAS_BOARDS]
            if not want.record.secret:
                lists.append(Mapping.USER_HAS_PUBLIC_BOARDS)
            return [EdgeKey(one, want.record.owner_id, stored.id) for one in lists]
        case Comment(), Comment():
            return [EdgeKey(Mapping.PIN_HAS_COMMENTS, want.record.pin_id, stored.id)]
    return []


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
