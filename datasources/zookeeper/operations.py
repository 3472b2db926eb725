"""The lock of operators' work on the topology, and its records, in ZooKeeper beside the topology.

The lock is an ephemeral node: when a process is killed, its lock ends with its session, within
`SESSION_SECONDS`. The lock keeps two people from working at the same time; the shards' fences and
the topology's own compare-and-set protect the data.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from kazoo.exceptions import BadVersionError, KazooException, NodeExistsError, NoNodeError

from datasources.errors import StoreConflict, StoreError, StoreUnavailable
from datasources.zookeeper.client import Client

SESSION_SECONDS = 4.0  # ZooKeeper's default minimum: two ticks of 2 s
PATIENCE = SESSION_SECONDS + 10
PAUSE = 0.2


class ZooKeeperOperations:
    """The lock at `path`.lock, records below `path`.ops/, and observers' reports below
    `path`.watch/."""

    def __init__(self, hosts: str, path: str, *, deadline: float = 5.0) -> None:
        self._path = "/" + path.strip("/")
        self._client = Client(hosts, deadline, SESSION_SECONDS)

    @asynccontextmanager
    async def lock(self, purpose: str, *, patience: float = PATIENCE) -> AsyncIterator[None]:
        """Hold the lock. After `patience` s, raises StoreConflict, which names its holder."""
        node = f"{self._path}.lock"
        data = f"{purpose} by process {os.getpid()} on {socket.gethostname()}".encode()
        made = await self._take(node, data, patience)
        try:
            yield
        finally:
            with suppress(StoreError, NoNodeError):
                await asyncio.shield(self._give_up(node, made))

    async def load(self, id: str) -> tuple[bytes, int] | None:
        """A record and its version."""
        try:
            data, stat = await self._call(lambda zk: zk.get_async(self._record(id)))
        except NoNodeError:
            return None
        return data, stat.version

    async def save(self, id: str, data: bytes, version: int | None) -> int:
        """Replace a record that has this version (None: it doesn't exist). Returns the new version.
        Raises StoreConflict if another process changed it."""
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
        return await self._children(f"{self._path}.ops")

    async def report(self, observer: str, data: bytes) -> None:
        node = f"{self._path}.watch/{observer}"
        try:
            await self._call(lambda zk: zk.set_async(node, data))
        except NoNodeError:
            with suppress(NodeExistsError):
                await self._call(
                    lambda zk: zk.create_async(node, data, ephemeral=True, makepath=True)
                )

    async def reports(self) -> dict[str, bytes]:
        found = {}
        for observer in await self._children(f"{self._path}.watch"):
            with suppress(NoNodeError):
                found[observer] = await self._data(f"{self._path}.watch/{observer}")
        return found

    async def close(self) -> None:
        await self._client.close()

    async def _take(self, node: str, data: bytes, patience: float) -> int:
        """Take the lock. Returns the id of the transaction that created the node."""
        give_up = asyncio.get_running_loop().time() + patience
        while True:
            try:
                _, stat = await self._call(
                    lambda zk: zk.create_async(node, data, ephemeral=True, include_data=True)
                )
            except NodeExistsError:
                if asyncio.get_running_loop().time() > give_up:
                    raise StoreConflict(await self._holder(node)) from None
                await asyncio.sleep(PAUSE)
            else:
                return int(stat.czxid)

    async def _give_up(self, node: str, made: int) -> None:
        """Delete the lock, unless it was lost with a session and another process holds it now."""
        _, stat = await self._call(lambda zk: zk.get_async(node))
        if stat.czxid == made:
            await self._call(lambda zk: zk.delete_async(node))

    async def _holder(self, node: str) -> str:
        try:
            data = await self._data(node)
        except NoNodeError:
            return "the lock of the topology was given up just now: run the command again"
        return f"somebody else works on the topology ({data.decode()}): wait for its end"

    async def _data(self, node: str) -> bytes:
        data, _ = await self._call(lambda zk: zk.get_async(node))
        return bytes(data)

    async def _children(self, node: str) -> list[str]:
        try:
            found = await self._call(lambda zk: zk.get_children_async(node))
        except NoNodeError:
            return []
        return sorted(found)

    def _record(self, id: str) -> str:
        return f"{self._path}.ops/{id}"

    async def _call(self, begin: Callable[[Any], Any]) -> Any:
        try:
            return await self._client.call(begin)
        except (NodeExistsError, NoNodeError, BadVersionError):
            raise
        except KazooException as error:
            raise StoreUnavailable(f"operations: {error!r}") from error
