"""Reads of one SQLite file: of any length in a thread, or quick reads on the event loop."""

import sqlite3
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TypeVar

from datasources.sql.engine import Part, Row
from datasources.sqlite.connections import Connections
from datasources.sqlite.errors import translate

T = TypeVar("T")
# steps of SQLite's virtual machine, once or twice of which a quick read takes: 1,000 rows
STEPS = 5_000


def read_file(connections: Connections, path: Path, parts: Sequence[Part]) -> list[list[Row]]:
    """The rows of each part, read from one file as of one moment. Raises StoreError."""
    connection = None
    try:
        connection = connections.take(path)
        rows = select(connection, parts)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise translate(error, path) from error
        raise
    connections.give(path, connection)
    return rows


def read_quickly(
    connections: Connections, path: Path, parts: Sequence[Part]
) -> list[list[Row]] | None:
    """The rows of each part. None if the read takes too many steps, or the file is locked, not
    open, or damaged."""
    connection = connections.take_idle(path)
    if connection is None:
        return None
    try:
        rows = in_few_steps(connection, lambda: select(connection, parts))
    except sqlite3.Error as error:
        if not is_interrupted(error):
            connection.close()
            return None
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        rows = None
    except BaseException:
        connection.close()
        raise
    connections.give(path, connection)
    return rows


def in_few_steps(connection: sqlite3.Connection, call: Callable[[], T]) -> T:
    """The call's result. Each of its statements is interrupted after about STEPS steps."""
    ticks = count()
    # A first tick may come early: steps are counted from the statement's last run.
    connection.set_progress_handler(lambda: next(ticks), STEPS)
    try:
        return call()
    finally:
        connection.set_progress_handler(None, STEPS)


def is_interrupted(error: sqlite3.Error) -> bool:
    """Whether `in_few_steps` interrupted the statement."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT


def select(connection: sqlite3.Connection, parts: Sequence[Part]) -> list[list[Row]]:
    """The rows of each part, as of one moment. Raises sqlite3.Error. May be called within a
    transaction."""
    if len(parts) > 1:
        connection.execute("BEGIN")
    rows = [
        connection.execute(
            f"SELECT {part.columns} {part.rest}".replace("{db}", "main"), part.args
        ).fetchall()
        for part in parts
    ]
    if len(parts) > 1:
        connection.execute("COMMIT")
    return rows
