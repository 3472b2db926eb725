"""The changes of an unsharded database, from the server's binary log."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from datasources.mysql.binary_log import BinaryLog, Statement
from datasources.mysql.link import Login
from datasources.mysql.log_keys import key_of
from datasources.sql.source_tables import KeyColumn, LogPosition

_REMAKES = re.compile(
    r"(TRUNCATE|RENAME\s+TABLES?|DROP\s+(?P<dropped>TABLES?|DATABASE|SCHEMA)|ALTER\s+(\w+\s+)*?TABLE"
    r"|CREATE\s+OR\s+REPLACE\s+TABLE)\b",
    re.IGNORECASE,
)
"""Statements that change or remove rows, or the order of columns, without an event for each row."""
_TOKEN = re.compile(
    r"(?P<comment>/\*(?!M?!).*?\*/|/\*M?!\d*|\*/|--[ \t\r\n][^\n]*|\#[^\n]*)"
    r"|`(?P<quoted>(?:``|[^`])*)`|'(?:''|\\.|[^'\\])*'|\w+",
    re.DOTALL,
)


class Changes(NamedTuple):
    """A part of the log that ends between two transactions. `keys`: for each table, the primary
    keys of rows that were inserted, changed or deleted. `remade`: tables of which any row may have
    changed: by a statement like TRUNCATE or ALTER TABLE, or when the table had other columns.
    `next`: the position from which to go on. `at_end`: the log had no more at that moment, or the
    given end was reached. `read`: the end of the last event that was read, which may be no part of
    a transaction."""

    keys: dict[str, list[tuple[str, ...]]]
    remade: set[str]
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
            lambda table, values: key_of(keys[table], values),
            advice="Run migrate verify --repair, which compares all rows and takes a new position "
            "in the log, and follow then",
            keeps=True,
        )

    def goes_on(self, after: LogPosition) -> bool:
        """Whether a read from the position uses the connection that is open."""
        return self._log.goes_on(after)

    async def read(self, after: LogPosition, until: LogPosition | None) -> Changes:
        """The changes after a position, up to the end that the log had a moment ago, if it is
        known: the connection stays open then. Raises ConfigError if the server no longer has that
        part of its log, StoreCorrupt for a change that can't be read."""
        found = await self._log.read(after, until)
        remade = {
            table
            for statement in found.statements
            for table in remade_by(statement, self._database, self._keys)
        }
        remade |= {table for (_, table), some in found.keys.items() if None in some}
        keys = {
            table: [key for key in some if key is not None]
            for (_, table), some in found.keys.items()
        }
        assert isinstance(found.next, LogPosition)
        return Changes(keys, remade, found.next, found.at_end, found.read)

    async def close(self) -> None:
        """End the connection, if one is open."""
        await self._log.close()


def remade_by(statement: Statement, database: str, tables: Collection[str]) -> list[str]:
    """The tables of the database of which any row may have changed by a statement. Names in other
    letters may be the same table's."""
    words, names = list[str](), set[str]()
    for token in _TOKEN.finditer(statement.text.decode(errors="replace")):
        if token["comment"] is not None:
            continue
        name = token[0] if token["quoted"] is None else token["quoted"].replace("``", "`")
        words.append(token[0])
        names.add(name.lower())
    remakes = _REMAKES.match(" ".join(words))
    if remakes is None or database.lower() not in {*names, statement.schema.lower()}:
        return []
    if (remakes["dropped"] or "").upper() in ("DATABASE", "SCHEMA"):
        return [*tables]
    return [table for table in tables if table.lower() in names]
