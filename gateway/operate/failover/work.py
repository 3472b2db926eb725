"""The means of an operation on the shards' servers: the topology, its lock, and connections."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from datasources.errors import ConfigError
from datasources.factory import open_generations, open_operations, open_topology
from datasources.protocols import Operations, TopologySource
from datasources.replication import moves
from datasources.replication.moves import Move
from datasources.replication.steps import Tell
from datasources.topology import Topology
from gateway.settings import EMBEDDED, Settings
from gateway.site.embedded_stores import topology_url

if TYPE_CHECKING:
    from datasources.mysql.replication.admin import Admin

Admins = Callable[[str], "Admin"]
"""Gives a connection to the server with this name, with the operator's account."""


@dataclass(frozen=True)
class Work:
    """The means of an operation: the topology and its source, and connections to servers. `tell`
    receives a line for each step."""

    source: TopologySource
    operations: Operations
    topology: Topology
    admin: Admins
    settings: Settings
    tell: Tell

    async def save(self, topology: Topology) -> None:
        await self.source.save(topology, expected_epoch=self.topology.epoch)
        self.tell(f"the topology has epoch {topology.epoch}")

    async def empty_caches(self) -> None:
        """Return when no process reads an entry that was cached before the call. Raises
        StoreError."""
        if not self.settings.stores.cache_generations:
            return
        generations = open_generations(topology_url(self.settings))
        if generations is not None:
            try:
                await generations.raise_all()
            finally:
                await generations.close()

    async def moves(self) -> dict[str, tuple[Move, int]]:
        """The records of moves, each with its version."""
        found = {}
        for id in await self.operations.ids():
            record = await self.operations.load(id)
            if id.startswith("move_") and record is not None:
                found[id] = moves.decode(record[0]), record[1]
        return found


@asynccontextmanager
async def means(settings: Settings, purpose: str | None, tell: Tell) -> AsyncIterator[Work]:
    """Open what an operation uses. An operation with a purpose changes the topology, and holds its
    lock."""
    if settings.stores.topology == EMBEDDED:
        raise ConfigError(
            "the settings name embedded shards: this command is for MariaDB servers, whose "
            "settings --config names"
        )
    url = topology_url(settings)
    async with AsyncExitStack() as opened:
        source = open_topology(url)
        opened.push_async_callback(source.close)
        topology = await source.load()
        _check(topology)
        operations = open_operations(url)
        opened.push_async_callback(operations.close)
        if purpose is not None:
            await opened.enter_async_context(operations.lock(purpose))
            topology = await source.load()  # another operation may have ended since

        def admin(name: str) -> "Admin":
            made = operators_connection(settings, name, topology.servers[name])
            opened.push_async_callback(made.close)
            return made

        yield Work(source, operations, topology, admin, settings, tell)


def operators_connection(settings: Settings, name: str, url: str) -> "Admin":
    """A connection to the server with the operator's account, which the caller closes."""
    from datasources.mysql.replication.admin import Admin

    return Admin(
        name,
        url,
        user=settings.mysql.operator_user,
        password=settings.mysql.operator_password,
        ca=settings.mysql.ca,
    )


def _check(topology: Topology) -> None:
    if not all(url.startswith("mysql:") for url in topology.servers.values()):
        raise ConfigError(
            "these shards are files of this host, which have no masters and slaves: "
            "this command is for MariaDB servers, whose settings --config names"
        )
