"""A TopologySource in one ZooKeeper node: replaced by version, watched, and read again after a
reconnect.

A watch fires once and may be lost with a session. So after any event (of the node, of the
connection, or nothing for half a minute), the node is read again, which sets the next watch.
"""

import asyncio
import logging
from collections.abc import AsyncIterator

from kazoo.exceptions import BadVersionError, KazooException, NodeExistsError, NoNodeError

from datasources import topology as topologies
from datasources.errors import StoreConflict, StoreError, StoreUnavailable
from datasources.outages import Outages
from datasources.topology import Topology
from datasources.zookeeper.client import Client

LOOK_SECONDS = 30.0
log = logging.getLogger("pinway.topology")


class ZooKeeperTopology:
    """A TopologySource at node `path` of the ensemble `hosts` ("host:port[,host:port]")."""

    def __init__(self, hosts: str, path: str, *, deadline: float = 5.0) -> None:
        self._path = "/" + path.strip("/")
        self._client = Client(hosts, deadline)
        self._fault: str | None = None

    @property
    def fault(self) -> str | None:
        return self._fault

    async def load(self) -> Topology:
        # A server of the ensemble may be behind, and readers need the latest topology.
        await self._client.call(lambda zk: zk.sync_async(self._path))
        topology, _ = await self._read()
        return topology

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        data = topologies.dump(topology)
        try:
            if expected_epoch is None:
                await self._client.call(lambda zk: zk.create_async(self._path, data, makepath=True))
                return
            found, version = await self._read()
            if found.epoch != expected_epoch:
                raise StoreConflict(f"topology: epoch is {found.epoch}, not {expected_epoch}")
            topologies.check_next(found, topology)
            await self._client.call(lambda zk: zk.set_async(self._path, data, version=version))
        except (NodeExistsError, BadVersionError) as error:
            raise StoreConflict(f"topology: {self._path} was changed meanwhile") from error
        except KazooException as error:
            raise StoreUnavailable(f"topology: {error!r}") from error

    async def watch(self) -> AsyncIterator[Topology]:
        changed, outages = asyncio.Event(), Outages(log, "the topology of epoch {} is kept")
        self._client.listen(changed.set)
        try:
            current, _ = await self._read(changed)
            yield current
            while True:
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    pass
                changed.clear()
                try:
                    found, _ = await self._read(changed)
                    is_next = topologies.check_next(current, found)
                except StoreError as error:
                    self._fault = f"epoch {current.epoch} is kept: {error}"
                    outages.failed(str(current.epoch), error)
                    continue
                self._fault = None
                outages.well(str(current.epoch))
                if is_next:
                    current = found
                    yield current
        finally:
            self._client.unlisten(changed.set)

    async def close(self) -> None:
        await self._client.close()

    async def _read(self, changed: asyncio.Event | None = None) -> tuple[Topology, int]:
        """The topology and its node's version. `changed` is set when the node changes again."""
        watch = self._client.on_event(changed.set) if changed is not None else None
        try:
            data, stat = await self._client.call(lambda zk: zk.get_async(self._path, watch=watch))
        except NoNodeError:
            raise topologies.missing(self._path) from None
        except KazooException as error:
            raise StoreUnavailable(f"topology: {error!r}") from error
        return topologies.parse(data), stat.version
