"""Writes a dump, or what an interrupted dump lacks.

The unit of the work is a part: a table on a shard. A part's files are complete before the manifest
names them, so a dump that was killed has all files that its manifest names, and continues with the
next part. Files that the manifest does not name are removed.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

import msgspec

from datasources.errors import ConfigError
from datasources.parquet.columns import Column
from datasources.scans import ShardScans, now
from gateway.operate.dumps import manifest as manifests
from gateway.operate.dumps.manifest import (
    FINISHED,
    FORMAT,
    UNFINISHED,
    File,
    Manifest,
    Part,
    Since,
)
from gateway.operate.dumps.periods import DAY_MS, naming
from gateway.operate.dumps.places import DumpPlace
from gateway.operate.dumps.rows import Converted, converted, removed, with_change
from gateway.operate.dumps.sources import Found, Rows, RowsOf, all_rows
from gateway.operate.dumps.tables import CHANGE, DELETE, SCHEMA, TABLES, UPSERT, DumpedTable
from gateway.operate.imports.report import OnProgress, Progress

if TYPE_CHECKING:
    from datasources.parquet.partitions import Partitions, Written

PAGE = 5_000
"""Rows that are read at a time."""
HELD = 64 << 20
"""Bytes of rows, in the form of Arrow, that are held before they are written. A part with more has
several files a period."""
PAUSE = 1.0
"""Seconds between two writes of the manifest, at least. A manifest that takes long to write is
written more rarely: writing it takes at most 5% of the time."""
_SHARE = 20


class Dump:
    """The work on one dump."""

    def __init__(
        self,
        shards: ShardScans,
        place: DumpPlace,
        manifest: Manifest,
        on_progress: OnProgress,
        *,
        rows_of: RowsOf = all_rows,
        pause: float = PAUSE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shards, self._place, self.manifest = shards, place, manifest
        self._rows_of, self._columns = rows_of, columns_of(manifest.since)
        self._on_progress, self._pause, self._clock = on_progress, pause, clock
        self._period_of = naming(manifest.by)
        self._rows, self._saved_until = 0, 0.0

    async def write(self) -> None:
        """Write all parts that the manifest lacks. Raises StoreError and ConfigError; the dump may
        be continued then."""
        there = {(part.table, part.shard) for part in self.manifest.parts}
        for group in self._shards.scanned_together():
            lacking = [
                (name, shard) for shard in group for name in TABLES if (name, shard) not in there
            ]
            if lacking:
                await self._write_group(group, lacking)
        await self._write_empty_tables()
        self.manifest.state, self.manifest.ended = FINISHED, now()
        await self._save()

    async def _write_group(self, group: Sequence[int], lacking: list[tuple[str, int]]) -> None:
        async with self._shards.scan(group) as scan, self._rows_of(scan, lacking) as rows:
            self.manifest.moments.append(scan.moment)
            for name, shard in lacking:
                part = await self._write_part(rows, name, shard)
                self.manifest.parts.append(part)
                if self._clock() >= self._saved_until:
                    await self._save()

    async def _write_part(self, rows: Rows, name: str, shard: int) -> Part:
        from datasources.parquet.partitions import Partitions

        table, files, faults = TABLES[name], list[File](), 0
        held = Partitions(self._columns[name], self._metadata(name, shard))
        async for found in rows.pages(shard, name, PAGE):
            faults += await asyncio.to_thread(self._add, held, table, shard, found)
            self._rows += len(found.rows) + len(found.gone)
            self._on_progress(Progress("Rows", self._rows, None, "rows"))
            if held.bytes >= HELD:
                files += await self._flush(held, name, shard, len(files))
        if held.bytes:
            files += await self._flush(held, name, shard, len(files))
        rows_of_part = sum(file.rows for file in files)
        moment = len(self.manifest.moments) - 1
        return Part(name, shard, moment, rows_of_part, faults, files)

    async def _write_empty_tables(self) -> None:
        """Write a file without rows for each table that has none: programs can read no table
        without a file."""
        from datasources.parquet.partitions import Partitions

        filled = {part.table for part in self.manifest.parts if part.files}
        for at, part in enumerate(self.manifest.parts):
            if part.table in filled:
                continue
            filled.add(part.table)
            held = Partitions(self._columns[part.table], self._metadata(part.table, part.shard))
            file = await self._put(held.empty(), part.table, part.shard, 0)
            self.manifest.parts[at] = msgspec.structs.replace(part, files=[file])

    async def _flush(self, held: "Partitions", table: str, shard: int, number: int) -> list[File]:
        """Write a file for each period of the rows. `number` is the number of the part's files that
        were written before."""
        files, taken = list[File](), held.take()
        while (found := await asyncio.to_thread(next, taken, None)) is not None:
            files.append(await self._put(found, table, shard, number + len(files)))
        return files

    async def _put(self, written: "Written", table: str, shard: int, number: int) -> File:
        folder = manifests.folder_of(table, shard, self.manifest.by, written.partition)
        name, content = f"{folder}/{number:06d}.parquet", written.content
        await self._place.put(name, content)
        return File(name, written.rows, len(content), sha256(content).hexdigest())

    def _add(self, held: "Partitions", table: DumpedTable, shard: int, found: Found) -> int:
        """Add rows of a shard. Returns the number of their faults."""
        changes = list[tuple[str, Converted]]()
        if found.rows:
            changes.append((UPSERT, converted(table, shard, found.rows)))
        if found.gone:
            changes.append((DELETE, removed(table, shard, found.gone)))
        for change, rows in changes:
            told = with_change(rows, change, self.manifest.number) if self.manifest.since else rows
            periods = [None if at is None else self._period_of(at // DAY_MS) for at in told.times]
            held.add(told.columns, periods)
        return sum(rows.faults for _, rows in changes)

    async def _save(self) -> None:
        began = self._clock()
        content = await asyncio.to_thread(manifests.encode, self.manifest)
        await self._place.put(manifests.NAME, content)
        took = self._clock() - began
        self._saved_until = self._clock() + max(self._pause, _SHARE * took)

    def _metadata(self, table: str, shard: int) -> dict[str, str]:
        """The key-value metadata of a Parquet file."""
        return {
            "pinway.version": self.manifest.pinway,
            "pinway.schema": str(self.manifest.schema),
            "pinway.table": table,
            "pinway.shard": str(shard),
            "pinway.increment": str(self.manifest.number),
        }


async def begin(
    place: DumpPlace,
    told: str,
    by: str,
    *,
    source: str,
    replace: bool,
    since: Since | None = None,
) -> Manifest:
    """The manifest of a new dump, or of the dump at the place that was interrupted. Removes files
    of tables that it does not name. `told` is the place in messages, `source` the URL of the
    topology, and `since` the dump that an increment follows. Raises ConfigError if something else
    is there."""
    names = [name for name in await place.names("") if not name.endswith(".part")]
    content = await place.get(manifests.NAME)
    if content is None and names:
        raise ConfigError(f"{told} is not empty, and has no dump: name a new place")
    found = None if content is None else manifests.decode(content, told)
    if found is not None and not replace:
        _check_continued(found, told, by, source, since)
    manifest = found if found is not None and not replace else _new(by, source, since)
    # The old manifest must not name files that are being removed.
    await place.put(manifests.NAME, manifests.encode(manifest))
    kept = {file.name for file in manifest.files}
    folders = {*TABLES, *(found.tables if found is not None else ())}
    names = [name for name in await place.names("") if name.partition("/")[0] in folders]
    await place.delete([name for name in names if name not in kept])
    return manifest


def _check_continued(found: Manifest, told: str, by: str, source: str, since: Since | None) -> None:
    if found.state == FINISHED:
        raise ConfigError(
            f"{told} has a finished dump, of {found.ended}: name a new place, or replace it with "
            "--replace"
        )
    if _followed(found.since) != _followed(since):
        what = "all rows" if found.since is None else f"the changes since {found.since.place}"
        raise ConfigError(
            f"{told} has an unfinished dump of {what}: continue it, name a new place, or begin "
            "again with --replace"
        )
    if found.schema != SCHEMA or found.tables != columns_of(since):
        raise ConfigError(
            f"{told} has an unfinished dump of Pinway {found.pinway} with other columns: name a "
            "new place, or begin again with --replace"
        )
    if found.source != source:
        raise ConfigError(
            f"{told} has an unfinished dump of {found.source}, not of {source}: name a new place, "
            "or begin again with --replace"
        )
    if found.by != by:
        raise ConfigError(
            f"{told} has an unfinished dump by {found.by}: continue with --by {found.by}, or begin "
            "again with --replace"
        )


def _followed(since: Since | None) -> tuple[str, int] | None:
    return None if since is None else (since.ended, since.number)


def _new(by: str, source: str, since: Since | None) -> Manifest:
    begun, columns = now(), columns_of(since)
    return Manifest(
        FORMAT, SCHEMA, version("pinway"), UNFINISHED, begun, source, by, columns, since=since
    )


def columns_of(since: Since | None) -> dict[str, list[Column]]:
    """The columns of each table of a dump."""
    more = () if since is None else CHANGE
    return {name: [*table.columns, *more] for name, table in TABLES.items()}
