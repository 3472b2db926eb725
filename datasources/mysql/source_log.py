"""The changes of an unsharded database, from the server's binary log (by `mysql-replication`).

Only the primary keys of changed rows are read from the log. The values come from the tables, where
they have their types and character sets.
"""

import asyncio
import logging
import re
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pymysql
from pymysql.charset import charset_by_name
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import QueryEvent, RotateEvent, XidEvent
from pymysqlreplication.row_event import (
    DeleteRowsEvent,
    RowsEvent,
    TableMapEvent,
    UpdateRowsEvent,
    WriteRowsEvent,
)

from datasources.errors import ConfigError, StoreCorrupt, StoreUnavailable
from datasources.mysql.errors import number, translate
from datasources.mysql.link import Login
from datasources.sql.source_tables import KeyColumn, LogPosition
from datasources.tls import context

_EVENTS = (
    *(TableMapEvent, WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent),
    *(QueryEvent, RotateEvent, XidEvent),
)
_ROWS = 5000
"""Changed rows after which a read ends, at the end of a transaction."""
_RAW = "pinway-raw"
"""The name of no character set: the package then leaves a text as its bytes."""
_SIZES = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}  # bits
_ENDS = re.compile(rb"\s*(COMMIT|ROLLBACK)\s*\Z", re.IGNORECASE)
_TRUNCATE = re.compile(
    rb"\s*TRUNCATE\s+(?:TABLE\s+)?(?:`?(\w+)`?\s*\.\s*)?`?(\w+)`?", re.IGNORECASE
)
_PURGED = 1236
_TIMEOUT = 30  # seconds without a packet


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
        self, login: Login, database: str, keys: Mapping[str, Sequence[KeyColumn]], server_id: int
    ) -> None:
        self._database, self._keys, self._server_id = database, keys, server_id
        self._where = f"the binary log of {login.host}:{login.port}"
        tls: ssl.SSLContext | None = context(login.ca) if login.ca else None
        self._login = {
            "host": login.host,
            "port": login.port,
            "user": login.user,
            "passwd": login.password,
            "read_timeout": _TIMEOUT,
            "connect_timeout": _TIMEOUT,
            **({"ssl": tls} if tls is not None else {}),
        }

    async def read(self, after: LogPosition) -> Changes:
        """The changes after a position. Raises ConfigError if the server no longer has that part of
        its log, StoreCorrupt for a change that can't be read."""
        return await asyncio.to_thread(self._read, after)

    def _read(self, after: LogPosition) -> Changes:
        # The package warns of settings on which only values depend, and not keys.
        logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
        stream = BinLogStreamReader(
            connection_settings=dict(self._login),
            server_id=self._server_id,
            resume_stream=True,
            blocking=False,
            only_events=list(_EVENTS),
            log_file=after.file,
            log_pos=after.offset,
            only_schemas=[self._database],
            only_tables=list(self._keys),
            ignore_decode_errors=True,
            enable_logging=False,
        )
        try:
            return self._collect(stream, after)
        except (pymysql.Error, OSError, EOFError) as error:
            if number(error) == _PURGED:
                raise ConfigError(
                    f"{self._where} no longer begins before {after}: {error.args[1]}. Move the "
                    "journal away, copy again (objects are recognized), repair with migrate verify "
                    "--repair, and follow then"
                ) from error
            if number(error):
                raise translate(error, self._where) from error
            raise StoreUnavailable(f"{self._where}: {error}") from error
        finally:
            stream.close()

    def _collect(self, stream: Any, after: LogPosition) -> Changes:
        keys: dict[str, dict[tuple[str, ...], None]] = {}
        emptied: list[str] = []
        end, count = after, 0
        while True:
            event = stream.fetchone()
            if event is None:
                lists = {table: list(some) for table, some in keys.items()}
                read = LogPosition(stream.log_file, stream.log_pos)
                return Changes(lists, emptied, end, at_end=True, read=read)
            match event:
                case TableMapEvent():
                    for column in event.columns:
                        column.character_set_name = _RAW
                case RowsEvent():
                    some = keys.setdefault(event.table, {})
                    before = len(some)
                    some.update(dict.fromkeys(self._keys_of(event)))
                    count += len(some) - before
                case QueryEvent() if found := _TRUNCATE.match(_bytes(event.query)):
                    schema = (found[1] or event.schema).decode()
                    if schema == self._database and found[2].decode() in self._keys:
                        emptied.append(found[2].decode())
            if _is_boundary(event):
                end = LogPosition(stream.log_file, stream.log_pos)
                if count >= _ROWS:
                    lists = {table: list(some) for table, some in keys.items()}
                    return Changes(lists, emptied, end, at_end=False, read=end)

    def _keys_of(self, event: Any) -> list[tuple[str, ...]]:
        """The primary keys of an event's rows; both of a row whose key changes."""
        images = {"before_values", "after_values", "values"}
        columns = self._keys[event.table]
        found = []
        try:
            for row in event.rows:
                for image in images & row.keys():
                    values = list(row[image].values())
                    if len(values) != columns[0].of:
                        raise StoreCorrupt(
                            f"{self._where}: {event.table} had {len(values)} columns then, and has "
                            f"{columns[0].of} now: copy again, with a new journal"
                        )
                    found.append(tuple(_text(it, values[it.ordinal - 1]) for it in columns))
        except (ValueError, IndexError, KeyError, NotImplementedError) as error:
            raise StoreCorrupt(f"{self._where}: a row of {event.table}: {error!r}") from error
        return found


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


def _is_boundary(event: Any) -> bool:
    """Whether the log may be read from the place after the event: a transaction ends there."""
    if isinstance(event, QueryEvent):
        return _ENDS.match(_bytes(event.query)) is not None
    return isinstance(event, XidEvent | RotateEvent)


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


def _bytes(query: str | bytes) -> bytes:
    return query if isinstance(query, bytes) else query.encode()
