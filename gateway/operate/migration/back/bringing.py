"""Brings objects, likes and follows to the old database as they are in the shards now.

A row is read, and only the fields in which it differs are written: a value that the migration had
to change stays as it was. What was written is read again, so a value that the column or the mapping
can't have is noticed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from datasources.mappings import EdgeKey
from datasources.mappings import Mapping as MappingName
from datasources.protocols import ShardStore
from datasources.records import Board, Pin, Record
from datasources.sql.source_tables import RowRefused, Values, Written
from gateway.operate.imports.jsonl import AnyLine
from gateway.operate.imports.load import patiently
from gateway.operate.migration.back.graph import Graph, graph_of
from gateway.operate.migration.back.ledger import EDGES, BackLedger, Known, Note, Settled, Subject
from gateway.operate.migration.back.scanning import edge_digest, object_digest
from gateway.operate.migration.back.staying import Staying
from gateway.operate.migration.back.targets import NewKeys, Row, Target
from gateway.operate.migration.back.values import (
    Fields,
    Inexpressible,
    Value,
    fields_of_edge,
    fields_of_line,
    fields_of_record,
    is_same,
    number_of,
    parents,
    references,
)
from gateway.operate.migration.converging import again, place_of
from gateway.operate.migration.conversion import convert
from gateway.operate.migration.copying import claim_old
from gateway.operate.migration.expected import FOLLOWS
from gateway.operate.migration.fields import FIELDS
from gateway.operate.migration.items import Item, item_of, uses
from gateway.operate.migration.ledger import Ledger
from gateway.operate.migration.ledger import Row as SourceRow
from gateway.operate.migration.ledger import Settled as RowSettled
from gateway.operate.migration.stored_keys import StoredKeys

if TYPE_CHECKING:
    from datasources.mysql.source import Source
    from datasources.mysql.source_writer import SourceWriter

_NAMES = {
    "username": "waiting.{}",
    "slug": "waiting-{}",
    "email": "waiting-{}@example.invalid",
}
"""Fields that are unique, and the value of a row that waits for the value of another row."""
_ON = ("board", "pin")
"""The fields of an object that say what it is on."""
_READ = 500  # rows that are read at once
_SHOWN = 80  # characters of a value
_FOLLOWED = {mapping: kind for kind, mapping in FOLLOWS.items()}


@dataclass(frozen=True)
class _KeyOf:
    """The old id of an object that stands, in Pinway and in the old database."""

    graph: Graph
    known: Mapping[int, Known]

    def __call__(self, id: int | None) -> str | None:
        if id is None or id not in self.known or not self.graph.stands(id):
            return None
        return self.known[id].key if self.known[id].stands else None


class Difference(NamedTuple):
    """A difference between the shards and the old database. `old`: the old id, if there is one."""

    subject: Subject
    old: str | None
    field: str
    pinway: str
    source: str


class Brought(NamedTuple):
    """The result for a subject. `changed`: a row was written. `gone`: its row is to be taken
    away."""

    settled: Settled
    changed: bool = False
    gone: bool = False
    differences: Sequence[Difference] = ()

    @property
    def is_pending(self) -> bool:
        """Whether the subject is to be looked at again."""
        return self.settled.digest is None


class _Found(NamedTuple):
    """A row of the old database. `line` is None if it can't be read as the mapping says."""

    key: tuple[str, ...]
    line: AnyLine | None
    fault: str


@dataclass
class _Wanted:
    """A row that is to stand. `fields` without the ones of `identity`, by which the row is found
    (None: it has no old id yet). `is_known`: the object has not changed since it was brought.
    `is_new`: the migration does not know the row yet, as an interrupted run has inserted it."""

    subject: Subject
    target: Target
    identity: tuple[str, ...] | None
    by: tuple[str, ...]
    fields: Fields
    digest: bytes | None
    is_known: bool = False
    is_new: bool = False
    notes: list[Note] = field(default_factory=list)
    changed: bool = False
    stands: bool = True

    def note(self, message: str, *, kept: bool = True, pending: bool = False) -> None:
        self.notes.append(Note(message, kept))
        if pending:
            self.digest = None

    def brought(self, differences: Sequence[Difference] = ()) -> Brought:
        settled = Settled(self.subject, self.stands, self.digest, self.notes)
        return Brought(settled, self.changed, differences=differences)


class Bringer:
    """`write`: whether the old database is changed; otherwise, differences are told. `parks`:
    whether a row may get a name that nobody wants, while it waits for another row's name."""

    def __init__(
        self,
        shards: ShardStore,
        source: "Source",
        writer: "SourceWriter",
        targets: Sequence[Target],
        ledger: BackLedger,
        rows: Ledger,
        keys: StoredKeys,
    ) -> None:
        self._shards, self._source, self._writer = shards, source, writer
        self._targets, self._ledger, self._rows, self._keys = targets, ledger, rows, keys
        self._new_keys = NewKeys(writer, ledger)
        self.write, self.parks = True, False

    async def objects(self, subjects: Sequence[Subject]) -> list[Brought]:
        """Bring objects of one kind."""
        graph = await graph_of(self._shards, [subject.a for subject in subjects])
        known = self._ledger.known({*graph.records, *(subject.a for subject in subjects)})
        results, wanted = list[Brought](), list[_Wanted]()
        for subject in subjects:
            found = self._object(subject, graph, known)
            if isinstance(found, _Wanted):
                wanted.append(found)
            else:
                results.append(found)
        return [*results, *await again(partial(self._bring, wanted))]

    async def edges(self, mapping: MappingName, subjects: Sequence[Subject]) -> list[Brought]:
        """Bring edges of one mapping."""
        keys = [EdgeKey(mapping, subject.a, subject.b) for subject in subjects]
        stored = await patiently(lambda: self._shards.mappings.edges(keys))
        graph = await graph_of(self._shards, {id for it in subjects for id in (it.a, it.b)})
        known = self._ledger.known(graph.records)
        kind, by = ends_of(mapping)
        key_of, staying = _KeyOf(graph, known), Staying(graph, known, self._keys)
        results, wanted = list[Brought](), list[_Wanted]()
        for subject, key in zip(subjects, keys, strict=True):
            edge, stands = stored.get(key), self._ledger.edge_stands(subject)
            digest = edge_digest(edge.sequence, edge.active) if edge is not None else b""
            if not (digest and graph.stands(subject.a) and graph.stands(subject.b)):
                settled = Settled(subject, stands, None if digest else b"", ())
                results.append(Brought(settled, gone=stands))
                continue
            if (why := staying.edge(subject.a, subject.b)) is not None:
                results.append(Brought(_left_out(subject, digest, why)))
                continue
            assert edge is not None
            target = self._target(kind, by)
            fields = fields_of_edge(edge, dict(zip(by, subject[1:], strict=True)), key_of)
            identity = tuple(str(fields[name]) for name in by if fields[name] is not None)
            if target is None:
                note = Note(f"no table becomes a {kind} of a {by[1]}", kept=False)
                results.append(Brought(Settled(subject, False, digest, [note])))
            elif len(identity) < len(by):
                note = Note("one of its ends is not in the old database", kept=False)
                results.append(Brought(Settled(subject, False, None, [note])))
            else:
                wanted.append(_Wanted(subject, target, identity, by, fields, digest))
        return [*results, *await again(partial(self._bring, wanted))]

    async def take_away(self, results: Iterable[Brought]) -> list[Brought]:
        """Take the rows of subjects away that are gone."""
        return [await again(partial(self._take_away, result)) for result in results]

    async def end_references(self, subjects: Iterable[Subject]) -> None:
        """Let the rows of objects that are gone refer to no objects without which they can be."""
        for subject in subjects:
            if (place := self._place(subject)) is None:
                continue
            target, key, _ = place
            values: dict[str, Written] = {
                origin.column: None
                for name, origin in target.origins.items()
                if FIELDS[target.kind][name].of and not target.is_needed(name)
            }
            if values:
                with suppress(RowRefused):  # its deletion is told
                    await again(partial(self._writer.update, target.plan.table, key, values))

    async def lines(
        self, kind: str, known: Mapping[int, Known]
    ) -> dict[int, tuple[Target, AnyLine]]:
        """The rows of objects of a kind as lines, with their tables."""
        found: dict[int, tuple[Target, AnyLine]] = {}
        for target in self._targets:
            ids = {it.key: id for id, it in known.items() if it.table == target.name}
            wanted = [
                _Wanted(Subject(kind, id), target, (key or "",), ("key",), {}, None)
                for key, id in ids.items()
            ]
            for start in range(0, len(wanted), _READ) if target.kind == kind else ():
                rows = await self._read(wanted[start : start + _READ])
                found |= {
                    ids[key]: (target, row.line)
                    for (key,), row in rows.items()
                    if row.line is not None and key in ids
                }
        return found

    async def number(self, target: Target, key: str, place: int) -> None:
        """Write a pin's place on its board. Raises RowRefused."""
        origin = target.origins["sequence"]
        values: dict[str, Written] = {origin.column: number_of(place, origin)}
        columns = _columns(target, ("key",), (key,))
        await again(partial(self._writer.update, target.plan.table, columns, values))

    def _object(
        self, subject: Subject, graph: Graph, known: Mapping[int, Known]
    ) -> Brought | _Wanted:
        id, kind = subject.a, subject.kind
        record, has = graph.records.get(id), known.get(id, Known(None, None, False, None))
        digest = object_digest(graph.data.get(id))
        if record is None or not graph.stands(id):
            active = record is not None and record.active  # with a parent that is not
            self._ledger.set_staying(id, stays=False)
            settled = Settled(subject, has.stands, None if active else digest, ())
            return Brought(settled, gone=has.stands)
        staying = Staying(graph, known, self._keys)
        if staying(id):
            if kind == "user":
                self._ledger.set_staying(id, stays=True)
            return Brought(_left_out(subject, digest, staying.why_told(id)))
        target = self._target(kind, ("key",), has.table)
        if target is None:
            # Interests come with migrations and imports: this one belongs to another.
            why = "" if kind == "interest" else f"no table becomes a {kind}"
            return Brought(_left_out(subject, digest, why))
        if why := _secret(record, graph, self._targets):
            return Brought(Settled(subject, has.stands, digest, [Note(why, kept=False)]))
        key_of = _KeyOf(graph, known)
        fields = fields_of_record(record, key_of)
        identity = (has.key,) if has.key is not None else None
        wanted = _Wanted(subject, target, identity, ("key",), fields, digest)
        wanted.is_known = self.write and has.digest == digest
        for name, parent in parents(record).items():
            if fields[name] is None:
                note = Note(f"its {name} is not in the old database", kept=False)
                after = digest if staying(parent) else None  # it may come later in this round
                return Brought(Settled(subject, has.stands, after, [note]))
        if self.write:
            self._ledger.refer(id, {*parents(record).values(), *references(record).values()})
        _set_issuer(wanted)
        refers = {name.split()[0] for name, to in references(record).items() if graph.stands(to)}
        for name, value in fields.items():
            if name not in target.origins and (value or name in refers) and name != "created":
                wanted.note(f"{name}: no column of {target.name} has it")
        for name, other in references(record).items():
            of = name.partition(" ")[0]
            if of in target.origins and graph.stands(other) and key_of(other) is None:
                fields.pop(of, None)  # it may come later in this round, unless it stays
                message = f"{of}: {other} is not in the old database"
                wanted.note(message, pending=not staying(other))
        if isinstance(record, Pin) and record.owner_id != _owner_of_board(record, graph):
            wanted.note(f"owner: {record.owner_id} added it; a row is its board's owner's")
        if isinstance(record, Pin) and sum(map(graph.stands, record.interest_ids)) > 1:
            wanted.note(f"interest: a row of {target.name} has one, of {len(record.interest_ids)}")
        return wanted

    async def _bring(self, wanted: Sequence[_Wanted]) -> list[Brought]:
        """Bring rows, compare them again, and store what they have become."""
        results = list[Brought]()
        for target in self._targets:
            of_target = [one for one in wanted if one.target is target]
            found = await self._read(of_target)
            await self._leave_stale_covers(of_target, found)
            if self.write:
                known = [one for one in of_target if one.identity is not None]
                self._ledger.expect([it.subject for it in known if it.identity not in found])
            for one in of_target:
                row = found.get(one.identity or ())
                differing = self._differing(one, row)
                if not self.write:
                    results.append(one.brought(differing))
                    continue
                if row is not None and row.line is not None:
                    one.is_new = self._rows.holder(item_of(row.line)) is None
                if row is None:
                    await self._insert(one)
                elif differing:
                    self._note_strange(one, row, differing)
                    await self._update(one, [it.field for it in differing], row)
            if self.write:
                await self._check([one for one in of_target if one.changed or one.is_new])
                results += [one.brought() for one in of_target]
        return results

    async def _read(self, wanted: Sequence[_Wanted]) -> dict[tuple[str, ...], _Found]:
        """The rows by identity."""
        known = [one for one in wanted if one.identity is not None]
        if not known:
            return {}
        target, by = known[0].target, known[0].by
        page = await patiently(
            partial(
                self._source.rows,
                target.plan.table,
                target.plan.wanted,
                [one.identity or () for one in known],
                where=target.plan.mapping.where,
                by=[target.origins[name].column for name in by],
            )
        )
        found = {}
        for key, values in zip(page.keys, page.rows, strict=True):
            converted = convert(target.plan, values)
            row = _Found(key, converted.parsed, converted.fault)
            found[_identity(target, by, values)] = row
        return found

    def _differing(self, one: _Wanted, row: _Found | None) -> list[Difference]:
        """The fields in which a row differs; one difference without a field if there is no row."""
        old = ", ".join(one.identity) if one.identity is not None else None
        if row is None:
            return [Difference(one.subject, old, "", "a row", "missing")]
        has = fields_of_line(row.line) if row.line is not None else {}
        return [
            Difference(one.subject, old, name, _shown(value), _shown(has.get(name)))
            for name, value in one.fields.items()
            if name in one.target.origins
            and name not in one.by
            and not is_same(
                name, value, has.get(name), one.target.origins[name], one.target.column(name)
            )
        ]

    def _note_strange(self, one: _Wanted, row: _Found, differing: Iterable[Difference]) -> None:
        """Note in what somebody else has changed the row. A reference to an object that went away
        differs without that."""
        if not one.is_known:
            return
        has = fields_of_line(row.line) if row.line is not None else {}
        told, fields = self._ledger.told(one.subject), FIELDS[one.target.kind]
        names = [
            name
            for name in (it.field for it in differing)
            if name not in told and not self._ledger.has_gone(fields[name].of, str(has.get(name)))
        ]
        if names:
            one.note(f"{', '.join(names)}: changed in the old database, and now as in Pinway")

    async def _leave_stale_covers(
        self, wanted: Sequence[_Wanted], found: Mapping[tuple[str, ...], _Found]
    ) -> None:
        """A cover in the old database that is another board's pin, or no pin in Pinway, is no cover
        in Pinway, and stays. A cover that was deleted in Pinway does not."""
        stale: list[tuple[_Wanted, int]] = []
        for one in wanted:
            row = found.get(one.identity or ())
            has = fields_of_line(row.line) if row is not None and row.line is not None else {}
            if "cover" in has and has["cover"] is not None and one.fields.get("cover") is None:
                stale.append((one, self._ledger.id_of("pin", str(has["cover"])) or 0))
        graph = await graph_of(self._shards, [id for _, id in stale if id])
        for one, id in stale:
            pin = graph.records.get(id)
            on_board = isinstance(pin, Pin) and pin.board_id == one.subject.a
            if not id or (graph.stands(id) and not on_board):
                one.fields.pop("cover", None)

    async def _insert(self, one: _Wanted) -> None:
        target, table = one.target, one.target.plan.table
        places = await self._new_keys.places(target)
        try:
            row = self._row(one, places)
            if one.identity is None:
                key = await self._new_keys.next(target, one.subject.a, row)
                self._ledger.keep(one.subject.a, target.kind, target.name, key)
                one.identity = (key,)
            if not one.subject.b:
                name, kind, key = self._keys.name, target.kind, one.identity[0]
                await patiently(partial(claim_old, self._shards, name, kind, key, one.subject.a))
                one.fields["key"] = key
                row = self._row(one, places)
            try:
                await self._put(one, row.whole)
            except RowRefused:
                await self._put(one, row.least)
                await self._update(one, [name for name in one.fields if name in target.origins])
        except (RowRefused, Inexpressible) as error:
            one.note(f"{table.name} does not take its row: {error}", kept=False, pending=True)
            one.stands = False
            return
        one.changed = True

    async def _put(self, one: _Wanted, values: dict[str, Written]) -> None:
        """Insert a row. A row that was marked as deleted, or that an interrupted run has inserted,
        is there already: it gets the values."""
        target = one.target
        try:
            await self._writer.insert(target.plan.table, values)
        except RowRefused as error:
            if not error.duplicate or not await self._change(one, values):
                raise

    async def _change(self, one: _Wanted, values: dict[str, Written]) -> int:
        """Write values to the row. Returns the number of rows."""
        assert one.identity is not None
        key = _columns(one.target, one.by, one.identity)
        return await self._writer.update(one.target.plan.table, key, values)

    def _row(self, one: _Wanted, places: Mapping[str, Written]) -> Row:
        """The values of a new row. `places`: values that no other row has, for a row that is
        refused otherwise. Raises Inexpressible for a field that no row can be without."""
        target, whole, least = one.target, dict[str, Written](), dict[str, Written]()
        for name, origin in target.origins.items():
            if name == "key" and name not in one.fields:
                continue
            needed = target.is_needed(name)
            values: Fields = {name: None, **one.fields}
            # A secret board must not be there as a public one.
            required = FIELDS[target.kind][name].required or values[name] is True
            try:
                whole[origin.column] = target.written(name, values)
            except Inexpressible as error:
                if required:
                    raise
                one.note(f"{name}: {error}")
                if needed:
                    whole[origin.column] = target.written(name, {name: None})
            if required:
                least[origin.column] = whole[origin.column]
            elif needed:
                least[origin.column] = target.written(name, {name: None})
        new = target.plan.mapping.back.new
        return Row({**whole, **new}, {**least, **places, **new})

    async def _update(self, one: _Wanted, names: Iterable[str], row: _Found | None = None) -> None:
        """Write fields: all at once, or each by itself if the row does not take all of them."""
        target, values = one.target, dict[str, Written]()
        chosen = dict.fromkeys(names)
        if "description" in chosen and row is not None and getattr(row.line, "link", "") is None:
            chosen["link"] = None  # its text may be a part of the description
        for name in chosen:
            if name in target.origins and name in one.fields and name not in one.by:
                try:
                    values[name] = target.written(name, one.fields)
                except Inexpressible as error:
                    one.note(f"{name}: {error}")
        if not values:
            return
        one.changed = True
        columns = {target.origins[name].column: value for name, value in values.items()}
        try:
            await self._change(one, columns)
            return
        except RowRefused:
            pass
        for name, value in values.items():
            column = target.origins[name].column
            try:
                await self._change(one, {column: value})
            except RowRefused as error:
                if error.duplicate and await self._park(one, name):
                    continue
                one.note(f"{name}: {error}", pending=error.duplicate)

    async def _park(self, one: _Wanted, name: str) -> bool:
        """Give a name up that another row waits for. Returns whether this row waits now, for a name
        that another object has and gives up."""
        if not self.parks or name not in _NAMES:
            return False
        target = one.target
        page = await self._source.rows(
            target.plan.table,
            target.plan.wanted,
            [(str(one.fields[name]),)],
            by=[target.origins[name].column],
        )
        rows = [SourceRow(target.name, key) for key in page.keys]
        if not any(self._rows.items(row) for row in rows):
            return False
        waiting = _NAMES[name].format(one.subject.a)
        await self._change(one, {target.origins[name].column: waiting})
        one.note(f"{name}: {one.fields[name]} is another row's still", pending=True)
        return True

    async def _check(self, wanted: Sequence[_Wanted]) -> None:
        """Read rows that were written, note in what they differ, and store what they are for a
        migration that goes on."""
        found = await self._read(wanted)
        for one in wanted:
            row = found.get(one.identity or ())
            if row is None or row.line is None:
                why = row.fault if row is not None else "the mapping's `where` leaves it out"
                one.note(f"the row can't be read back: {why}")
                continue
            told = {note.message.partition(":")[0] for note in one.notes}
            for it in self._differing(one, row):
                if it.field not in told:
                    one.note(f"{it.field}: {it.pinway} was written, and is read as {it.source}")
            item = item_of(row.line)
            needs = {*uses(row.line), place_of(item)}
            id = 0 if one.subject.b else one.subject.a
            settled = RowSettled({item: id}, needs, [], ())
            self._rows.settle(0, SourceRow(one.target.name, row.key), settled)

    async def _take_away(self, result: Brought) -> Brought:
        subject = result.settled.subject
        if not self.write:
            old = self._ledger.known([subject.a])[subject.a].key if not subject.b else None
            told = Difference(subject, old, "", "gone", "a row")
            return result._replace(differences=[told])
        found = self._place(subject)
        if found is None:
            return Brought(result.settled._replace(stands=False), changed=True)
        target, key, item = found
        try:
            if target.plan.mapping.back.deleted:
                await self._writer.update(target.plan.table, key, target.plan.mapping.back.deleted)
            else:
                await self._writer.delete(target.plan.table, key)
        except RowRefused as error:
            note = Note(f"{target.name} keeps its row, which is gone in Pinway: {error}", kept=True)
            return Brought(result.settled._replace(digest=None, notes=[note]))
        if (row := self._rows.holder(item)) is not None:
            self._rows.settle(0, row, RowSettled({}, (), (), ()))
        return Brought(result.settled._replace(stands=False), changed=True)

    def _place(self, subject: Subject) -> tuple[Target, dict[str, str], Item] | None:
        """The table of a subject's row, and the columns and the item by which it is found."""
        known = self._ledger.known([id for id in subject[1:] if id])
        keys = tuple(it.key for id in subject[1:] if (it := known.get(id)) and it.key is not None)
        by: tuple[str, ...] = ("key",)
        if not subject.b:
            target = self._target(subject.kind, by, known[subject.a].table)
            item = Item(subject.kind, *keys)
        else:
            kind, by = ends_of(EDGES[subject.kind])
            target = self._target(kind, by)
            item = Item(kind, keys[0], keys[1] if kind == "like" else f"{by[1]}:{keys[1]}")
        return (target, _columns(target, by, keys), item) if target is not None else None

    def _target(self, kind: str, by: Sequence[str], table: str | None = None) -> Target | None:
        """The table that takes a kind: the given one, or the mapping's first that has the fields by
        which its rows are found."""
        return next(
            (
                it
                for it in self._targets
                if it.kind == kind
                and all(name in it.origins for name in by)
                and table in (None, it.name)
            ),
            None,
        )


def ends_of(mapping: MappingName) -> tuple[str, tuple[str, str]]:
    """The kind of line of a mapping's edges, and the fields of its two ends."""
    if mapping is MappingName.USER_LIKES_PINS:
        return "like", ("user", "pin")
    return "follow", ("follower", _FOLLOWED[mapping])


def _left_out(subject: Subject, digest: bytes, why: str) -> Settled:
    """The result for a subject that stays in Pinway. An empty `why` is not told."""
    return Settled(subject, False, digest, [Note(why, kept=False)] if why else ())


def _owner_of_board(pin: Pin, graph: Graph) -> int:
    board = graph.records[pin.board_id]
    assert isinstance(board, Board)
    return board.owner_id


def _secret(record: Record, graph: Graph, targets: Sequence[Target]) -> str:
    """Why nobody may see the object in the old database: it, or what it is on, is on a secret
    board, and the mapping has no column for that. Empty if it may be seen."""
    while not isinstance(record, Board):
        above = [graph.records[id] for name, id in parents(record).items() if name in _ON]
        if not above:
            return ""
        [record] = above
    tells = all("secret" in it.origins for it in targets if it.kind == "board")
    return "" if tells or not record.secret else "its board is secret, which no column says"


def _set_issuer(one: _Wanted) -> None:
    """Leave out a subject of another issuer than the one that the mapping gives its column."""
    origin = one.target.origins.get("subject")
    if origin is not None and origin.issuer is not None and "issuer" in one.fields:
        issuer = one.fields.pop("issuer")
        if issuer not in (None, origin.issuer):
            one.fields["subject"] = None
            one.note(f"subject: its issuer is {issuer}, and the column's is {origin.issuer}")


def _identity(target: Target, by: Sequence[str], values: Values) -> tuple[str, ...]:
    places = list(target.origins)
    return tuple((values[places.index(name)] or b"").decode("utf-8", "replace") for name in by)


def _columns(target: Target, by: Sequence[str], identity: Sequence[str]) -> dict[str, str]:
    return {target.origins[name].column: it for name, it in zip(by, identity, strict=True)}


def _shown(value: Value) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
