"""Compares the shards of two servers as of one position, by checksums of chunks, and repairs rows.

The follower stops at the position of the source's snapshot and takes its own snapshot. Then it
continues. Only a repair keeps it stopped, because a repaired row must not be changed meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from datasources.errors import StoreConflict, StoreTimeout
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.channels import Channels
from datasources.mysql.replication.keysets import Condition, between
from datasources.mysql.replication.logical_copy import Position, snapshot
from datasources.mysql.snapshots import RELEASE
from datasources.replication.sides import Difference, Report
from datasources.replication.steps import Progress
from datasources.sql.engine import Row, object_place
from datasources.together import together

ROWS = 5_000  # in a chunk
STOP_SECONDS = 30.0
MOST = 10_000  # differences that are listed, at most
ALL: Condition = ("TRUE", [])


class _Column(NamedTuple):
    name: str
    nullable: bool

    @property
    def text(self) -> str:
        """The value with its length, so that different rows never have the same text."""
        if self.nullable:
            return f"COALESCE(LENGTH({self.name}), 'N'), COALESCE({self.name}, '')"
        return f"LENGTH({self.name}), {self.name}"


class _Table(NamedTuple):
    shard: int
    name: str
    columns: list[_Column]
    key: list[str]

    @property
    def full(self) -> str:
        return f"{object_place('', self.shard).database}.{self.name}"

    @property
    def digest(self) -> str:
        """The digest of a row, 64 bits. A CRC alone is linear: two rows that exchanged their values
        would have the same XOR of digests. The product of two CRCs is not linear, and takes less
        time than MD5."""
        text = f"CONCAT_WS('#', {', '.join(column.text for column in self.columns)})"
        return f"CRC32({text}) * CRC32C({text})"


async def compare(
    source: Admin,
    follower: Admin,
    control: Admin,
    channels: Channels,
    shards: Sequence[int],
    progress: Progress,
    writer: Admin | None,
) -> Report:
    """Compare shards. `control` is another connection to the follower; so is `writer`, which
    repairs."""
    clock = asyncio.get_running_loop().time
    began, rows = clock(), 0
    found: list[Difference] = []
    async with _as_of_one_position(source, follower, control, channels, stays=writer is not None):
        for done, shard in enumerate(shards):
            progress(done, len(shards))
            ours, theirs = await together(_tables(side, shard) for side in (source, follower))
            alike = [table for name, table in ours.items() if theirs.get(name) == table]
            for name in sorted(ours.keys() - {table.name for table in alike}):
                found.append(Difference(shard, name, "", "its columns"))
            rows += await _compare_tables(source, follower, alike, found, writer)
            await together(side.run(RELEASE) for side in (source, follower))
            if len(found) > MOST:
                raise StoreConflict(f"more than {MOST} rows differ: copy the shards again")
        progress(len(shards), len(shards))
    return Report(rows, clock() - began, found, writer is not None)


@asynccontextmanager
async def _as_of_one_position(
    source: Admin, follower: Admin, control: Admin, channels: Channels, *, stays: bool
) -> AsyncIterator[None]:
    name = channels.name
    await control.run(f"STOP SLAVE '{name}' SQL_THREAD")
    try:
        async with _snapshot_ahead_of(source, control, channels) as position:
            await _run_until(control, channels, position)
            async with snapshot(follower):
                if not stays:
                    await control.run(f"START SLAVE '{name}' SQL_THREAD")
                yield
    finally:
        await control.run(f"START SLAVE '{name}' SQL_THREAD")


@asynccontextmanager
async def _snapshot_ahead_of(
    source: Admin, control: Admin, channels: Channels
) -> AsyncIterator[Position]:
    """A snapshot of the source that has everything that the stopped follower has applied. A write
    is sent to the follower before it becomes visible on the source, which first waits for its own
    slave's receipt. So the first snapshot may lack it."""
    status = await channels.status(control)
    if status is None:
        raise StoreConflict(f"{control.name}: the channel {channels.name} is gone")
    applied = status["Relay_Master_Log_File"], int(status["Exec_Master_Log_Pos"])
    clock = asyncio.get_running_loop().time
    give_up = clock() + STOP_SECONDS
    while True:
        async with snapshot(source) as position:
            if (position.file, position.offset) >= applied:
                yield position
                return
        if clock() > give_up:
            raise StoreTimeout(
                f"{source.name}: its writes get no receipt, so {control.name} is ahead of it: is "
                "its slave dead?"
            )
        await asyncio.sleep(0.02)


async def _run_until(control: Admin, channels: Channels, position: Position) -> None:
    await control.run(
        f"START SLAVE '{channels.name}' SQL_THREAD UNTIL MASTER_LOG_FILE = %s, MASTER_LOG_POS = %s",
        (position.file, position.offset),
    )
    clock = asyncio.get_running_loop().time
    give_up = clock() + STOP_SECONDS
    while True:
        status = await channels.status(control)
        if status is None or status["Last_SQL_Errno"]:
            raise StoreConflict(f"{control.name}: the channel {channels.name} failed")
        if status["Slave_SQL_Running"] == "No":
            break
        if clock() > give_up:
            raise StoreTimeout(f"{control.name} did not reach {tuple(position)}: is it behind?")
        await asyncio.sleep(0.02)
    at = status["Relay_Master_Log_File"], int(status["Exec_Master_Log_Pos"])
    if at != (position.file, position.offset):
        raise StoreConflict(
            f"{control.name} stopped at {at}, and not at {tuple(position)}: run the command again"
        )


async def _tables(admin: Admin, shard: int) -> dict[str, _Table]:
    database = object_place("", shard).database
    tables: dict[str, _Table] = {}
    for name, column, nullable in await admin.run(
        "SELECT table_name, column_name, is_nullable FROM information_schema.columns "
        "WHERE table_schema = %s ORDER BY table_name, ordinal_position",
        (database,),
    ):
        table = tables.setdefault(name.decode(), _Table(shard, name.decode(), [], []))
        table.columns.append(_Column(column.decode(), nullable == b"YES"))
    for name, column in await admin.run(
        "SELECT table_name, column_name FROM information_schema.statistics WHERE table_schema = %s "
        "AND index_name = 'PRIMARY' ORDER BY table_name, seq_in_index",
        (database,),
    ):
        tables[name.decode()].key.append(column.decode())
    return tables


async def _compare_tables(
    source: Admin,
    follower: Admin,
    tables: Sequence[_Table],
    found: list[Difference],
    writer: Admin | None,
) -> int:
    """Compare tables of one shard. Returns the number of their rows. Small tables are compared in
    one statement, since most tables of most shards are small."""
    large = await _large(source, tables)
    small = [table for table in tables if table not in large]
    rows = 0
    ours, theirs = await together(_checksums(side, small) for side in (source, follower))
    for table, one, other in zip(small, ours, theirs, strict=True):
        rows += int(one[0])
        if one != other:
            found += await _differences(source, follower, table, ALL, writer)
    for table in large:
        rows += await _compare_table(source, follower, table, found, writer)
    return rows


async def _large(admin: Admin, tables: Sequence[_Table]) -> list[_Table]:
    """The tables with more than one chunk."""
    if not tables:
        return []
    counts = (
        f"(SELECT COUNT(*) FROM (SELECT 1 FROM {table.full} LIMIT {ROWS}) AS few)"
        for table in tables
    )
    [found] = await admin.run(f"SELECT {', '.join(counts)}")
    return [table for table, count in zip(tables, found, strict=True) if count == ROWS]


async def _checksums(admin: Admin, tables: Sequence[_Table]) -> list[Row]:
    """The number of rows and the checksum of each table."""
    if not tables:
        return []
    rows = await admin.run(
        " UNION ALL ".join(
            f"SELECT {n}, COUNT(*), BIT_XOR({table.digest}) FROM {table.full}"
            for n, table in enumerate(tables)
        )
    )
    return [tuple(row) for _, *row in sorted(rows)]


async def _compare_table(
    source: Admin,
    follower: Admin,
    table: _Table,
    found: list[Difference],
    writer: Admin | None,
) -> int:
    rows = 0
    after: Row | None = None
    while True:
        last = await _end_of_chunk(source, table, after)
        where = between(table.key, after, last)
        ours, theirs = await together(_checksum(side, table, where) for side in (source, follower))
        rows += int(ours[0])
        if ours != theirs:
            found += await _differences(source, follower, table, where, writer)
        if last is None:
            return rows
        after = last


async def _end_of_chunk(admin: Admin, table: _Table, after: Row | None) -> Row | None:
    text, args = between(table.key, after, None)
    keys = ", ".join(table.key)
    rows = await admin.run(
        f"SELECT {keys} FROM {table.full} WHERE {text} ORDER BY {keys} LIMIT 1 OFFSET {ROWS - 1}",
        args,
    )
    return rows[0] if rows else None


async def _checksum(admin: Admin, table: _Table, where: Condition) -> Row:
    text, args = where
    [row] = await admin.run(
        f"SELECT COUNT(*), BIT_XOR({table.digest}) FROM {table.full} WHERE {text}", args
    )
    return row


async def _differences(
    source: Admin, follower: Admin, table: _Table, where: Condition, writer: Admin | None
) -> list[Difference]:
    ours, theirs = await together(_digests(side, table, where) for side in (source, follower))
    found = []
    for key in sorted(ours.keys() | theirs.keys(), key=repr):
        if ours.get(key) == theirs.get(key):
            continue
        fault = "missing" if key not in theirs else "extra" if key not in ours else "other"
        told = ", ".join(
            f"{c}={v.decode(errors='replace') if isinstance(v, bytes) else v}"
            for c, v in zip(table.key, key, strict=True)
        )
        found.append(Difference(table.shard, table.name, told, fault))
        if writer is not None:
            await _repair(source, writer, table, key)
    return found


async def _digests(admin: Admin, table: _Table, where: Condition) -> dict[Row, int]:
    text, args = where
    keys = ", ".join(table.key)
    rows = await admin.run(f"SELECT {keys}, {table.digest} FROM {table.full} WHERE {text}", args)
    return {tuple(key): digest for *key, digest in rows}


async def _repair(source: Admin, writer: Admin, table: _Table, key: Row) -> None:
    where = " AND ".join(f"{column} = %s" for column in table.key)
    rows = await source.run(f"SELECT * FROM {table.full} WHERE {where}", key)
    await writer.run(f"DELETE FROM {table.full} WHERE {where}", key)
    for row in rows:
        marks = ", ".join(["%s"] * len(row))
        await writer.run(f"REPLACE INTO {table.full} VALUES ({marks})", row)
