"""The sharded database for large installations: `datasources.protocols.ShardStore` over MySQL
masters."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, AbstractContextManager, aclosing

from datasources.clocks import now_ms
from datasources.errors import ConfigError, StoreError
from datasources.mysql import log_settings, schema
from datasources.mysql.engine import MySqlEngine
from datasources.places import PoolState
from datasources.replication import topologies
from datasources.replication.server_settings import ASK, VARIABLES, decoded, faults_in
from datasources.scans import Changes, LoggedScan, Moment
from datasources.sql.engine import Observe, object_place
from datasources.sql.router import databases, places
from datasources.sql.schema import Table
from datasources.sql.shards import Progress, SqlShards
from datasources.together import together
from datasources.topology import Topology
from datasources.waits import waiting_for

DEADLINE = 5.0  # seconds
POOL_SIZE = 16
SECONDS_BEHIND_MASTER = 32  # the column of SHOW REPLICA STATUS, in MySQL and MariaDB


class MySqlShards(SqlShards):
    """Shards as databases `db00003` and `mod00001` of servers `mysql://HOST:PORT`.

    `pool_size` is the number of connections to each server, separately for reads and for
    transactions. `deadline` is in seconds, for each read and each statement of a transaction.
    `observe` is called for each round trip. `slave_reads`: while a master does not answer, its
    slave is read. `ca`: a file with the certificates of the servers' authorities; without it, the
    connections have no TLS.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        user: str,
        password: str,
        pool_size: int = POOL_SIZE,
        deadline: float = DEADLINE,
        clock: Callable[[], int] = now_ms,
        observe: Observe = lambda server, operation: None,
        slave_reads: bool = True,
        ca: str = "",
    ) -> None:
        self._engine = MySqlEngine(
            topology,
            user,
            password,
            pool_size=pool_size,
            deadline=deadline,
            observe=observe,
            slave_reads=slave_reads,
            ca=ca,
        )
        super().__init__(self._engine, topology, clock)

    async def create(self, progress: Progress = lambda done, total: None) -> None:
        topology = self.objects.topology()
        all_places = places(topology)
        done = 0

        def made(count: int) -> None:
            nonlocal done
            done += count
            progress(done, len(all_places))

        await schema.create(self._engine, topology, all_places, made)

    async def absent(self) -> dict[str, list[str]]:
        expected = databases(self.objects.topology())
        there = await together(self._databases(server) for server in expected)
        return {
            server: missing
            for (server, names), found in zip(expected.items(), there, strict=True)
            if found is not None and (missing := [name for name in names if name not in found])
        }

    async def open_shards(self, span: tuple[int, int]) -> None:
        """Create new shards that the topology names. Raises Damaged for a shard that exists."""
        topology = self.objects.topology()
        new = [
            object_place(topology.master_of(shard), shard) for shard in range(span[0], span[1] + 1)
        ]
        await schema.create(self._engine, topology, new, lambda count: None, opening=True)

    async def ping(self) -> dict[str, str | None]:
        masters = sorted({place.server for place in places(self.objects.topology())})
        faults = await together(self._fault(name) for name in masters)
        return dict(zip(masters, faults, strict=True))

    async def replication(self) -> dict[str, float | None]:
        topology = self.objects.topology()
        ranges = (*topology.shards, *topology.mod.ranges)
        slaves = sorted({r.slave for r in ranges if r.slave is not None})
        lags = await together(self._lag(name) for name in slaves)
        return {name: lag[0] for name, lag in zip(slaves, lags, strict=True) if lag}

    async def setting_faults(self) -> dict[str, list[str] | None]:
        topology = self.objects.topology()
        names = _servers(topology)
        found = await together(self._variables(name) for name in names)
        return {
            name: None if variables is None else faults_in(topology, name, variables)
            for name, variables in zip(names, found, strict=True)
        }

    async def connection_limits(self) -> dict[str, int]:
        names = _servers(self.objects.topology())
        found = await together(self._connection_limit(name) for name in names)
        return {name: most for name, most in zip(names, found, strict=True) if most is not None}

    def scanned_together(self) -> list[list[int]]:
        topology = self.objects.topology()
        for moving in topology.moving:
            raise ConfigError(
                f"shards {moving.range[0]}-{moving.range[1]} are being moved to {moving.to}: "
                "wait until they have moved (`pinway shards show`)"
            )
        return list(topology.shards_of_masters.values())

    def scan(self, shards: Sequence[int]) -> AbstractAsyncContextManager[LoggedScan]:
        return self._engine.scan(self.objects.topology().master_of(shards[0]), shards)

    async def changes(
        self, shards: Sequence[int], tables: Mapping[str, Table], since: Set[str], until: Moment
    ) -> AsyncIterator[Changes]:
        server = self._engine.server(until.server)
        found = await server.query("log", log_settings.ASK, (), "")
        if faults := log_settings.faults(log_settings.decoded(found.rows)):
            raise ConfigError(f"the binary log of {server.name} can't be read: {'; '.join(faults)}")
        try:
            from datasources.mysql.shard_log import ShardLog
        except ImportError as error:
            raise ConfigError(f"pip install 'pinway[migrate]' to read changes: {error}") from None
        log = ShardLog(server.login, shards, tables)
        async with aclosing(log.changes(since, until)) as parts:
            async for some in parts:
                yield some

    def is_logged_by(self, shard: int, server: str) -> bool:
        found = self.objects.topology().range_of(shard)
        return server in (found.master, found.slave)

    def pools(self) -> list[PoolState]:
        """The states of the pools of connections."""
        return self._engine.pools()

    async def close(self) -> None:
        await self._engine.close()

    async def _lag(self, server: str) -> list[float | None]:
        """The slave's lag as the only element; empty if the slave can't be asked."""
        try:
            found = await self._engine.server(server).query("lag", "SHOW REPLICA STATUS", (), "")
        except StoreError:
            return []
        if not found.rows:
            return [None]
        seconds = found.rows[0][SECONDS_BEHIND_MASTER]
        return [None if seconds is None else float(seconds)]

    async def _variables(self, server: str) -> dict[str, str] | None:
        try:
            found = await self._engine.server(server).query("settings", ASK, VARIABLES, "")
        except StoreError:
            return None
        return decoded(found.rows)

    async def _connection_limit(self, server: str) -> int | None:
        ask = "SELECT @@max_connections"
        try:
            found = await self._engine.server(server).query("settings", ask, (), "")
        except StoreError:
            return None
        return int(found.rows[0][0])

    async def _databases(self, server: str) -> set[str] | None:
        try:
            with self._waiting_for(server):
                listed = await self._engine.server(server).query("absent", "SHOW DATABASES", (), "")
        except StoreError:
            return None
        return {name.decode() for [name] in listed.rows}

    async def _fault(self, server: str) -> str | None:
        try:
            with self._waiting_for(server):
                await self._engine.server(server).query("ping", "SELECT 1", (), "")
        except StoreError as error:
            return str(error)
        return None

    def _waiting_for(self, server: str) -> AbstractContextManager[None]:
        host = self.objects.topology().servers[server].partition("//")[2]
        return waiting_for(f"shards {server} at {host}")


def _servers(topology: Topology) -> list[str]:
    """The names of all masters and slaves."""
    return sorted({*topologies.masters(topology), *topologies.slaves(topology)})
