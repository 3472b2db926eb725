"""Helpers for operators' work on the shards' servers: the topology, its lock, and connections."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import click

from datasources.errors import ConfigError
from datasources.factory import open_operations, open_topology
from datasources.protocols import Operations, TopologySource
from datasources.replication import moves
from datasources.replication.moves import Move
from datasources.topology import Topology
from gateway.settings import EMBEDDED, Settings
from gateway.site.embedded import topology_url

Admins = Callable[[str], Any]
"""Opens a connection to the server with this name, with the operator's account."""


@dataclass(frozen=True)
class Work:
    """The means of an operation: the topology and its source, and connections to servers."""

    source: TopologySource
    operations: Operations
    topology: Topology
    admin: Admins
    settings: Settings

    async def save(self, topology: Topology) -> None:
        await self.source.save(topology, expected_epoch=self.topology.epoch)
        click.echo(f"the topology has epoch {topology.epoch}")

    async def moves(self) -> dict[str, tuple[Move, int]]:
        """The records of moves, each with its version."""
        found = {}
        for id in await self.operations.ids():
            record = await self.operations.load(id)
            if id.startswith("move_") and record is not None:
                found[id] = moves.decode(record[0]), record[1]
        return found


def run(settings: Settings, purpose: str | None, act: Callable[[Work], Awaitable[None]]) -> None:
    """Do an operation. An operation with a purpose changes the topology, and holds its lock."""

    async def work() -> None:
        async with means(settings, purpose) as found:
            await act(found)

    asyncio.run(work())


@asynccontextmanager
async def means(settings: Settings, purpose: str | None) -> AsyncIterator[Work]:
    """Open what an operation uses, and hold the lock if there is a purpose."""
    if settings.stores.topology == EMBEDDED:
        raise ConfigError(
            "`pinway shards` is for MariaDB servers: name their settings with --config FILE"
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
        from datasources.mysql.replication.admin import Admin

        def admin(name: str) -> Admin:
            made = Admin(
                name,
                topology.servers[name],
                settings.mysql.operator_user,
                settings.mysql.operator_password,
                settings.mysql.ca,
            )
            opened.push_async_callback(made.close)
            return made

        yield Work(source, operations, topology, admin, settings)


def require_replica_password(password: str) -> None:
    """Raises ConfigError without the password with which servers log in to each other."""
    if not password:
        raise ConfigError(
            "the password with which servers log in to each other is missing: give "
            "--replica-password or set PINWAY_REPLICA_PASSWORD (`pinway stack` keeps it in "
            "secrets.json, as replica_password)"
        )


def _check(topology: Topology) -> None:
    if not all(url.startswith("mysql:") for url in topology.servers.values()):
        raise ConfigError(
            "these shards are files of this host, which have no masters and slaves: "
            "`pinway shards` is for MariaDB servers, whose settings --config names"
        )
