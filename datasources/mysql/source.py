"""An unsharded database from which a migration reads: its columns, and its rows by primary key.

Every value arrives as text in UTF-8, or as the bytes of a binary column, so that a value that no
Python type can hold (a zero date, a number of 30 digits) is read like any other.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from datasources.errors import ConfigError, StoreCorrupt, StoreError
from datasources.mysql import lock_holders, log_settings, rights
from datasources.mysql.link import Login
from datasources.mysql.log_keys import KeyFault, key_faults
from datasources.mysql.log_status import LogStatus
from datasources.mysql.server import Server
from datasources.mysql.source_sql import NUMBERS, equal, name_of, quoted
from datasources.mysql.source_stop import SourceStop, stopped
from datasources.mysql.source_writer import SourceWriter
from datasources.sql.grants import Grants
from datasources.sql.source_tables import (
    Column,
    KeyColumn,
    LogPosition,
    Page,
    Table,
    Values,
    Wanted,
)

if TYPE_CHECKING:
    from datasources.mysql.source_log import SourceLog

_MEMBER = re.compile("'((?:[^']|'')*)'")
_FIRST = 4  # the offset of a log file's first event
DEADLINE = 60.0  # seconds for a page, which may be sorted


class Source:
    """A database on a MySQL or MariaDB server. Its rows are only read, except by `writer`."""

    def __init__(self, url: str, *, password: str = "", ca: str = "", connections: int = 4) -> None:
        login = replace(Login.of(url, "root", password, ca), foreign=True)
        self.database = url.rpartition("/")[2]
        self._server = Server(
            f"the source {login.host}:{login.port}",
            login,
            pool_size=connections,
            deadline=DEADLINE,
            observe=lambda server, operation: None,
        )
        self._is_stopped = False
        self._status = LogStatus()

    async def close(self) -> None:
        await self._server.close()

    async def tables(self) -> dict[str, Table]:
        """All tables of the database; none if there is no such database. Views have no primary
        key."""
        columns: dict[str, dict[str, Column]] = {}
        found = await self._read(
            "SELECT table_name, column_name, data_type, is_nullable, column_type FROM "
            "information_schema.columns WHERE table_schema = %s ORDER BY ordinal_position",
            [self.database],
        )
        for table, name, type, nullable, declared in map(_texts, found):
            column = Column(name, type.lower(), nullable == "YES", _members(type, declared))
            columns.setdefault(table, {})[name] = column
        indexes: dict[tuple[str, str], list[str]] = {}
        found = await self._read(
            "SELECT table_name, index_name, column_name FROM information_schema.statistics "
            "WHERE table_schema = %s AND non_unique = 0 ORDER BY seq_in_index",
            [self.database],
        )
        for table, index, name in map(_texts, found):
            indexes.setdefault((table, index), []).append(name)
        found = await self._read(
            "SELECT table_name, CAST(COALESCE(table_rows, 0) AS CHAR) FROM "
            "information_schema.tables WHERE table_schema = %s",
            [self.database],
        )
        rows = {table: int(count) for table, count in map(_texts, found)}
        return {
            table: Table(
                table,
                names,
                primary=tuple(indexes.get((table, "PRIMARY"), ())),
                unique=frozenset(
                    of_index[0]
                    for (indexed, _), of_index in indexes.items()
                    if indexed == table and len(of_index) == 1 and not names[of_index[0]].nullable
                ),
                rows=rows.get(table, 0),
            )
            for table, names in columns.items()
        }

    async def grants(self) -> Grants:
        """The rights of the user."""
        return rights.decoded(
            await self._server.query_all("migrate", rights.ASK, [], self.database)
        )

    async def condition_fault(self, table: Table, where: str) -> str | None:
        """The server's complaint about a condition on the table's rows; None if it is sound."""
        try:
            # The second condition is unsound with brackets that end the server's own.
            chosen = f"({where}) AND IF({where}, 1, 0)"
            await self._read(f"SELECT 1 FROM {self._name(table)} WHERE {chosen} LIMIT 0", [])
        except StoreError as error:
            return str(error)
        return None

    async def page(
        self,
        table: Table,
        wanted: Sequence[Wanted],
        *,
        where: str = "",
        after: Sequence[str] | None = None,
        limit: int,
    ) -> Page:
        """Up to `limit` rows after a primary key, that fulfil the condition `where`."""
        primary = [table.columns[name] for name in table.primary]
        columns = [_select(Wanted(column, is_key=True)) for column in primary]
        columns += [_select(value) for value in wanted]
        conditions, args = [f"({where})".replace("%", "%%")] if where else [], list[str | int]()
        if after is not None:
            condition, args = _after(primary, after)
            conditions.append(condition)
        chosen = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        order = ", ".join(quoted(name) for name in table.primary)
        found = await self._read(
            f"SELECT {', '.join(columns)} FROM {self._name(table)}".replace("%", "%%")
            + f"{chosen} ORDER BY {order} LIMIT %s",
            [*args, limit],
        )
        return _page(primary, found)

    async def rows(
        self,
        table: Table,
        wanted: Sequence[Wanted],
        keys: Sequence[Sequence[str]],
        *,
        where: str = "",
        by: Sequence[str] = (),
    ) -> Page:
        """The rows with these primary keys that fulfil the condition `where`, as they are now.
        With `by`, the keys are values of these columns.

        The read waits for the commit of transactions that have changed a row. A transaction is in
        the binary log before other reads see it. While the source is `stopped`, all transactions
        in the log are seen, and the read waits for none: it could not commit.
        """
        primary = [table.columns[name] for name in table.primary]
        columns = [_select(Wanted(column, is_key=True)) for column in primary]
        columns += [_select(value) for value in wanted]
        conditions, args = list[str](), list[str | int]()
        known = [table.columns[name] for name in by] or primary
        for key in keys:
            parts = [equal(column, text) for column, text in zip(known, key, strict=True)]
            conditions.append(f"({' AND '.join(condition for condition, _ in parts)})")
            args += [given for _, given in parts]
        chosen = f"({' OR '.join(conditions)})"
        if where:
            chosen = f"{chosen} AND ({where.replace('%', '%%')})"
        found = await self._read(
            f"SELECT {', '.join(columns)} FROM {self._name(table)}".replace("%", "%%")
            + f" WHERE {chosen}{'' if self._is_stopped else f' {lock_holders.LOCKING}'}",
            args,
        )
        return _page(primary, found)

    async def key_columns(self, table: Table) -> list[KeyColumn]:
        """The columns of the table's primary key, as the binary log has them."""
        found = await self._read(
            "SELECT column_name, ordinal_position, column_type, "
            "COALESCE(character_octet_length, 0), COALESCE(character_set_name, '') FROM "
            "information_schema.columns WHERE table_schema = %s AND table_name = %s",
            [self.database, table.name],
        )
        by_name = {name: rest for name, *rest in map(_texts, found)}
        of = len(by_name) + await self._hidden_columns(table)
        return [
            KeyColumn(
                name,
                table.columns[name].type,
                ordinal=int(ordinal),
                of=of,
                unsigned="unsigned" in type,
                length=int(length),
                charset=charset,
            )
            for name in table.primary
            for ordinal, type, length, charset in (by_name[name],)
        ]

    async def key_faults(self, table: Table) -> list[KeyFault]:
        """Why the table's changes can't be followed; none if they can."""
        return key_faults(await self.key_columns(table))

    async def _hidden_columns(self, table: Table) -> int:
        """The number of columns at the end of a row in the log which the catalogue does not have:
        the period of a table with system versioning (MariaDB), unless it was declared."""
        place = [self.database, table.name]
        versioned = await self._read(
            "SELECT 1 FROM information_schema.tables WHERE table_type = 'SYSTEM VERSIONED' "
            "AND table_schema = %s AND table_name = %s",
            place,
        )
        if not versioned:
            return 0
        declared = await self._read(
            "SELECT 1 FROM information_schema.columns WHERE generation_expression = 'ROW START' "
            "AND table_schema = %s AND table_name = %s",
            place,
        )
        return 0 if declared else 2

    async def server_id(self) -> str:
        """The server's number, which no other server has that replicates from it or to it."""
        [(id,)] = await self._read("SELECT CAST(@@GLOBAL.server_id AS CHAR)", [])
        return _texts([id])[0]

    async def log_faults(self) -> list[str]:
        """Why the server's binary log can't be followed; none if it can."""
        found = await self._server.query("migrate", log_settings.ASK, [], self.database)
        return log_settings.faults(log_settings.decoded(found.rows))

    async def log_position(self) -> LogPosition | None:
        """A position in the binary log: from now on, reads of the tables see all that is before it.
        None if the server has no binary log, or this user may not ask for the position.

        A transaction is in the log before other connections see it. MariaDB tells the position of a
        snapshot. The beginning of the last file is early enough elsewhere.
        """
        results = await self._server.query_all(
            "migrate",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT; "
            "SHOW STATUS LIKE 'binlog_snapshot%'; COMMIT",
            [],
            self.database,
        )
        status = {name.lower(): value for name, value in map(_texts, results[1].rows)}
        if file := status.get("binlog_snapshot_file"):
            return LogPosition(file, int(status["binlog_snapshot_position"]))
        end = await self._told_end()
        return LogPosition(end.file, _FIRST) if end is not None else None

    async def log_end(self) -> LogPosition | None:
        """The end of the binary log at this moment. None if the server has none, or this user may
        not ask for it: MariaDB tells everybody, MySQL wants REPLICATION CLIENT."""
        found = await self._read("SHOW GLOBAL STATUS LIKE 'binlog_snapshot%'", [])
        status = {name.lower(): value for name, value in map(_texts, found)}
        if file := status.get("binlog_snapshot_file"):
            return LogPosition(file, int(status["binlog_snapshot_position"]))
        return await self._told_end()

    async def _told_end(self) -> LogPosition | None:
        try:
            return await self._status.end(lambda statement: self._read(statement, []))
        except StoreError:
            return None  # without the right

    async def waits(self) -> str:
        """The holders of locks for which `rows` may wait, for people; empty if no read waits."""
        return await lock_holders.waits(self._server.login)

    def writer(self) -> SourceWriter:
        """Writes to the source, for the way back of a migration."""
        return SourceWriter(self._server.login, self.database)

    @asynccontextmanager
    async def stopped(self, within: float) -> AsyncIterator[SourceStop]:
        """Refuse writes to the server in the block (`datasources.mysql.source_stop`)."""
        async with stopped(self._server.login, within) as stop:
            self._is_stopped = True
            try:
                yield stop
            finally:
                self._is_stopped = False

    def log(self, keys: Mapping[str, Sequence[KeyColumn]]) -> "SourceLog":
        """The server's binary log, for tables with these primary keys. Raises ConfigError without
        the package for it."""
        try:
            from datasources.mysql.source_log import SourceLog
        except ImportError as error:
            raise ConfigError(f"pip install 'pinway[migrate]' to follow changes: {error}") from None
        for table, columns in keys.items():
            if faults := key_faults(columns):
                raise ConfigError(f"{table} can't be followed: {faults[0].message}")
        return SourceLog(self._server.login, self.database, keys)

    def _name(self, table: Table) -> str:
        return f"{quoted(self.database)}.{quoted(table.name)}"

    async def _read(self, sql: str, args: Sequence[str | int]) -> list[Values]:
        return (await self._server.query("migrate", sql, args, self.database)).rows


def _page(primary: Sequence[Column], found: Sequence[Values]) -> Page:
    count = len(primary)
    return Page([_texts(row[:count]) for row in found], [row[count:] for row in found])


def _select(wanted: Wanted) -> str:
    name, column = quoted(wanted.column.name), wanted.column
    if column.is_binary:
        return f"LOWER(HEX({name}))" if wanted.is_key else name
    if column.type in NUMBERS:
        return f"CAST({name} + 0 AS CHAR)"  # without the zeros of ZEROFILL
    if column.is_text and wanted.raw:
        return f"CAST({name} AS BINARY)"
    return f"CONVERT({name} USING utf8mb4)" if column.is_text else f"CAST({name} AS CHAR)"


def _after(primary: Sequence[Column], key: Sequence[str]) -> tuple[str, list[str | int]]:
    """The condition of the rows after a key. A comparison of row constructors would not use the
    index."""
    condition, args = "", list[str | int]()
    for column, text in reversed(list(zip(primary, key, strict=True))):
        name = name_of(column)
        value = "UNHEX(%s)" if column.is_binary else "%s"
        given = _sorted_as(column, text)
        if condition:
            condition = f"{name} >= {value} AND ({name} > {value} OR ({condition}))"
            args = [given, given, *args]
        else:
            condition, args = f"{name} > {value}", [given]
    return f"({condition})", args


def _sorted_as(column: Column, text: str) -> str | int:
    """The value by which the server sorts a column's value. An ENUM and a SET are sorted by the
    numbers of their members, but compared with a text as texts."""
    match column.type:
        case "enum":
            return column.members.index(text) + 1 if text in column.members else 0
        case "set":
            chosen = text.split(",")
            return sum(1 << n for n, member in enumerate(column.members) if member in chosen)
    return int(text) if column.type in NUMBERS else text


def _members(type: str, declared: str) -> tuple[str, ...]:
    if type.lower() not in ("enum", "set"):
        return ()
    return tuple(text.replace("''", "'") for text in _MEMBER.findall(declared))


def _texts(row: Sequence[bytes | str | None]) -> tuple[str, ...]:
    texts = tuple(value.decode() if isinstance(value, bytes) else value for value in row)
    if None in texts:
        raise StoreCorrupt("the source's catalogue or a primary key has a NULL")
    return tuple(text for text in texts if text is not None)
