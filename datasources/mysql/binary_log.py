"""The binary log of a MySQL or MariaDB server (by `mysql-replication`): which rows changed.

Only the primary keys of changed rows are taken from the log. The values come from the tables, where
they have their types and character sets.
"""

import asyncio
import logging
import random
import re
import ssl
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import pymysql
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import HeartbeatLogEvent, QueryEvent, RotateEvent, XidEvent
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
from datasources.mysql.replication import backup_files
from datasources.sql.source_tables import LogPosition
from datasources.tls import context

_EVENTS = (
    *(TableMapEvent, WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent),
    *(QueryEvent, RotateEvent, XidEvent),
)
_ROWS = 5000
_BYTES = 16 << 20
"""Changed rows, and bytes of the log, after which a read ends, at the end of a transaction."""
_RAW = "pinway-raw"
"""The name of no character set: the package then leaves a text as its bytes."""
_BEGINS = re.compile(rb"\s*BEGIN\s*\Z", re.IGNORECASE)
_ENDS = re.compile(rb"\s*(COMMIT|ROLLBACK)\s*\Z", re.IGNORECASE)
_PURGED = 1236
_TIMEOUT = 30  # seconds without a packet, or with nothing but heartbeats before an end
_BEAT = 0.1
"""Seconds after which a server that has no more events tells the place up to which it has sent."""
_IDLE = 3600
"""Seconds after which the server ends a log that is not read on: the work that a part of it causes
is done between two reads."""

K = TypeVar("K")


class Statement(NamedTuple):
    """A statement that is logged as its text, as all that change no rows, and its default
    schema."""

    schema: str
    text: bytes


class Logged(NamedTuple, Generic[K]):
    """A part of the log that ends between two transactions. `keys`: for each schema and table, the
    primary keys of rows that were inserted, changed or deleted. `next`: the position from which to
    go on. `at_end`: the log had no more at that moment, or the given end was reached.
    `read`: the end of the last event that was read, which may be no part of a transaction."""

    keys: dict[tuple[str, str], list[K]]
    statements: list[Statement]
    next: LogPosition | str
    at_end: bool
    read: LogPosition


class BinaryLog(Generic[K]):
    """A server's binary log. `key_of` makes the primary key of a table's row from the values of all
    its columns; its ValueError, IndexError and KeyError become StoreCorrupt. `advice` ends the
    error for a log that no longer has a position.

    The connection to the server stays open between two reads, until the log's end; with `keeps`,
    also at the end, if reads have one. A new connection costs more than its login: the server sends
    at once what the network's buffers hold."""

    def __init__(
        self,
        login: Login,
        schemas: Collection[str],
        tables: Collection[str],
        key_of: Callable[[str, Sequence[Any]], K],
        *,
        advice: str,
        keeps: bool = False,
    ) -> None:
        self._schemas, self._tables = frozenset(schemas), frozenset(tables)
        self._key_of, self._advice, self._keeps = key_of, advice, keeps
        # An id under which no replica is likely to read the log.
        self._server_id = random.randrange(1 << 31, 1 << 32)
        self.where = f"the binary log of {login.host}:{login.port}"
        self._stream: BinLogStreamReader | None = None
        self._at: LogPosition | str | None = None
        """The position from which the stream goes on."""
        self._blocks = False
        """Whether the stream stays open at the log's end."""
        self._connection: object = None
        """The stream's connection, when it is kept."""
        self._in_use = threading.Lock()  # the thread of a cancelled read may run still
        tls: ssl.SSLContext | None = context(login.ca) if login.ca else None
        self._login = {
            "host": login.host,
            "port": login.port,
            "user": login.user,
            "passwd": login.password,
            "read_timeout": _TIMEOUT,
            "connect_timeout": _TIMEOUT,
            "init_command": f"SET SESSION net_write_timeout = {_IDLE}",
            **({"ssl": tls} if tls is not None else {}),
        }

    async def read(self, after: LogPosition | str, until: LogPosition | None = None) -> Logged[K]:
        """The changes after a position: a place in the log, or MariaDB's global transaction ids;
        up to a place, if one is given, or a later one. Raises ConfigError if the server no longer
        has that part of its log, StoreCorrupt for a change that can't be read, and StoreError."""
        return await asyncio.to_thread(self._read, after, until)

    def goes_on(self, after: LogPosition | str) -> bool:
        """Whether a read from the position uses the connection that is open."""
        return self._stream is not None and self._at == after

    async def close(self) -> None:
        """End the connection, if one is open."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._in_use:
            self._end()

    def _end(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self._at = self._connection = None

    def _read(self, after: LogPosition | str, until: LogPosition | None) -> Logged[K]:
        with self._in_use:
            blocks = self._keeps and until is not None
            if self._at != after or self._blocks != blocks:
                self._end()
            self._blocks = blocks
            logged: Logged[K] | None = None
            try:
                is_new = self._stream is None
                self._stream = self._stream or self._opened(after)
                logged = self._collect(self._stream, after, until)
                if self._stream is None and (blocks or not is_new):
                    # The server told the end that was there before this read began, or it ended
                    # a connection that is kept.
                    logged = logged._replace(at_end=False)
                return logged
            except (pymysql.Error, OSError, EOFError) as error:
                if number(error) == _PURGED:
                    raise ConfigError(
                        f"{self.where} no longer begins before {after}: {error.args[1]}. "
                        f"{self._advice}"
                    ) from error
                if number(error):
                    raise translate(error, self.where) from error
                raise StoreUnavailable(f"{self.where}: {error}") from error
            finally:
                if logged is None or (logged.at_end and not blocks):
                    self._end()
                elif self._stream is not None:
                    self._at = logged.next

    def _opened(self, after: LogPosition | str) -> BinLogStreamReader:
        # The package warns of settings on which only values depend, and not keys.
        logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
        if isinstance(after, LogPosition):
            begins = {"log_file": after.file, "log_pos": after.offset}
        else:
            begins = {"auto_position": after, "is_mariadb": True}
        return BinLogStreamReader(
            connection_settings=dict(self._login),
            server_id=self._server_id,
            resume_stream=True,
            blocking=self._blocks,
            slave_heartbeat=_BEAT if self._blocks else None,
            only_events=[*_EVENTS, *([HeartbeatLogEvent] if self._blocks else [])],
            only_schemas=self._schemas,
            only_tables=self._tables,
            ignore_decode_errors=True,
            enable_logging=False,
            **begins,
        )

    def _collect(
        self, stream: Any, after: LogPosition | str, until: LogPosition | None
    ) -> Logged[K]:
        keys: dict[tuple[str, str], dict[K, None]] = {}
        statements: list[Statement] = []
        begin: LogPosition | None = None
        end, count, told = after, 0, time.monotonic()

        def logged(*, at_end: bool) -> Logged[K]:
            lists = {table: list(some) for table, some in keys.items()}
            read = LogPosition(stream.log_file, stream.log_pos)
            return Logged(lists, statements, end, at_end, read)

        while True:
            event = self._next(stream)
            if event is None:
                self._end()
                return logged(at_end=True)
            # The package's request by transaction ids has a byte more than it says, so MariaDB
            # resets the connection at the log's end, and the rest that was on its way is lost. The
            # package then connects again: by transaction ids it would repeat the first part, by a
            # position it goes on.
            stream.auto_position, stream.is_mariadb = None, False
            if not isinstance(event, HeartbeatLogEvent):
                told = time.monotonic()
            elif until is not None and _is_at(LogPosition(stream.log_file, stream.log_pos), until):
                return logged(at_end=True)
            elif time.monotonic() - told > _TIMEOUT:
                raise StoreUnavailable(f"{self.where}: it does not come to {until}")
            match event:
                case TableMapEvent():
                    for column in event.columns:
                        column.character_set_name = _RAW
                case RowsEvent():
                    some = keys.setdefault((event.schema, event.table), {})
                    before = len(some)
                    some.update(dict.fromkeys(self._keys_of(event)))
                    count += len(some) - before
                case QueryEvent() if not _BEGINS.match(text := _bytes(event.query)):
                    if not _ENDS.match(text):
                        statements.append(Statement(event.schema.decode(), text))
            if _is_boundary(event):
                end = LogPosition(stream.log_file, stream.log_pos)
                begin = begin or end
                if until is not None and _is_at(end, until):
                    return logged(at_end=True)
                size = end.offset - begin.offset if end.file == begin.file else _BYTES
                if count >= _ROWS or size >= _BYTES:
                    return logged(at_end=False)

    def _next(self, stream: Any) -> Any:
        """The next event; None at the log's end."""
        try:
            event = stream.fetchone()
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            raise StoreCorrupt(
                f"{self.where}: mysql-replication can't read the event after {stream.log_file}:"
                f"{stream.log_pos}: {error!r} (it can't read COMPRESSED columns)"
            ) from error
        if self._blocks and self._connection not in (None, stream._stream_connection):
            # The package has connected again, and who answers is unknown.
            raise StoreUnavailable(f"{self.where}: the connection was lost")
        self._connection = stream._stream_connection
        return event

    def _keys_of(self, event: Any) -> list[K]:
        """The primary keys of an event's rows; both of a row whose key changes."""
        try:
            return [
                self._key_of(event.table, list(values.values()))
                for row in event.rows
                for values in _images(row)
            ]
        except (ValueError, IndexError, KeyError, NotImplementedError) as error:
            raise StoreCorrupt(f"{self.where}: a row of {event.table}: {error!r}") from error


def _images(row: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The values of a row's columns before and after an event. A session may log changed columns
    alone (`binlog_row_image`): all further columns have None then, and no column of a key has."""
    if "values" in row:
        return [row["values"]]
    before, after = row["before_values"], row["after_values"]
    return [before, before | {name: it for name, it in after.items() if it is not None}]


def _is_boundary(event: Any) -> bool:
    """Whether the log may be read from the place after the event: a transaction ends there."""
    if isinstance(event, QueryEvent):
        return _ENDS.match(_bytes(event.query)) is not None
    return isinstance(event, XidEvent | RotateEvent)


def _is_at(place: LogPosition, end: LogPosition) -> bool:
    one, other = ((backup_files.number(it.file), it.offset) for it in (place, end))
    return one >= other


def _bytes(query: str | bytes) -> bytes:
    return query if isinstance(query, bytes) else query.encode()
