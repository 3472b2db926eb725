"""The way back of a migration: what changes in Pinway after the cut-over comes to the old database,
in rounds, until the operator ends it.

Each round reads the shards, and brings what has changed: objects before the objects that need them,
then likes, follows and the orders of boards. Rows that are gone in Pinway are taken away in the
opposite order. Only the present state counts, so a round may be interrupted and repeated.
"""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from datasources.errors import ConfigError, StoreUnavailable
from datasources.protocols import ShardStore
from datasources.scans import ShardScans
from gateway.operate.imports.load import patiently
from gateway.operate.migration.back.bringing import Bringer, Brought, Difference
from gateway.operate.migration.back.ledger import EDGES, ORDERS, BackLedger, Subject
from gateway.operate.migration.back.orders import bring_orders
from gateway.operate.migration.back.scanning import KINDS, Scanner
from gateway.operate.migration.back.targets import Target
from gateway.operate.migration.copying import PAGE
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Ledger, Row

if TYPE_CHECKING:
    from datasources.mysql.source import Source
    from datasources.mysql.source_writer import SourceWriter

BATCH = 200  # subjects that are brought at once
_ORDER = (*KINDS, *EDGES)
"""The kinds of subjects, each after the kinds that it needs."""
_PASSES = 3
"""A subject that waits for another one is looked at this many times in a round: the second time it
may give a name up, the third time the name is free."""
_CAUGHT_UP = 1.0  # seconds


class BackRound(NamedTuple):
    """A round. `read`: rows of the shards; `changed`: rows of the old database that were written;
    `left`: what it could not get; `behind`: seconds since Pinway was as the old database is now;
    `staying`: users of other migrations and of imports, who stay in Pinway.
    """

    read: int
    changed: int
    left: int
    behind: float
    staying: int
    differences: Sequence[Difference] = ()

    @property
    def is_caught_up(self) -> bool:
        """Whether the old database is less than a second behind, or had all changes already."""
        return self.behind < _CAUGHT_UP or not self.changed

    def words(self) -> str:
        """The round for people."""
        return f"brought {self.changed:,} rows back: {self.behind:.1f} s behind"


class WayBack:
    """The way back of one migration."""

    def __init__(
        self,
        shards: ShardStore,
        source: "Source",
        writer: "SourceWriter",
        targets: Sequence[Target],
        journal: Journal,
        rows: Ledger,
    ) -> None:
        if not isinstance(shards, ShardScans):
            raise ConfigError("these shards can't be read as of one moment")
        self._shards, self._source, self._targets = shards, source, targets
        self._journal, self._rows = journal, rows
        self._ledger = BackLedger(journal)
        self._scanner = Scanner(shards, self._ledger)
        self._bringer = Bringer(shards, source, writer, targets, self._ledger, rows, journal.keys)

    async def begin(self) -> None:
        """Take over what the migration has brought to the shards, and try again what the old
        database could not get in earlier runs."""
        await self._ledger.fill(self._shards, self._journal.keys.name)
        self._ledger.look_at_noted()

    async def round(self, *, everything: bool = False) -> BackRound:
        """Bring what has changed; with `everything`, all that differs."""
        began, self._scanner.everything = time.monotonic(), everything
        read = await self._scanner.scan()
        changed, waiting = 0, list[Subject]()
        for number in range(_PASSES):
            self._bringer.parks = number == 1
            self._ledger.look_at(waiting)
            gone, waiting, seen = dict[Subject, Brought](), [], -1
            while len(gone) > seen:  # what refers to an object that went away comes, too
                self._ledger.went(subject.a for subject in list(gone)[max(seen, 0) :])
                seen = len(gone)
                for kind in KINDS:
                    changed += await self._bring_all(kind, gone, waiting)
            for kind in EDGES:
                changed += await self._bring_all(kind, gone, waiting)
            if kept := await self._take_away(gone):  # rows that refer to each other
                await self._bringer.end_references(it for it in kept if not it.b)
                kept = await self._take_away(kept)
            changed += len(gone) - len(kept)
            if not waiting:
                break
        for results in await self._all(ORDERS):
            changed += sum(it.changed for it in results)
        self._ledger.all_seen()
        left = self._ledger.note_count()
        behind = time.monotonic() - began
        return BackRound(read, changed, left, behind, self._ledger.staying_count())

    async def compare(self) -> BackRound:
        """Compare all that stands in the shards and in the old database. Nothing is changed."""
        began, self._scanner.everything, self._bringer.write = time.monotonic(), True, False
        read, found = await self._scanner.scan(), list[Difference]()
        try:
            for kind in (*_ORDER, ORDERS):
                while subjects := self._ledger.waiting(kind, BATCH):
                    results = await self._bring(kind, subjects)
                    gone = await self._bringer.take_away(it for it in results if it.gone)
                    found += [told for it in (*results, *gone) for told in it.differences]
        finally:
            self._bringer.write = True
        found += await self._unknown_rows()
        left = self._ledger.note_count()
        behind = time.monotonic() - began
        return BackRound(read, 0, left, behind, self._ledger.staying_count(), found)

    def write_report(self) -> Path:
        """Write what the old database could not get to the file `back.jsonl`."""
        path = self._journal.folder / "back.jsonl"
        new = path.with_suffix(".new")
        try:
            with new.open("wb") as file:
                for subject, old, note in self._ledger.notes():
                    told = {**subject.told(old), "left_out": not note.kept}
                    file.write(msgspec.json.encode({**told, "message": note.message}) + b"\n")
            new.replace(path)
        except OSError as error:
            raise StoreUnavailable(f"can't write {path}: {error.strerror}") from None
        return path

    async def _unknown_rows(self) -> list[Difference]:
        """Rows that are in the old database since the cut-over, and not by this way back."""
        found = list[Difference]()
        for target in self._targets:
            plan, after = target.plan, None
            read = partial(
                self._source.page, plan.table, plan.wanted, where=plan.mapping.where, limit=PAGE
            )
            while (page := await patiently(partial(read, after=after))).keys:
                for key in page.keys:
                    row = Row(plan.table.name, key)
                    if not self._rows.items(row) and not self._rows.reasons(row):
                        told = ", ".join(key)
                        subject = Subject(f"row of {target.name}", 0)
                        found.append(Difference(subject, told, "", "unknown", "a row"))
                after = page.keys[-1]
        return found

    async def _bring_all(
        self, kind: str, gone: dict[Subject, Brought], waiting: list[Subject]
    ) -> int:
        """Bring all waiting subjects of a kind. Adds the ones that are gone, and the ones that are
        to be looked at again. Returns the number of changed rows."""
        changed = 0
        for results in await self._all(kind):
            changed += sum(it.changed for it in results)
            gone |= {it.settled.subject: it for it in results if it.gone}
            waiting += [it.settled.subject for it in results if it.is_pending]
        return changed

    async def _take_away(self, gone: dict[Subject, Brought]) -> dict[Subject, Brought]:
        """Take rows away, each before the rows that it needs. Returns the ones that stay."""
        kept = dict[Subject, Brought]()
        for kind in reversed(_ORDER):
            some = [it for subject, it in gone.items() if subject.kind == kind]
            for start in range(0, len(some), BATCH):
                results = await self._bringer.take_away(some[start : start + BATCH])
                self._ledger.settle(it.settled for it in results)
                refused = (it.settled.subject for it in results if it.is_pending)
                kept |= {subject: gone[subject] for subject in refused}
        return kept

    async def _all(self, kind: str) -> list[list[Brought]]:
        """Bring all waiting subjects of a kind, and store the results."""
        found = []
        while subjects := self._ledger.waiting(kind, BATCH):
            results = await self._bring(kind, subjects)
            self._ledger.settle(it.settled for it in results if not it.gone)
            found.append([it for it in results if it.changed or it.gone or it.is_pending])
        return found

    async def _bring(self, kind: str, subjects: Sequence[Subject]) -> list[Brought]:
        if kind == ORDERS:
            return await bring_orders(self._shards, self._bringer, self._ledger, subjects)
        if kind in EDGES:
            return await self._bringer.edges(EDGES[kind], subjects)
        return await self._bringer.objects(subjects)
