"""Switches in one ZooKeeper node beside the topology's: replaced by version, and watched."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping

from kazoo.exceptions import BadVersionError, KazooException, NodeExistsError, NoNodeError

from datasources import switches
from datasources.errors import StoreConflict, StoreError, StoreUnavailable
from datasources.outages import Outages
from datasources.zookeeper.client import Client
from datasources.zookeeper.topology import LOOK_SECONDS

ATTEMPTS = 50
"""Attempts of a change when other changes come first. Of many concurrent changes, one succeeds in
each round."""
PAUSE = 0.02
"""The longest time between two attempts, in seconds. Each time is random, so that the same writers
don't meet again."""
log = logging.getLogger("pinway.switches")


class ZooKeeperSwitches:
    """Switches at node `path` of the ensemble `hosts` ("host:port[,host:port]")."""

    def __init__(self, hosts: str, path: str, *, deadline: float = 5.0) -> None:
        self._path = "/" + path.strip("/")
        self._client = Client(hosts, deadline)

    async def load(self) -> dict[str, str]:
        found, _ = await self._read()
        return found

    async def change(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        for _ in range(ATTEMPTS):
            found, version = await self._read()
            now = switches.changed(found, changes)
            try:
                await self._write(switches.dump(now), version)
            except (NodeExistsError, BadVersionError, NoNodeError):
                await asyncio.sleep(random.uniform(0, PAUSE))
                continue
            except KazooException as error:
                raise StoreUnavailable(f"switches: {error!r}") from error
            return now
        raise StoreConflict(f"switches: {self._path} is changed by others all the time")

    async def watch(self) -> AsyncIterator[dict[str, str]]:
        """Watch the node as the topology's watch does: read the node again after any event."""
        changed, outages = asyncio.Event(), Outages(log, "the last switches stay in effect")
        self._client.listen(changed.set)
        current: dict[str, str] | None = None
        try:
            while True:
                changed.clear()
                try:
                    found, _ = await self._read(changed)
                except StoreError as error:
                    outages.failed("", error)
                else:
                    outages.well("")
                    if found != current:
                        current = found
                        yield dict(found)
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    pass
        finally:
            self._client.unlisten(changed.set)

    async def close(self) -> None:
        await self._client.close()

    async def _read(
        self, changed: asyncio.Event | None = None
    ) -> tuple[dict[str, str], int | None]:
        """The switches and the node's version; None if there is no node. A missing node is watched,
        too."""
        watch = self._client.on_event(changed.set) if changed is not None else None
        try:
            if watch is not None:
                await self._client.call(lambda zk: zk.exists_async(self._path, watch=watch))
            data, stat = await self._client.call(lambda zk: zk.get_async(self._path))
        except NoNodeError:
            return {}, None
        except KazooException as error:
            raise StoreUnavailable(f"switches: {error!r}") from error
        return switches.parse(data, self._path), stat.version

    async def _write(self, data: bytes, version: int | None) -> None:
        if version is None:
            await self._client.call(lambda zk: zk.create_async(self._path, data, makepath=True))
        else:
            await self._client.call(lambda zk: zk.set_async(self._path, data, version=version))
