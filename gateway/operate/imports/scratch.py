"""A temporary SQLite database that leaves no file behind, however the process ends."""

import os
import sqlite3
import tempfile
from pathlib import Path


def open_scratch(prefix: str, schema: str, directory: str | Path | None) -> sqlite3.Connection:
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
