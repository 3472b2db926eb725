"""One connection to a MySQL server, set up for the stores.

Transactions run at READ COMMITTED. They read FOR UPDATE before they decide, and a list's row in
`lists` guards the list, so a snapshot would add nothing. At REPEATABLE READ, the same reads would
also lock the gaps around missing rows, and inserts of unrelated rows would deadlock.
"""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

import aiomysql
from aiomysql.connection import Connection, MySQLResult
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import decoders, through

from datasources.mysql.result_sets import Irregular, Reader, ResultSet
from datasources.replication.server_row import EXISTS
from datasources.sql.engine import Result
from datasources.tls import context

# Sequences have 38 digits, more than Decimal's default context keeps in arithmetic.
_DECODERS = {**decoders, FIELD_TYPE.NEWDECIMAL: int, FIELD_TYPE.DECIMAL: int}
_TYPES = map(_DECODERS.get, range(256))
_CONVERTERS = [None if convert is through else convert for convert in _TYPES]
_LARGEST = 1 << 18  # bytes of a result set that is read again from its start after each piece
_SQL_MODE = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
# seconds until MariaDB rolls back the transaction of a gateway that disappeared
_IDLE_TRANSACTION = 60


@dataclass(frozen=True)
class Login:
    """How to reach a server. `foreign`: the server holds no shards, and may count in steps."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    ca: str = ""
    foreign: bool = False

    @classmethod
    def of(cls, url: str, user: str, password: str, ca: str = "") -> "Login":
        """Read the parts of `mysql://[user[:password]@]host[:port]`. `user` and `password` are the
        defaults for missing parts. With `ca`, a file with the certificates of authorities, the
        connection has TLS."""
        parts = urlsplit(url)
        return cls(
            parts.hostname or "127.0.0.1",
            parts.port or 3306,
            unquote(parts.username) if parts.username else user,
            unquote(parts.password) if parts.password else password,
            ca,
        )


class _Connection(Connection):  # type: ignore[misc]  # the driver has no types
    """Writes bytes as hexadecimal literals. The driver (0.3.2) uses a function of PyMySQL for this,
    which PyMySQL 1.2 no longer has.

    Small result sets are read by `datasources.mysql.result_sets`. The driver reads all other
    answers from their first byte on, and raises its own exceptions for errors and broken answers.
    """

    _held, _at = b"", 0  # bytes that arrived, and the position of the first that was not read
    _next_seq_id: int

    def escape(self, obj: object) -> str:
        if isinstance(obj, bytes):
            return f"_binary X'{obj.hex()}'"
        literal: str = super().escape(obj)
        return literal

    async def _request_authentication(self) -> None:
        # The driver would go on without TLS if the server, or somebody before it, offers none.
        if self._ssl_context is not None and not self.server_capabilities & CLIENT.SSL:
            raise aiomysql.OperationalError(2026, "the server offers no TLS, and mysql.ca needs it")
        await super()._request_authentication()

    async def _read_query_result(self, unbuffered: bool = False) -> None:
        while not unbuffered and len(self._held) - self._at < _LARGEST:
            reader = Reader(self._held, self._at, self._next_seq_id)
            try:
                found = reader.result_set(_CONVERTERS)
            except Irregular:
                break
            if found is not None:
                self._at, self._next_seq_id = reader.end, reader.number
                self._result = result = _driver_result(self, found)
                self._affected_rows = result.affected_rows
                return
            if not await self._more():
                break
        await super()._read_query_result(unbuffered)

    async def _more(self) -> bool:
        """Wait for bytes. Returns False if the connection broke."""
        try:
            piece = await self._reader.read(_LARGEST)
        except OSError:
            return False  # the driver gets the same exception, and raises its own
        except asyncio.CancelledError:
            self._close_on_cancel()
            raise
        self._held, self._at = self._held[self._at :] + piece, 0
        return bool(piece)

    async def _read_bytes(self, num_bytes: int) -> bytes:
        held = self._held[self._at : self._at + num_bytes]
        self._at += len(held)
        if len(held) == num_bytes:
            return held
        rest: bytes = await super()._read_bytes(num_bytes - len(held))
        return held + rest


def _driver_result(connection: Connection, found: ResultSet) -> MySQLResult:
    """The result as the driver keeps it, with the names alone to describe the columns."""
    result = MySQLResult(connection)
    result.connection = None
    result.field_count = len(found.names)
    result.description = [(name,) for name in found.names]
    result.rows, result.affected_rows = found.rows, len(found.rows)
    result.warning_count, result.has_next = found.warnings, found.more
    return result


class _Cursor(aiomysql.Cursor):  # type: ignore[misc]
    """Skips the request for warnings, which would be another round trip. Strict mode turns the
    important warnings into errors."""

    async def _show_warnings(self, conn: Connection) -> None:
        return


class Link:
    """An open connection. A caller that is interrupted in `run` must close the link, because the
    answer may still arrive."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # whether it was used before it was taken this time: the server may have closed it since
        self.used = False
        self.thread_id: int = connection.thread_id()
        self.has_row = False  # whether the server has the row `pinway.server`

    @property
    def alive(self) -> bool:
        """False once the server is known to have hung up."""
        reader = self._connection._reader
        return reader is not None and not reader.at_eof() and reader.exception() is None

    async def run(self, sql: str, args: Sequence[Any] = ()) -> Result:
        """The result of the statement, or of the last statement if there are several. Raises the
        driver's exceptions; statements after a failing one were not run."""
        cursor = await self._connection.cursor(_Cursor)
        await cursor.execute(sql, tuple(args) if args else None)
        while await cursor.nextset():
            pass
        return await _result(cursor)

    async def described(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a statement by their columns' names, text as str."""
        cursor = await self._connection.cursor(_Cursor)
        await cursor.execute(sql)
        rows = await cursor.fetchall()
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, map(_text, row), strict=True)) for row in rows]

    async def run_all(self, sql: str, args: Sequence[Any] = ()) -> list[Result]:
        """The results of all statements."""
        cursor = await self._connection.cursor(_Cursor)
        await cursor.execute(sql, tuple(args) if args else None)
        found = [await _result(cursor)]
        while await cursor.nextset():
            found.append(await _result(cursor))
        return found

    def close(self) -> None:
        self._connection.close()


async def _result(cursor: _Cursor) -> Result:
    rows = await cursor.fetchall() if cursor.description else []
    return Result(list(rows), cursor.rowcount, cursor.lastrowid or 0)


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


async def connect(login: Login, *, autocommit: bool, deadline: float) -> Link:
    """A new connection. Raises the driver's exceptions, and TimeoutError.

    Without `autocommit`, the first statement begins a transaction, without an additional round
    trip.
    """
    connection = _Connection(
        host=login.host,
        port=login.port,
        user=login.user,
        password=login.password,
        charset="utf8mb4",
        use_unicode=False,  # JSON is passed on as bytes
        conv=_DECODERS,
        client_flag=CLIENT.FOUND_ROWS,  # an UPDATE that changes nothing still counts its rows
        autocommit=autocommit,
        ssl=_tls(login.ca) if login.ca else None,
    )
    # The driver's own `connect` leaves the socket open when it is cancelled in the handshake.
    try:
        await connection._connect()
        link = Link(connection)
        step = await _set_up(link, "MariaDB" in connection.get_server_info(), deadline)
        if step != 1 and not login.foreign:
            raise aiomysql.OperationalError(
                1105, f"auto_increment_increment is {step}; ids of one INSERT must be consecutive"
            )
    except BaseException:
        connection.close()
        raise
    return link


@lru_cache(4)
def _tls(ca: str) -> ssl.SSLContext:
    return context(ca)


async def _set_up(link: Link, mariadb: bool, deadline: float) -> int:
    """Returns the step in which the server counts."""
    settings = {
        "sql_mode": f"'{_SQL_MODE}'",
        "time_zone": "'+00:00'",
        # Shorter than the deadline, so that a transaction that waits for a lock gets the error.
        "innodb_lock_wait_timeout": str(max(1, int(deadline) - 2)),
    }
    if mariadb:
        settings |= {
            "tx_isolation": "'READ-COMMITTED'",
            "max_statement_time": str(deadline),
            "idle_transaction_timeout": str(_IDLE_TRANSACTION),
        }
    else:
        settings |= {
            "transaction_isolation": "'READ-COMMITTED'",
            "max_execution_time": str(int(deadline * 1000)),
        }
    assignments = ", ".join(f"SESSION {name} = {value}" for name, value in settings.items())
    await link.run(f"SET {assignments}")
    [[step, row]] = (await link.run(f"SELECT @@SESSION.auto_increment_increment, ({EXISTS})")).rows
    link.has_row = bool(row)
    return int(step)
