"""Copies whole databases from one server to another, as of one moment, during writes.

The copy is logical and goes through this process: it needs no access to the servers' files, and can
copy some of a server's databases.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.keysets import between
from datasources.mysql.snapshots import BEGIN, RELEASE, write_no_log
from datasources.replication.steps import Progress

ROWS = 1_000  # rows in a statement


class Position(NamedTuple):
    """A place in a server's binlog, as file and offset and as global transaction ids."""

    file: str
    offset: int
    gtids: str


@asynccontextmanager
async def snapshot(source: Admin) -> AsyncIterator[Position]:
    """A transaction that sees the source as of one place in its binlog. It is for reads alone: the
    session writes no binary log meanwhile."""
    try:
        await write_no_log(source.run)
        await source.script(("SET SESSION idle_transaction_timeout = 0", *BEGIN))
        found = {
            name.decode(): value.decode()
            for name, value in await source.run("SHOW STATUS LIKE 'binlog_snapshot_%%'")
        }
        file, offset = found["Binlog_snapshot_file"], int(found["Binlog_snapshot_position"])
        [[gtids]] = await source.run("SELECT BINLOG_GTID_POS(%s, %s)", (file, offset))
        yield Position(file, offset, gtids.decode())
    finally:
        await source.close()  # no later write of this session may be missing in the log


async def copy(
    source: Admin,
    target: Admin,
    databases: Sequence[str],
    progress: Progress = lambda done, total: None,
) -> None:
    """Copy databases. A database that the target already has is dropped first, so that a copy that
    was killed can be repeated."""
    for done, database in enumerate(databases):
        progress(done, len(databases))
        await target.script((f"DROP DATABASE IF EXISTS {database}",))
        [[_, made]] = await source.run(f"SHOW CREATE DATABASE {database}")
        await target.script((made.decode(), f"USE {database}"))
        for [table, *_] in await source.run(
            f"SHOW FULL TABLES FROM {database} WHERE table_type = 'BASE TABLE'"
        ):
            await _copy_table(source, target, database, table.decode())
        await source.run(RELEASE)
    progress(len(databases), len(databases))


async def _copy_table(source: Admin, target: Admin, database: str, table: str) -> None:
    name = f"{database}.{table}"
    # The statement includes AUTO_INCREMENT, so that no id is used twice.
    [[_, made]] = await source.run(f"SHOW CREATE TABLE {name}")
    await target.run(made.decode())
    key = await primary_key(source, database, table)
    columns = [c.decode() for c, *_ in await source.run(f"SHOW COLUMNS FROM {name}")]
    at = [columns.index(column) for column in key]
    order = ", ".join(key)
    last: tuple[object, ...] | None = None
    while True:
        where, args = between(key, last, None)
        rows = await source.run(
            f"SELECT * FROM {name} WHERE {where} ORDER BY {order} LIMIT {ROWS}", args
        )
        if not rows:
            return
        one = f"({', '.join(['%s'] * len(columns))})"
        await target.run(
            f"INSERT INTO {name} VALUES {', '.join([one] * len(rows))}",
            [value for row in rows for value in row],
        )
        if len(rows) < ROWS:
            return
        last = tuple(rows[-1][n] for n in at)


async def primary_key(admin: Admin, database: str, table: str) -> list[str]:
    rows = await admin.run(
        "SELECT column_name FROM information_schema.key_column_usage WHERE table_schema = %s "
        "AND table_name = %s AND constraint_name = 'PRIMARY' ORDER BY ordinal_position",
        (database, table),
    )
    return [name.decode() for [name] in rows]
