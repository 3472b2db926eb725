"""The shared tables as SQLite's DDL."""

import contextlib
import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path

from datasources.errors import StoreCorrupt
from datasources.sql.engine import Place
from datasources.sql.schema import MOD_SHARD, NEWEST, OBJECT_SHARD, Table, Type

VERSION = 3  # in user_version: this file has all tables that this number had at first

_TYPES = {
    Type.LOCAL_ID: "INTEGER",
    Type.ID: "INTEGER",
    Type.SEQUENCE: "TEXT",  # zero-padded to 38 digits, so that text sorts like numbers
    Type.FLAG: "INTEGER",
    Type.SMALL: "INTEGER",
    Type.JSON: "TEXT",
    Type.KEY: "BLOB",
    Type.HASH: "BLOB",
    Type.NAME: "BLOB",
    Type.BYTES: "BLOB",
    Type.STAMP: "TEXT",
}
_STAMP_DEFAULT = " DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"


def ddl(table: Table) -> list[str]:
    """The statements that create a table and its indexes."""
    lines = []
    own_numbers = any(column.type is Type.LOCAL_ID for column in table.columns)
    for name, type, null in table.columns:
        line = f"{name} {_TYPES[type]}"
        if type is Type.LOCAL_ID:
            line += " PRIMARY KEY AUTOINCREMENT"
        line += "" if null else " NOT NULL"
        lines.append(line + (_STAMP_DEFAULT if type is Type.STAMP else ""))
    if not own_numbers:
        lines.append(f"PRIMARY KEY ({', '.join(table.primary)})")
    lines += [f"UNIQUE ({', '.join(columns)})" for _, columns in table.unique]
    lines += [f"CHECK ({table.check})"] if table.check else []
    end = "" if own_numbers else " WITHOUT ROWID"
    return [
        f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(lines)}){end}",
        *(
            f"CREATE INDEX IF NOT EXISTS {table.name}_{name} ON {table.name} ({', '.join(columns)})"
            for name, columns in table.indexes
        ),
    ]


def create(connection: sqlite3.Connection, path: Path, place: Place, epoch: int) -> None:
    """Create a shard's tables and fence if they do not exist. Raises sqlite3.Error, and
    StoreCorrupt for a file of another version."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    is_mod = place.database.startswith("mod")
    if version == VERSION and (is_mod or _has_tables(connection, NEWEST)):
        return
    if version not in (0, VERSION):
        raise StoreCorrupt(
            f"{path}: another version of Pinway made it (its tables are {version}, not {VERSION})"
        )
    connection.execute("PRAGMA journal_mode = WAL")
    tables: Sequence[Table] = MOD_SHARD if is_mod else OBJECT_SHARD
    connection.execute("BEGIN IMMEDIATE")
    try:
        for table in tables:
            for statement in ddl(table):
                connection.execute(statement)
        connection.execute(
            "INSERT OR IGNORE INTO fence (id, epoch, owner) VALUES (1, ?, ?)",
            (epoch, place.server.encode()),
        )
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _has_tables(connection: sqlite3.Connection, names: Sequence[str]) -> bool:
    marks = ", ".join("?" * len(names))
    sql = f"SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ({marks})"
    [count] = connection.execute(sql, names).fetchone()
    return bool(count == len(names))


def fences(directory: Path, databases: Collection[str]) -> dict[str, int | None]:
    """The epoch in the fence of each database whose file exists; None if the fence can't be
    read."""
    found: dict[str, int | None] = {}
    for path in directory.glob("*.sqlite"):
        if path.stem in databases:
            found[path.stem] = None
            with (
                contextlib.suppress(sqlite3.Error),
                contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as file,
            ):
                for [epoch] in file.execute("SELECT epoch FROM fence WHERE id = 1"):
                    found[path.stem] = epoch
    return found


def file_of(directory: Path, place: Place) -> Path:
    return directory / f"{place.database}.sqlite"
