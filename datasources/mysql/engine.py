"""MySQL servers: all reads of a batch on one server are one statement, whatever their shards."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

from datasources.clocks import now_ms
from datasources.errors import StaleTopology, StoreError, StoreTimeout, StoreUnavailable
from datasources.mysql.link import Login
from datasources.mysql.scans import ServerScan, scan
from datasources.mysql.server import Server
from datasources.mysql.session import MySqlSession
from datasources.outages import Outages
from datasources.places import PoolState
from datasources.replication.server_row import CHECK, CHECK_SLAVE, LEASE_SECONDS
from datasources.sql.dialect import MYSQL
from datasources.sql.engine import Observe, Part, Place, Result, Row, shard_at
from datasources.sql.owners import check_owned, owners
from datasources.staleness import mark
from datasources.together import together
from datasources.topology import Topology

log = logging.getLogger("pinway.stores")

CALM = 10.0
"""Seconds without a read from the slave after which the master's outage is over."""
FIRST_ANSWER = 2.0
"""Seconds that a read waits for a master that has a slave, before it reads from the slave."""
CATCH_UP = 3
"""Seconds that a read waits until a slave has applied the events that it received."""


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
        slave_reads: bool,
        ca: str = "",
    ) -> None:
        self._slave_reads = slave_reads
        self._confirm: Callable[[], Awaitable[None]] | None = None
        self._user, self._password, self._ca = user, password, ca
        self._pool_size, self._deadline, self._observe = pool_size, deadline, observe
        self._servers: dict[str, Server] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._outages = Outages(log, "{} fails, and its slave is read instead", calm=CALM)
        self._use(topology)

    def confirm_with(self, confirm: Callable[[], Awaitable[None]]) -> None:
        self._confirm = confirm

    def use(self, topology: Topology) -> None:
        """Use the servers of another topology. Connections to servers that left or moved are closed
        when they are idle."""
        self._use(topology)
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
        """The states of the pools of all servers that were called."""
        return [state for server in self._servers.values() for state in server.pools()]

    async def read(self, operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        numbers: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            numbers.setdefault(part.place.server, []).append(number)
        answers: list[list[Row]] = [[] for _ in parts]
        known = self._epoch  # read before any server is asked: the places are of this topology
        read = await together(
            self._read_server(server, operation, parts, some, known)
            for server, some in numbers.items()
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
                # Even if the caller is cancelled again, the rollback continues.
                task = asyncio.ensure_future(session.end())
                server.keep(task)
                await asyncio.shield(task)

    def scan(self, master: str, shards: Sequence[int]) -> AbstractAsyncContextManager[ServerScan]:
        """See ShardScans, for shards of one master."""
        slave = self._slaves.get(master)
        return scan(self.server(master), None if slave is None else self.server(slave), shards)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _read_server(
        self,
        server: str,
        operation: str,
        parts: Sequence[Part],
        numbers: Sequence[int],
        known: int,
    ) -> list[Row]:
        selects = [
            f"(SELECT {n} AS part, {parts[n].columns} {parts[n].rest})".replace(
                "{db}", parts[n].place.database
            )
            for n in numbers
        ]
        sql = " UNION ALL ".join(selects).replace("?", "%s")
        args = [value for n in numbers for value in parts[n].args]
        places = {parts[n].place for n in numbers}
        databases = {place.database for place in places}
        where = databases.pop() if len(databases) == 1 else f"{len(databases)} shards"
        asked = Asked(operation, sql, args, where)
        moving = sorted(place for place in places if self._is_moving(place))
        slave = None if moving else self._slaves.get(server)
        try:
            first, *check = await self._ask(server, asked, moving, slave)
        except (StoreTimeout, StoreUnavailable) as error:
            if slave is None:
                raise
            shards = {number for is_mod, number in map(shard_at, places) if not is_mod}
            rows = await self._read_slave(slave, asked, shards, known, error)
            self._outages.failed(server, error)
            return rows
        self._outages.well(server)
        for [(epoch, age)] in (one.rows for one in check if one.rows):
            await self._check(server, epoch, age, known)
        return first.rows

    async def _ask(
        self, server: str, asked: "Asked", moving: Sequence[Place], slave: str | None
    ) -> list[Result]:
        """The results of a read and, from servers that have the row, of CHECK. Raises NotOwned
        unless the server owned the shards that are being moved both before and after the read: it
        then had all their rows."""
        if not moving:
            return await self.server(server).query_all(
                *asked, check=CHECK, within=FIRST_ANSWER if slave else None
            )
        fences = owners(moving)
        sql = f"{fences}; {asked.sql}; {fences}"
        before, first, after, *check = await self.server(server).query_all(
            *asked._replace(sql=sql), check=CHECK
        )
        check_owned(moving, before.rows, after.rows)
        return [first, *check]

    async def _check(self, server: str, epoch: int, age: int, known: int) -> None:
        """Check that the data read from a master, under the topology of epoch `known`, is current.
        Raises StaleTopology if it is not, and StoreError if that can't be determined."""
        if epoch > self._epoch:
            raise StaleTopology(
                f"{server}: it has epoch {epoch}, the reader's topology has {self._epoch}"
            )
        if age > LEASE_SECONDS * 1e6:
            # While the topology still names this server, nobody can have written elsewhere.
            await self._confirm_epoch(known)

    async def _confirm_epoch(self, known: int) -> None:
        """Raises StaleTopology unless the topology of epoch `known` is still the current
        topology."""
        if self._confirm is not None:
            await self._confirm()
        if self._epoch != known:
            raise StaleTopology(f"the topology has epoch {self._epoch} by now, not {known}")

    async def _read_slave(
        self, slave: str, asked: "Asked", shards: set[int], known: int, lost: StoreError
    ) -> list[Row]:
        """Read from a slave that has applied all events that it received. Acknowledged writes were
        received, so none is missing. Raises StaleTopology if the slave may have become the master
        meanwhile. If the slave can't be read, raises an error of the class of `lost`, the master's
        error. Its message tells the reasons of both servers."""
        fault: StoreError | None = None
        try:
            rows, since = await self._ask_slave(slave, asked)
        except StoreError as error:
            fault = error
        try:
            # A promotion saves the topology before it ends the slave's channel.
            await self._confirm_epoch(known)
        except StaleTopology:
            raise
        except StoreError as error:
            fault = fault or StoreUnavailable(
                f"{slave}: it can't be told whether it is still the slave: {error}"
            )
        if fault is not None:
            raise type(lost)(f"{lost}; its slave {fault}") from lost
        mark(shards, since)
        return rows

    async def _ask_slave(self, slave: str, asked: "Asked") -> tuple[list[Row], int]:
        """The rows, and the epoch ms since which they may be stale."""
        server = self.server(slave)
        position = await server.received()
        results = await server.query_all(
            f"{asked.operation}.slave",
            f"SELECT MASTER_GTID_WAIT(%s, {CATCH_UP}); {asked.sql}",
            [position, *asked.args],
            asked.where,
            check=CHECK_SLAVE,
        )
        since = _stale_since(slave, results)
        return results[1].rows, since

    def _use(self, topology: Topology) -> None:
        self._logins, self._epoch = self._logins_of(topology), topology.epoch
        self._slaves = _slaves_of(topology) if self._slave_reads else {}
        self._moving_of = topology.moving_of if topology.moving else None

    def _is_moving(self, place: Place) -> bool:
        if self._moving_of is None:
            return False
        is_mod, shard = shard_at(place)
        return not is_mod and self._moving_of(shard) is not None

    def _logins_of(self, topology: Topology) -> dict[str, Login]:
        return {
            name: Login.of(url, self._user, self._password, self._ca)
            for name, url in topology.servers.items()
        }


class Asked(NamedTuple):
    """A read of one server, in the form of the arguments of `Server.query_all`."""

    operation: str
    sql: str
    args: Sequence[Any]
    where: str


def _slaves_of(topology: Topology) -> dict[str, str]:
    ranges = (*topology.shards, *topology.mod.ranges)
    return {r.master: r.slave for r in ranges if r.slave is not None}


def _stale_since(slave: str, results: Sequence[Result]) -> int:
    """The epoch ms of the last lease that the slave has applied. Raises StoreUnavailable if the
    slave is behind, or if it was restarted and has received nothing since."""
    if len(results) != 3 or results[0].rows != [(0,)] or not results[2].rows:
        raise StoreUnavailable(f"{slave}: it has not applied all that it received")
    [(age, uptime)] = results[2].rows
    if age >= (uptime - 1) * 1_000_000:  # in whole seconds: it may have been up for a second less
        raise StoreUnavailable(f"{slave}: it has received nothing since it was restarted")
    return now_ms() - int(age) // 1000
