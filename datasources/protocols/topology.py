"""The source of the shard configuration."""

from collections.abc import AsyncIterator
from typing import Protocol

from datasources.topology import Topology


class TopologySource(Protocol):
    """The source of the shard configuration. It tells its watchers about changes."""

    async def load(self) -> Topology:
        """The topology. Raises StoreUnavailable; StoreCorrupt if there is none or it is invalid."""

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        """Replace the topology if its epoch is the expected epoch (None: there is no topology yet).
        Raises StoreConflict otherwise."""

    @property
    def fault(self) -> str | None:
        """Why a watcher keeps its topology, although a different one was found or none could be
        read. None if there is no fault."""

    def watch(self) -> AsyncIterator[Topology]:
        """The current topology, then each later one; reconnects as needed. Raises the errors of
        `load` if the first read fails. Logs a topology that must not follow the current one."""

    async def close(self) -> None: ...


class FollowedTopology(TopologySource, Protocol):
    """A topology source that also keeps the shards up to date with the topology."""

    async def follow(self) -> None:
        """Use each later topology until cancelled, whatever fails; `fault` says what failed."""

    async def reload(self) -> None:
        """Read the topology now, and use it. Raises StoreError."""
