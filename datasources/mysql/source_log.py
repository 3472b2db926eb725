"""The changes of an unsharded database, from the server's binary log."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymysql.charset import charset_by_name

from datasources.errors import StoreCorrupt
from datasources.mysql.binary_log import BinaryLog
from datasources.mysql.link import Login
from datasources.sql.source_tables import KeyColumn, LogPosition

_SIZES = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}  # bits
_TRUNCATE = re.compile(
    rb"\s*TRUNCATE\s+(?:TABLE\s+)?(?:`?(\w+)`?\s*\.\s*)?`?(\w+)`?", re.IGNORECASE
)


class Changes(NamedTuple):
    """A part of the log that ends between two transactions. `keys`: for each table, the primary
    keys of rows that were inserted, changed or deleted. `emptied`: tables that were truncated.
    `next`: the position from which to go on. `at_end`: the log had no more at that moment. `read`:
    the end of the last event that was read, which may be no part of a transaction."""

    keys: dict[str, list[tuple[str, ...]]]
    emptied: list[str]
    next: LogPosition
    at_end: bool
    read: LogPosition


class SourceLog:
    """The binary log of a source. `keys` has the columns of each followed table's primary key."""

    def __init__(
        self, login: Login, database: str, keys: Mapping[str, Sequence[KeyColumn]]
    ) -> None:
        self._database, self._keys = database, keys
        self._log = BinaryLog(
            login,
            [database],
            keys,
            self._key_of,
            advice="Move the journal away, copy again (objects are recognized), repair with "
            "migrate verify --repair, and follow then",
        )

    async def read(self, after: LogPosition) -> Changes:
        """The changes after a position. Raises ConfigError if the server no longer has that part of
        its log, StoreCorrupt for a change that can't be read."""
        found = await self._log.read(after)
        emptied = [
            truncated[2].decode()
            for schema, text in found.statements
            if (truncated := _TRUNCATE.match(text))
            and (truncated[1] or schema.encode()).decode() == self._database
            and truncated[2].decode() in self._keys
        ]
        keys = {table: some for (_, table), some in found.keys.items()}
        assert isinstance(found.next, LogPosition)
        return Changes(keys, emptied, found.next, found.at_end, found.read)

    async def close(self) -> None:
        """End the connection, if one is open."""
        await self._log.close()

    def _key_of(self, table: str, values: Sequence[Any]) -> tuple[str, ...]:
        columns = self._keys[table]
        if len(values) != columns[0].of:
            raise StoreCorrupt(
                f"{self._log.where}: {table} had {len(values)} columns then, and has "
                f"{columns[0].of} now: copy again, with a new journal"
            )
        return tuple(_text(it, values[it.ordinal - 1]) for it in columns)


def key_fault(columns: Sequence[KeyColumn]) -> str:
    """Why changes of a table with this primary key can't be followed; empty if they can."""
    for column in columns:
        if column.type in _SIZES or column.type in ("binary", "varbinary"):
            continue
        if column.type in ("char", "varchar") and charset_by_name(column.charset) is not None:
            continue
        return (
            f"its primary key has the column {column.name} of the type {column.type.upper()}: "
            "integers, BINARY, VARBINARY, CHAR and VARCHAR can be followed"
        )
    return ""


def _text(column: KeyColumn, value: Any) -> str:
    """A value of a primary key as `Source.page` gives it."""
    if column.type in _SIZES:
        negative = column.unsigned and value < 0
        return str(int(value) + (1 << _SIZES[column.type]) if negative else int(value))
    assert isinstance(value, bytes)
    if column.type == "binary":
        return value.ljust(column.length, b"\0").hex()  # the log leaves out zeros at the end
    if column.type == "varbinary":
        return value.hex()
    return value.decode(charset_by_name(column.charset).encoding)
