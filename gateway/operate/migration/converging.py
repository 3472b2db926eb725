"""Brings rows of the source to the stores as they are now: what the stores have differently is
changed, what the source no longer has is taken away.

Only the row's present state counts, so rows may be looked at in any order, and again. The rows that
depend on a changed object are looked at after it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from datasources import records
from datasources.errors import NotFound, StoreConflict
from datasources.ids import Kind, kind_of
from datasources.mappings import Edge, Mapping
from datasources.protocols import Stores
from datasources.records import RECORDS, Interest, Pin, Record, User
from feed_engine.transactions import access
from gateway.operate.imports.jsonl import AnyLine
from gateway.operate.imports.load import patiently
from gateway.operate.migration.conversion import convert
from gateway.operate.migration.expected import FOLLOWS, absent, expected, find, refs_of
from gateway.operate.migration.items import SLUG, Item, Ref, item_of, keys_of, uses
from gateway.operate.migration.ledger import Ledger, Row, Settled, Start
from gateway.operate.migration.source_checks import TablePlan
from gateway.operate.migration.stored_keys import StoredKeys
from gateway.operate.migration.writing import LeftOut, Writer

if TYPE_CHECKING:
    from datasources.mysql.source import Source

T = TypeVar("T")
BATCH = 100  # rows that are read at once
_ATTEMPTS = 10


class Now(NamedTuple):
    """A row's lines as the source has them now, and why others have none."""

    lines: list[AnyLine]
    faults: list[str]


class Convergence:
    """Looks at rows of one migration. `anew`: see Writer."""

    def __init__(
        self,
        stores: Stores,
        source: "Source",
        plans: Sequence[TablePlan],
        ledger: Ledger,
        keys: StoredKeys,
        *,
        anew: bool = False,
    ) -> None:
        self._stores, self._source, self._plans = stores, source, plans
        self._ledger, self._keys = ledger, keys
        self._writer = Writer(stores, keys, anew=anew)

    async def work(self, step: Callable[[int], None]) -> int:
        """Look at all rows that the ledger has noted. Returns their number; `step` is told of rows
        as they are done."""
        done = 0
        while batch := self._ledger.waiting(BATCH):
            now = await read_now(self._source, self._plans, [row for _, row in batch])
            for note, row in batch:
                await self._look_at(note, row, now[row])
            done += len(batch)
            step(len(batch))
        return done

    async def _look_at(self, note: int, row: Row, now: Now) -> None:
        had, used = self._ledger.items(row), self._ledger.uses(row)
        wanted = {item_of(line): line for line in now.lines}
        items: dict[Item, int] = {}
        reasons, names = [*now.faults], set[Ref]()
        changed = self._ledger.names(row)  # a run that was killed may have freed them
        for item in had:
            if item not in wanted:
                await again(partial(self._take_away, item, changed))
        for item, line in wanted.items():
            holder = self._ledger.holder(item)
            if holder not in (None, row):
                reasons.append(f"{item} is there already, in {holder.table} {holder.key}")
                continue
            outcome = await again(partial(self._bring, row, item, line, changed))
            names |= outcome.names
            if outcome.id is not None:
                items[item] = outcome.id
            if outcome.reason:
                reasons.append(outcome.reason)
        changed -= names
        uses_now = {ref for item, line in wanted.items() for ref in (*uses(line), place_of(item))}
        # By the ledger's earlier state: a run that was killed may have changed the stores already.
        changed |= {place_of(item) for item, id in had.items() ^ items.items()}
        if used != uses_now:  # a pin on another board, of which it may be the cover
            changed |= {item.ref for item in items if not item.b}
        self._ledger.settle(note, row, Settled(items, uses_now, reasons, changed))

    async def _bring(self, row: Row, item: Item, line: AnyLine, changed: set[Ref]) -> "_Outcome":
        """Bring an item to the stores. An object whose board or owner was deleted is being deleted
        by a task, and can't be changed: another object takes its place.

        Adds to `changed` what this may change for other rows: objects, and the names that the
        object has had. Nothing that was added is lost when the call is repeated.
        """
        for _ in range(_ATTEMPTS):
            try:
                return await self._try_to_bring(row, item, line, changed)
            except NotFound:
                await self._take_away(item, changed)
        raise StoreConflict(f"{item} is deleted again and again: does somebody else write to it?")

    async def _try_to_bring(
        self, row: Row, item: Item, line: AnyLine, changed: set[Ref]
    ) -> "_Outcome":
        found = await find(self._stores, self._keys.name, refs_of(line))
        if why := absent(line, found):
            await self._take_away(item, changed)
            return _Outcome(None, why)
        wanted = expected(line, found, self._keys)
        stood = self._ledger.holder(item) is not None
        if wanted.record is None:
            self._ledger.intend(row, item)
            assert wanted.mapping is not None
            assert wanted.edge is not None
            await self._writer.set_edge(wanted.mapping, wanted.edge)
            return _Outcome(0)
        stored = found.get(item.ref)
        changed |= _names(stored)
        if await self._is_own_repin(stored, wanted.record):
            await self._take_away(item, changed)
            return _Outcome(None, "its source is its own repin")
        start, names = self._writer.start(wanted.record), _names(wanted.record)
        if stored is None:
            await self._clear_remains(item, changed, start)
        self._ledger.intend(row, item, start, _names(stored) | names)
        try:
            outcome = _Outcome(await self._writer.put(item.ref, stored, wanted), names=names)
        except LeftOut as left:
            if left.stays is None:
                was_there = stood or stored is not None
                await self._take_away(item, changed if was_there else set())
                return _Outcome(None, str(left))
            after = await find(self._stores, self._keys.name, [item.ref])
            outcome = _Outcome(left.stays, str(left), _names(after.get(item.ref)))
        if stored is None or stored.id != outcome.id:
            changed.add(item.ref)
        return outcome

    async def _clear_remains(
        self, item: Item, changed: set[Ref], unless: Start | None = None
    ) -> None:
        """Clear what interrupted runs left of an object to which no old id leads, and add the names
        that this frees to `changed`.

        A deleted object has its names and its old id until they are freed. An object that was
        stored before its old id was claimed is claimed and taken away, `unless` it would be stored
        there again.
        """
        changed |= _names(await self._writer.free_old_id(item.ref))
        start = self._ledger.start(item)
        if start is None or start == unless:
            return
        for id in await self._writer.unclaimed(item.ref, start):
            stored = (await access.read(self._stores, RECORDS[kind_of(id)], [id])).get(id)
            if stored is not None and stored.active:
                await self._writer.claim(item.ref, id)
                await self._writer.take_away(item.ref, stored)

    async def _is_own_repin(self, stored: Record | None, wanted: Record) -> bool:
        """Whether the pins from which a pin is to be repinned begin with the pin itself."""
        source_id = wanted.source_id if isinstance(wanted, Pin) else None
        while stored is not None and source_id is not None:
            if source_id == stored.id:
                return True
            ids = [source_id]
            found = await patiently(partial(self._stores.shards.objects.get, ids))
            source = records.decode_each(Kind.PIN, found).get(source_id)
            source_id = source.source_id if isinstance(source, Pin) else None
        return False

    async def _take_away(self, item: Item, changed: set[Ref]) -> None:
        """Take an object or an edge away. Adds to `changed` what this changes for other rows:
        nothing if the item was not there. Otherwise rows that need each other would be looked at
        again and again."""
        holder = self._ledger.holder(item)
        if holder is not None:
            changed.add(place_of(item))
        if item.b:
            ends = _ends(item)
            found = await find(self._stores, self._keys.name, ends)
            if all(end in found for end in ends):  # a deleted end has ended the edge
                edge = Edge(found[ends[0]].id, found[ends[1]].id, 0, 0)
                await self._writer.clear_edge(_mapping(item), edge)
            return
        stored = (await find(self._stores, self._keys.name, [item.ref])).get(item.ref)
        if stored is None:
            await self._clear_remains(item, changed)
            return
        changed |= {item.ref, *_names(stored)}
        if holder is not None:
            self._ledger.intend(holder, item, names=_names(stored))
        await self._writer.take_away(item.ref, stored)


class _Outcome(NamedTuple):
    """The result for an item: its id (0 for an edge, None if it can't stand), the reason if it does
    not stand, or not as the source says, and the names that its object has."""

    id: int | None
    reason: str = ""
    names: Set[Ref] = frozenset()


async def read_now(
    source: "Source", plans: Sequence[TablePlan], rows: Sequence[Row]
) -> dict[Row, Now]:
    """The rows as they are in the source now. A row that is not there has no line."""
    found = {row: Now([], []) for row in rows}
    for plan in plans:
        keys = [row.key for row in rows if row.table == plan.table.name]
        if not keys:
            continue
        read = partial(source.rows, plan.table, plan.wanted, keys, where=plan.mapping.where)
        page = await again(read)
        for key, values in zip(page.keys, page.rows, strict=True):
            row = Row(plan.table.name, key)
            if row not in found:
                continue  # another spelling of a key that was asked for
            converted = convert(plan, values)
            if converted.parsed is not None:
                found[row].lines.append(converted.parsed)
            else:
                found[row].faults.append(converted.fault)
    return found


async def again(call: Callable[[], Awaitable[T]]) -> T:
    """Call again while other transactions win, and while a store does not answer."""
    for attempt in range(_ATTEMPTS):
        try:
            return await patiently(call)
        except StoreConflict:
            await asyncio.sleep(0.01 * 2**attempt)
    return await patiently(call)


def _names(stored: Record | None) -> set[Ref]:
    """The names and keys that an object has, or that are kept for it."""
    if isinstance(stored, User):
        return {*keys_of(stored)}
    return {Ref(SLUG, stored.slug)} if isinstance(stored, Interest) else set()


def place_of(item: Item) -> Ref:
    """The reference of all rows that would become the item: one of them can."""
    return Ref(item.kind, f"{item.a} {item.b}") if item.b else item.ref


def _ends(item: Item) -> list[Ref]:
    if item.kind == "like":
        return [Ref("user", item.a), Ref("pin", item.b)]
    kind, _, key = item.b.partition(":")
    return [Ref("user", item.a), Ref(kind, key)]


def _mapping(item: Item) -> Mapping:
    return Mapping.USER_LIKES_PINS if item.kind == "like" else FOLLOWS[item.b.partition(":")[0]]
