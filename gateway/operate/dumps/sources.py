"""The rows of a dump: all rows of the shards, or the rows that changed since an earlier dump."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple, Protocol, TypeAlias

from datasources.errors import ConfigError
from datasources.scans import LoggedScan, LoggedShards, Moment, Scan, ShardScans
from datasources.sql.engine import Row
from datasources.sql.pages import key_of
from gateway.operate.dumps.manifest import Manifest
from gateway.operate.dumps.tables import TABLES
from gateway.operate.imports.scratch import database_errors, open_scratch

KEYS = 1_000
"""Changed rows that are read at a time."""
_KEYS = """
CREATE TABLE changed (
    shard INT, name TEXT, first INT, second INT, PRIMARY KEY (shard, name, first, second)
) WITHOUT ROWID
"""


class Found(NamedTuple):
    """Rows of a table, and the keys of rows that were deleted."""

    rows: Sequence[Row]
    gone: Sequence[Row] = ()


class Rows(Protocol):
    """The rows of a dump, from a scan of one group of shards."""

    def pages(self, shard: int, name: str, limit: int) -> AsyncIterator[Found]:
        """The rows of a table on a shard, about `limit` at a time. Raises StoreError."""


Parts: TypeAlias = Collection[tuple[str, int]]
"""Tables on shards."""
RowsOf: TypeAlias = Callable[[Scan, Parts], AbstractAsyncContextManager[Rows]]
"""Begins to read the rows of some parts from a scan. Raises ConfigError and StoreError."""


class AllRows:
    """See Rows."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    async def pages(self, shard: int, name: str, limit: int) -> AsyncIterator[Found]:
        table, key = TABLES[name].stored, Row()
        while rows := await self._scan.page(shard, table, key, limit):
            yield Found(rows)
            if len(rows) < limit:
                return
            key = key_of(table, rows[-1])


class ChangedRows:
    """See Rows. The keys of changed rows are in a temporary file. The tables of shards that the
    earlier dump lacks are read whole."""

    def __init__(self, scan: LoggedScan, known: Mapping[tuple[str, int], Moment]) -> None:
        self._scan, self._known = scan, known
        self._all = AllRows(scan)
        self._keys = open_scratch("pinway-dump-", _KEYS, None)

    async def read_log(self, shards: LoggedShards, told: str) -> None:
        """Read the log since the earlier dump, which is `told` in messages. Raises ConfigError if
        the log does not have all changes since then, and StoreError."""
        until = self._scan.moment
        if not self._known:
            return
        for (_, shard), moment in self._known.items():
            if not shards.is_logged_by(shard, moment.server):
                raise ConfigError(
                    f"shard {shard} was on {moment.server} when the dump in {told} was made, and "
                    "is on another server now, whose log begins later: make a full dump"
                )
            for one in (moment, until):
                if not one.gtids:
                    raise ConfigError(
                        f"{one.server} told no global transaction ids at {one.taken}, so its "
                        "changes are not known: make full dumps only (MariaDB tells them)"
                    )
        numbers = sorted({shard for _, shard in self._known})
        tables = {name: TABLES[name].stored for name in {name for name, _ in self._known}}
        since = {moment.gtids for moment in self._known.values()}
        async for changes in shards.changes(numbers, tables, since, until):
            with database_errors("the temporary file of changed keys"):
                self._keys.execute("BEGIN")
                for (shard, name), keys in changes.items():
                    rows = [(shard, name, *key, *(0,) * (2 - len(key))) for key in keys]
                    self._keys.executemany("INSERT OR IGNORE INTO changed VALUES (?,?,?,?)", rows)
                self._keys.execute("COMMIT")

    async def pages(self, shard: int, name: str, limit: int) -> AsyncIterator[Found]:
        if (name, shard) not in self._known:
            async for found in self._all.pages(shard, name, limit):
                yield found
            return
        table = TABLES[name].stored
        after: tuple[Any, Any] = (-1, -1)
        while keys := self._after(shard, name, after, min(limit, KEYS)):
            asked = [key[: len(table.primary)] for key in keys]
            rows = await self._scan.rows(shard, table, asked)
            there = {key_of(table, row) for row in rows}
            yield Found(rows, [key for key in asked if key not in there])
            after = keys[-1]

    def close(self) -> None:
        self._keys.close()

    def _after(
        self, shard: int, name: str, after: tuple[Any, Any], limit: int
    ) -> list[tuple[int, int]]:
        with database_errors("the temporary file of changed keys"):
            return self._keys.execute(
                "SELECT first, second FROM changed WHERE shard = ? AND name = ? "
                "AND (first, second) > (?, ?) ORDER BY first, second LIMIT ?",
                (shard, name, *after, limit),
            ).fetchall()


@asynccontextmanager
async def all_rows(scan: Scan, parts: Parts) -> AsyncIterator[Rows]:
    """The rows of a full dump."""
    yield AllRows(scan)


def changed_rows(shards: ShardScans, since: Manifest, told: str) -> RowsOf:
    """The rows of an increment since an earlier dump, which is `told` in messages. Raises
    ConfigError for shards that don't tell what changed."""
    if not isinstance(shards, LoggedShards):
        raise ConfigError(
            "embedded shards are SQLite files, which have no log of their changes: make a full "
            "dump, without --since"
        )
    logged = shards
    moments = {(part.table, part.shard): since.moments[part.moment] for part in since.parts}

    @asynccontextmanager
    async def opened(scan: Scan, parts: Parts) -> AsyncIterator[Rows]:
        assert isinstance(scan, LoggedScan)
        rows = ChangedRows(scan, {part: moments[part] for part in parts if part in moments})
        try:
            await rows.read_log(logged, told)
            yield rows
        finally:
            rows.close()

    return opened
