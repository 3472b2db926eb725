"""One memcached server and its idle connections."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from datasources.memcached.connection import Connect, Connection
from datasources.memcached.items import ProtocolError
from datasources.places import Places, PoolState

T = TypeVar("T")
CONNECTIONS = 16
UNUSED_PAUSE = 0.1


class Node:
    """The server at `host`:`port`."""

    def __init__(self, host: str, port: int, connect: Connect = asyncio.open_connection) -> None:
        self._host, self._port, self._connect = host, port, connect
        self.name = f"{host}:{port}"
        self._idle: list[Connection] = []
        self._slots = Places(CONNECTIONS)
        self.users = 0
        """Calls that use the server, or may come to use it."""

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run `work` on a connection; again on a new connection if an idle one is dead, so `work`
        must be harmless when repeated. Raises OSError, ProtocolError."""
        async with self._slots:
            while connection := self._take():
                try:
                    return await self._on(connection, work)
                except (OSError, ProtocolError):
                    continue
            return await self._on(
                await Connection.open(self._host, self._port, self._connect), work
            )

    async def unused(self) -> None:
        """Wait until no call uses the server."""
        while self.users:  # noqa: ASYNC110 calls end within their deadlines
            await asyncio.sleep(UNUSED_PAUSE)

    def state(self) -> PoolState:
        return self._slots.state(self.name)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.lost:
                return connection
            connection.close()
        return None

    async def _on(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            result = await work(connection)
        except BaseException:
            # Its answer is still to come, and would be read as the answer to the next command.
            connection.close()
            raise
        self._idle.append(connection)
        return result
