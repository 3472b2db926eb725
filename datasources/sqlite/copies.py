"""Copies of SQLite files during writes."""

import sqlite3
from pathlib import Path

from datasources.sqlite.connections import Connections


def pin(connections: Connections, path: Path) -> sqlite3.Connection:
    """A connection that sees the file as it is now, until it is closed. Raises sqlite3.Error."""
    connection = connections.open(path)
    connection.execute("BEGIN")
    connection.execute("SELECT id FROM fence LIMIT 1").fetchall()
    return connection


def copy(pinned: sqlite3.Connection, to: Path) -> None:
    """Write the content that a pinned connection sees to a new file. Raises sqlite3.Error."""
    target = sqlite3.connect(to)
    try:
        pinned.backup(target)  # in one step: it reads in the open transaction
    finally:
        target.close()
