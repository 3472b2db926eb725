"""MySQL servers: every batch of reads in one statement a server, whatever shards it spans."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from datasources.errors import StaleTopology
from datasources.mysql.link import Login
from datasources.mysql.server import Server
from datasources.mysql.session import MySqlSession
from datasources.places import PoolState
from datasources.sql.dialect import MYSQL
from datasources.sql.engine import Observe, Part, Place, Row
from datasources.together import together
from datasources.topology import Topology


class MySqlEngine:
    """See `datasources.sql.engine.Engine`."""

    dialect = MYSQL

    def __init__(
        self,
        topology: Topology,
        user: str,
        password: str,
        *,
        pool_size: int,
        deadline: float,
        observe: Observe,
    ) -> None:
        self._user, self._password = user, password
        self._pool_size, self._deadline, self._observe = pool_size, deadline, observe
        self._servers: dict[str, Server] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._logins = self._logins_of(topology)

    def use(self, topology: Topology) -> None:
        """Connections to servers that are gone, or that have moved, are closed when idle."""
        self._logins = self._logins_of(topology)
        for name, server in list(self._servers.items()):
            if server.login != self._logins.get(name):
                del self._servers[name]
                task = asyncio.ensure_future(server.close())
                self._leaving.add(task)
                task.add_done_callback(self._leaving.discard)

    def server(self, name: str) -> Server:
        if name not in self._servers:
            login = self._logins.get(name)
            if login is None:
                raise StaleTopology(f"{name}: this server left the topology")
            self._servers[name] = Server(
                name,
                login,
                pool_size=self._pool_size,
                deadline=self._deadline,
                observe=self._observe,
            )
        return self._servers[name]

    def pools(self) -> list[PoolState]:
        """The states of the pools of all servers that were asked."""
        return [state for server in self._servers.values() for state in server.pools()]

    async def read(self, operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        numbers: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            numbers.setdefault(part.place.server, []).append(number)
        answers: list[list[Row]] = [[] for _ in parts]
        read = await together(
            self._read_server(server, operation, parts, some) for server, some in numbers.items()
        )
        for rows in read:
            for number, *row in rows:
                answers[number].append(tuple(row))
        return answers

    @asynccontextmanager
    async def begin(self, place: Place, commit: str) -> AsyncIterator[MySqlSession]:
        server = self.server(place.server)
        session = MySqlSession(place, server)
        try:
            await session.begin()
            yield session
            await session.commit(commit)
        finally:
            if session.idle():
                await session.end()
            else:
                # Also when the caller is cancelled again, the rollback goes on.
                task = asyncio.ensure_future(session.end())
                server.keep(task)
                await asyncio.shield(task)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _read_server(
        self, server: str, operation: str, parts: Sequence[Part], numbers: Sequence[int]
    ) -> list[Row]:
        selects = [
            f"(SELECT {n} AS part, {parts[n].columns} {parts[n].rest})".replace(
                "{db}", parts[n].place.database
            )
            for n in numbers
        ]
        sql = " UNION ALL ".join(selects).replace("?", "%s")
        args = [value for n in numbers for value in parts[n].args]
        databases = {parts[n].place.database for n in numbers}
        where = databases.pop() if len(databases) == 1 else f"{len(databases)} shards"
        return (await self.server(server).query(operation, sql, args, where)).rows

    def _logins_of(self, topology: Topology) -> dict[str, Login]:
        return {
            name: Login.of(url, self._user, self._password)
            for name, url in topology.servers.items()
        }
