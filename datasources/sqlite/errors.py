"""Translates SQLite's errors to the stores' errors."""

import sqlite3
from pathlib import Path

from datasources.errors import (
    Exhausted,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)

CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Busy(StoreConflict):
    """Another process holds the file's lock."""


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    """The store error for an error of SQLite about a file."""
    # The low byte is the error, and the other bits are details.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_CHECK:
        return Exhausted(f"{path}: {error}")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return StoreConflict(f"{path}: {error}")
    if code in BUSY:
        return Busy(f"{path}: another process is writing to it")
    if code in CORRUPT:  # plain SQLITE_ERROR: a missing table
        return StoreCorrupt(f"{path}: {error}")
    if code == sqlite3.SQLITE_CANTOPEN and not path.exists():
        return StoreUnavailable(f"{path}: there is no such file")
    return StoreUnavailable(f"{path}: {error}")
