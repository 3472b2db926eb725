"""The SQLite databases of imports: temporary databases, which leave no file behind, however the
process ends, and kept databases, which a later process continues."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from datasources.errors import StoreUnavailable

Database = sqlite3.Connection


def open_scratch(prefix: str, schema: str, directory: str | Path | None) -> Database:
    """A new database with these tables, in a file in `directory` (None: the system's directory for
    temporary files). The file is unlinked at once. No process reads it after a crash, so it is not
    synced to the disk."""
    handle, path = tempfile.mkstemp(prefix=prefix, suffix=".spool", dir=directory)
    os.close(handle)
    database = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.executescript(schema)
    os.unlink(path)
    return database


def open_kept(path: Path, schema: str) -> Database:
    """The database in a file, made with these tables if it is new. A write survives the end of the
    process, in whatever way. Raises StoreUnavailable while another process has the file open."""
    database = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
            database.execute(f"PRAGMA {pragma}")
        if not database.execute("PRAGMA user_version").fetchone()[0]:
            database.executescript(f"BEGIN EXCLUSIVE; {schema}; PRAGMA user_version = 1; COMMIT")
        database.execute("BEGIN EXCLUSIVE")
        database.execute("COMMIT")
    except sqlite3.Error as error:
        database.close()
        raise StoreUnavailable(f"{path}: {error}: does another process use it?") from error
    return database


@contextmanager
def database_errors(what: str) -> Iterator[None]:
    """Raises StoreUnavailable in place of SQLite's own errors, which other stores do not raise."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreUnavailable(f"{what}: {error}") from error
