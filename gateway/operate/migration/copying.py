"""Copies a source's rows to Pinway's shards, in two passes.

The first pass reads the tables by primary key into the journal. Tables of different kinds are read
side by side; tables of one kind one after the other, so that if two rows have one name, always the
first row keeps the name. The second pass is the import's (`gateway.operate.imports.loader`): every
write may be repeated. At its end, each old id is claimed for the new one.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from datasources import records
from datasources.ids import Kind
from datasources.protocols import ShardStore, Stores
from datasources.records import User
from datasources.together import together
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.related.walks import Walks
from gateway.operate.imports.checks import KINDS
from gateway.operate.imports.load import Load, batches, patiently
from gateway.operate.imports.loader import write_lines
from gateway.operate.imports.report import ImportOptions, ImportReport, OnProgress, Progress
from gateway.operate.migration.conversion import convert
from gateway.operate.migration.fields import FIELDS
from gateway.operate.migration.journal import Journal, JournalComplaints
from gateway.operate.migration.source_checks import TablePlan

if TYPE_CHECKING:
    from datasources.mysql.source import Source

PAGE = 2000  # rows of a page: a few MiB
_CLAIMS = 2000  # old ids that are claimed at once


@dataclass
class Reading:
    """The result of the first pass: rows in all, and new rows of this run in `seconds`."""

    rows: int = 0
    new: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Rows of this run a second."""
        return self.new / self.seconds if self.seconds else 0.0


async def read_tables(
    source: "Source", plans: list[TablePlan], journal: Journal, progress: OnProgress
) -> Reading:
    """The first pass. It continues after the last page of an earlier run."""
    reading, began = Reading(journal.counts()["rows"]), time.monotonic()
    estimate = sum(plan.table.rows for plan in plans)

    def step(rows: int) -> None:
        reading.rows += rows
        reading.new += rows
        progress(Progress("reading", reading.rows, max(estimate, reading.rows), "rows"))

    async def read_kind(kind: str) -> None:
        for place, plan in enumerate(plans):
            if plan.mapping.becomes == kind:
                await _read(source, plan, place, journal, step)

    await together(read_kind(kind) for kind in FIELDS)
    reading.seconds = time.monotonic() - began
    progress(Progress("reading", reading.rows, reading.rows, "rows"))
    return reading


async def write_rows(
    stores: Stores,
    journal: Journal,
    progress: OnProgress,
    *,
    feeds: bool = True,
    walks: Walks | None = None,
    limits: FeedSettings = DEFAULTS,
) -> ImportReport:
    """The second pass."""
    if await _have_plain_keys(stores, journal):
        journal.keep_plain_keys()
    report, keys = ImportReport(), journal.keys
    load = Load(
        stores=stores,
        spool=journal.spool,
        options=ImportOptions(feeds=feeds, source=keys.source),
        report=report,
        complaints=JournalComplaints(journal, report),
        progress=progress,
        walks=walks,
        limits=limits,
    )
    await write_lines(load)
    await _claim_old_ids(load, keys.name)
    return report


def namespace(name: str, kind: str) -> str:
    """The namespace on the mod shards in which a migration's old ids of a kind are claimed."""
    return f"old:{name}:{kind}"


async def find_old(stores: Stores, name: str, kind: str, old: list[str]) -> dict[str, int]:
    """The new ids of old ids that were copied."""
    return await stores.shards.mod.find(namespace(name, kind), old)


async def claim_old(shards: ShardStore, name: str, kind: str, old: str, id: int) -> None:
    """Let an old id lead to an object. If it leads to an object that was deleted, it is freed
    first."""
    mod, within = shards.mod, namespace(name, kind)
    holder = await mod.claim(within, old, id)
    if holder != id:
        await mod.release(within, old, holder)
        await mod.claim(within, old, id)


async def _have_plain_keys(stores: Stores, journal: Journal) -> bool:
    """Whether users of the journal were stored under their old ids alone, by a copy of an earlier
    version whose journal was moved away."""
    keys = journal.keys
    users = journal.spool.rows("SELECT key FROM users ORDER BY n")
    for batch in batches(users, _CLAIMS):
        old_ids: list[str] = [old for (old,) in batch]
        found = await patiently(partial(find_old, stores, keys.name, "user", old_ids))
        stored = await patiently(partial(stores.shards.objects.get, [*found.values()]))
        known = records.decode_each(Kind.USER, stored)
        for old in old_ids:
            user = known.get(found.get(old, 0))
            if isinstance(user, User) and user.key in (old, keys.of(old)):
                return user.key == old
    return False


async def _read(
    source: "Source", plan: TablePlan, place: int, journal: Journal, step: Callable[[int], None]
) -> None:
    after, _ = journal.cursor(place)
    while True:
        page = await patiently(
            partial(
                source.page,
                plan.table,
                plan.wanted,
                where=plan.mapping.where,
                after=after,
                limit=PAGE,
            )
        )
        if not page.keys:
            return
        rows = [convert(plan, values) for values in page.rows]
        journal.add_page(place, plan.table.name, page.keys, rows)
        step(len(rows))
        after = list(page.keys[-1])
        await asyncio.sleep(0)


async def _claim_old_ids(load: Load, name: str) -> None:
    """Claim each old id for its new id. Reports an old id that an earlier copy has claimed for
    another object."""
    total = sum(load.spool.count(table) for table in KINDS)
    done = 0
    for table, kind in KINDS.items():
        within = namespace(name, kind)
        rows = load.spool.rows(f"SELECT key, id, line FROM {table} WHERE id IS NOT NULL ORDER BY n")
        for batch in batches(rows, _CLAIMS):
            ids = {key: id for key, id, _ in batch}
            claim = load.stores.shards.mod.claim_many
            holders = await patiently(partial(claim, within, ids))
            for key, id, line in batch:
                if holders[key] != id:
                    message = f"its old id leads to {holders[key]}, from an earlier copy, not {id}"
                    load.complaints.add(line, message, kept=True)
            done += len(batch)
            load.step("old ids", done, total, "ids")
