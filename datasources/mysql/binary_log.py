"""The binary log of a MySQL or MariaDB server (by `mysql-replication`): which rows changed.

Only the primary keys of changed rows are taken from the log. The values come from the tables, where
they have their types and character sets.
"""

import asyncio
import logging
import random
import re
import ssl
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import pymysql
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
from datasources.sql.source_tables import LogPosition
from datasources.tls import context

_EVENTS = (
    *(TableMapEvent, WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent),
    *(QueryEvent, RotateEvent, XidEvent),
)
_ROWS = 5000
"""Changed rows after which a read ends, at the end of a transaction."""
_RAW = "pinway-raw"
"""The name of no character set: the package then leaves a text as its bytes."""
_BEGINS = re.compile(rb"\s*BEGIN\s*\Z", re.IGNORECASE)
_ENDS = re.compile(rb"\s*(COMMIT|ROLLBACK)\s*\Z", re.IGNORECASE)
_PURGED = 1236
_TIMEOUT = 30  # seconds without a packet

K = TypeVar("K")


class Statement(NamedTuple):
    """A statement that is logged as its text, as all that change no rows, and its default
    schema."""

    schema: str
    text: bytes


class Logged(NamedTuple, Generic[K]):
    """A part of the log that ends between two transactions. `keys`: for each schema and table, the
    primary keys of rows that were inserted, changed or deleted. `next`: the position from which to
    go on. `at_end`: the log had no more at that moment. `read`: the end of the last event that was
    read, which may be no part of a transaction."""

    keys: dict[tuple[str, str], list[K]]
    statements: list[Statement]
    next: LogPosition | str
    at_end: bool
    read: LogPosition


class BinaryLog(Generic[K]):
    """A server's binary log. `key_of` makes the primary key of a table's row from the values of all
    its columns; its ValueError, IndexError and KeyError become StoreCorrupt. `advice` ends the
    error for a log that no longer has a position."""

    def __init__(
        self,
        login: Login,
        schemas: Collection[str],
        tables: Collection[str],
        key_of: Callable[[str, Sequence[Any]], K],
        *,
        advice: str,
    ) -> None:
        self._schemas, self._tables = frozenset(schemas), frozenset(tables)
        self._key_of, self._advice = key_of, advice
        # An id under which no replica is likely to read the log.
        self._server_id = random.randrange(1 << 31, 1 << 32)
        self.where = f"the binary log of {login.host}:{login.port}"
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

    async def read(self, after: LogPosition | str) -> Logged[K]:
        """The changes after a position: a place in the log, or MariaDB's global transaction ids.
        Raises ConfigError if the server no longer has that part of its log, StoreCorrupt for a
        change that can't be read, and StoreError."""
        return await asyncio.to_thread(self._read, after)

    def _read(self, after: LogPosition | str) -> Logged[K]:
        # The package warns of settings on which only values depend, and not keys.
        logging.getLogger("pymysqlreplication").setLevel(logging.ERROR)
        if isinstance(after, LogPosition):
            begins = {"log_file": after.file, "log_pos": after.offset}
        else:
            begins = {"auto_position": after, "is_mariadb": True}
        stream = BinLogStreamReader(
            connection_settings=dict(self._login),
            server_id=self._server_id,
            resume_stream=True,
            blocking=False,
            only_events=list(_EVENTS),
            only_schemas=self._schemas,
            only_tables=self._tables,
            ignore_decode_errors=True,
            enable_logging=False,
            **begins,
        )
        try:
            return self._collect(stream, after)
        except (pymysql.Error, OSError, EOFError) as error:
            if number(error) == _PURGED:
                raise ConfigError(
                    f"{self.where} no longer begins before {after}: {error.args[1]}. {self._advice}"
                ) from error
            if number(error):
                raise translate(error, self.where) from error
            raise StoreUnavailable(f"{self.where}: {error}") from error
        finally:
            stream.close()

    def _collect(self, stream: Any, after: LogPosition | str) -> Logged[K]:
        keys: dict[tuple[str, str], dict[K, None]] = {}
        statements: list[Statement] = []
        end, count = after, 0

        def logged(*, at_end: bool) -> Logged[K]:
            lists = {table: list(some) for table, some in keys.items()}
            read = LogPosition(stream.log_file, stream.log_pos)
            return Logged(lists, statements, end, at_end, read)

        while True:
            event = stream.fetchone()
            if event is None:
                return logged(at_end=True)
            # MariaDB closes a connection that reads to the log's end before all bytes are received,
            # if they are more than the kernel's buffers hold. The package then connects again: by
            # transaction ids it would repeat the first part, by a position it goes on.
            stream.auto_position, stream.is_mariadb = None, False
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
                if count >= _ROWS:
                    return logged(at_end=False)

    def _keys_of(self, event: Any) -> list[K]:
        """The primary keys of an event's rows; both of a row whose key changes."""
        images = {"before_values", "after_values", "values"}
        try:
            return [
                self._key_of(event.table, list(row[image].values()))
                for row in event.rows
                for image in images & row.keys()
            ]
        except (ValueError, IndexError, KeyError, NotImplementedError) as error:
            raise StoreCorrupt(f"{self.where}: a row of {event.table}: {error!r}") from error


def _is_boundary(event: Any) -> bool:
    """Whether the log may be read from the place after the event: a transaction ends there."""
    if isinstance(event, QueryEvent):
        return _ENDS.match(_bytes(event.query)) is not None
    return isinstance(event, XidEvent | RotateEvent)


def _bytes(query: str | bytes) -> bytes:
    return query if isinstance(query, bytes) else query.encode()
