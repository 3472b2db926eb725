"""A pool of Thrift connections in which a cancelled call never leaves its answer to the next call.

The drivers' pools reuse the connection of a cancelled call, and the next caller reads the wrong
answer. Here a connection is reused only after its answer was read to the end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from datasources.errors import StoreCorrupt, StoreError, StoreTimeout, StoreUnavailable
from datasources.hbase.thrift import Connection, Refused, idl
from datasources.places import Places, PoolState

T = TypeVar("T")
_TO_CONNECT = 0.25  # the part of a call's deadline that it may spend on a new connection


class Pool:
    """Up to `size` connections, opened on demand. `deadline` is in seconds."""

    def __init__(self, host: str, port: int, size: int, deadline: float) -> None:
        self._host, self._port = host, port
        self._deadline = deadline
        self._slots = Places(size)
        self._idle: list[Connection] = []
        self._closed = False

    @property
    def name(self) -> str:
        return f"HBase at {self._host}:{self._port}"

    async def run(
        self, work: Callable[[Connection], Awaitable[T]], deadline: float | None = None
    ) -> T:
        """Run `work` with a connection, and return its result. `work` may run twice; every request
        to HBase in this package may be repeated. Raises StoreTimeout after the deadline (which
        includes the wait for a free connection), StoreUnavailable at once when no server listens
        or after a quarter of the deadline without a connection, ValueError for a bad argument."""
        seconds = self._deadline if deadline is None else deadline
        try:
            async with asyncio.timeout(seconds), self._slots:
                return await self._attempt(work, seconds * _TO_CONNECT)
        except TimeoutError as error:
            raise StoreTimeout(f"{self.name}: no answer within {seconds:g} s") from error
        except idl.IllegalArgument as error:
            raise ValueError(_line(error)) from error
        except Refused as error:
            raise self._refusal(error) from error
        except OSError as error:
            raise StoreUnavailable(f"{self.name}: {error}") from error

    def state(self) -> PoolState:
        return self._slots.state(f"{self._host}:{self._port}")

    def close(self) -> None:
        """Close idle connections now, and connections in use when their call ends."""
        self._closed = True
        self._drop_idle()

    async def _attempt(self, work: Callable[[Connection], Awaitable[T]], to_connect: float) -> T:
        if self._closed:
            raise StoreUnavailable(f"{self.name}: the store is closed")
        while self._idle:
            connection = self._idle.pop()
            if connection.lost:
                connection.abort()
                continue
            try:
                return await self._use(connection, work)
            except ConnectionError:
                self._drop_idle()  # the server restarted: the other idle connections are dead, too
        return await self._use(await self._connect(to_connect), work)

    async def _connect(self, seconds: float) -> Connection:
        try:
            async with asyncio.timeout(seconds):
                return await Connection.open(self._host, self._port)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self.name}: no connection within {seconds:g} s") from error

    async def _use(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            answer = await work(connection)
        except Refused:
            self._keep(connection)
            raise
        except BaseException:
            connection.abort()
            raise
        self._keep(connection)
        return answer

    def _keep(self, connection: Connection) -> None:
        if self._closed:
            connection.abort()
        else:
            self._idle.append(connection)

    def _drop_idle(self) -> None:
        while self._idle:
            self._idle.pop().abort()

    def _refusal(self, error: Exception) -> StoreError:
        line, text = _line(error), _text(error)
        if "TableNotFoundException" in text:
            return StoreUnavailable(f"{self.name} has no such table: create it first ({line})")
        if "CorruptHFileException" in text:
            return StoreCorrupt(f"{self.name}: {line}")
        return StoreUnavailable(f"{self.name}: {line}")


def _text(error: Exception) -> str:
    message = getattr(error, "message", b"") or b""
    return message.decode(errors="replace") if isinstance(message, bytes) else str(message)


def _line(error: Exception) -> str:
    """The first line of a server's exception; the rest is a Java stack."""
    return _text(error).strip().partition("\n")[0][:300]
