"""The lock of operators' work on the topology, and its records, in ZooKeeper beside the topology.

The lock is an ephemeral node: it goes with the session of a process that was killed, within
`SESSION_SECONDS`. It keeps two people from working at the same time; what guards the data are the
shards' fences, and the topology's own compare-and-set.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from kazoo.exceptions import BadVersionError, KazooException, NodeExistsError, NoNodeError

from datasources.errors import StoreConflict, StoreError, StoreUnavailable
from datasources.zookeeper.client import SESSION_SECONDS, Client

PATIENCE = SESSION_SECONDS + 5
PAUSE = 0.5


class ZooKeeperOperations:
    """The lock at `path`.lock, and records below `path`.ops/."""

    def __init__(self, hosts: str, path: str, *, deadline: float = 5.0) -> None:
        self._path = "/" + path.strip("/")
        self._client = Client(hosts, deadline)

    @asynccontextmanager
    async def lock(self, purpose: str, *, patience: float = PATIENCE) -> AsyncIterator[None]:
        """Hold the lock. Raises StoreConflict, which names its holder, after `patience` s."""
        node = f"{self._path}.lock"
        data = f"{purpose} by process {os.getpid()} on {socket.gethostname()}".encode()
        await self._take(node, data, patience)
        try:
            yield
        finally:
            with suppress(StoreError, NoNodeError):
                await asyncio.shield(self._call(lambda zk: zk.delete_async(node)))

    async def load(self, id: str) -> tuple[bytes, int] | None:
        """A record and its version."""
        try:
            data, stat = await self._call(lambda zk: zk.get_async(self._record(id)))
        except NoNodeError:
            return None
        return data, stat.version

    async def save(self, id: str, data: bytes, version: int | None) -> int:
        """Replace a record of that version (None: there is none yet); the new version. Raises
        StoreConflict when somebody else changed it."""
        node = self._record(id)
        try:
            if version is None:
                await self._call(lambda zk: zk.create_async(node, data, makepath=True))
                return 0
            stat = await self._call(lambda zk: zk.set_async(node, data, version=version))
        except (NodeExistsError, BadVersionError, NoNodeError) as error:
            raise StoreConflict(f"{node} was changed by somebody else meanwhile") from error
        return int(stat.version)

    async def ids(self) -> list[str]:
        try:
            found = await self._call(lambda zk: zk.get_children_async(f"{self._path}.ops"))
        except NoNodeError:
            return []
        return sorted(found)

    async def close(self) -> None:
        await self._client.close()

    async def _take(self, node: str, data: bytes, patience: float) -> None:
        give_up = asyncio.get_running_loop().time() + patience
        while True:
            try:
                await self._call(lambda zk: zk.create_async(node, data, ephemeral=True))
            except NodeExistsError:
                if asyncio.get_running_loop().time() > give_up:
                    raise StoreConflict(await self._holder(node)) from None
                await asyncio.sleep(PAUSE)
            else:
                return

    async def _holder(self, node: str) -> str:
        try:
            data, _ = await self._call(lambda zk: zk.get_async(node))
        except NoNodeError:
            return "the lock of the topology was given up just now: run the command again"
        return f"somebody else works on the topology ({data.decode()}): wait for its end"

    def _record(self, id: str) -> str:
        return f"{self._path}.ops/{id}"

    async def _call(self, begin: Callable[[Any], Any]) -> Any:
        try:
            return await self._client.call(begin)
        except (NodeExistsError, NoNodeError, BadVersionError):
            raise
        except KazooException as error:
            raise StoreUnavailable(f"operations: {error!r}") from error
