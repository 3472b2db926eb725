"""Faults at random: paths that are cut or hang, servers that stop and go on, or are killed and
start again empty."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from tests.faults.cache_paths import Paths
from tests.faults.cache_servers import CacheServer
from tests.proxy import Proxy

HOLD, REST = (0.1, 2.5), (0.2, 2.0)
"""Seconds of a fault, and from its end to the next fault of the same series. Two series run at the
same time."""
LATE = 0.4
"""Seconds at most for which answers of a shard's server are late."""


@dataclass(frozen=True)
class Nemesis:
    """`to_shards`: each gateway's paths to the shards' servers. `told` has the faults so far."""

    chooser: random.Random
    gateways: Sequence[Paths]
    to_shards: Sequence[Sequence[Proxy]]
    servers: Sequence[CacheServer]
    told: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Cause faults, some at the same time, until it is cancelled. Then everything is well."""
        faults: list[Callable[[], AbstractAsyncContextManager[None]]] = [
            *[self._path] * 4,
            *[self._apart] * 2,
            self._all_paths,
            self._late_shards,
            self._stop,
            self._restart,
        ]

        async def cause() -> None:
            while True:
                async with self.chooser.choice(faults)():
                    await asyncio.sleep(self.chooser.uniform(*HOLD))
                await asyncio.sleep(self.chooser.uniform(*REST))

        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(cause())

    @asynccontextmanager
    async def _path(self) -> AsyncIterator[None]:
        paths = self.chooser.choice(self.gateways)
        ends = {f"memcached {n}": path for n, path in enumerate(paths.to_memcached)}
        ends |= {"redis": paths.to_redis, "zookeeper": paths.to_zookeeper}
        end = self.chooser.choice([*ends])
        way = self.chooser.choice(["cut", "stall"])
        self._tell(f"{way} {self.gateways.index(paths)} to {end}")
        async with _parted([ends[end]], way):
            yield

    @asynccontextmanager
    async def _apart(self) -> AsyncIterator[None]:
        """One gateway can't reach the caches, and the other gateway can't reach ZooKeeper."""
        writer, reader = self.chooser.sample(self.gateways, 2)
        way = self.chooser.choice(["cut", "stall"])
        self._tell(f"{way} {self.gateways.index(writer)} to all caches, and the other to zookeeper")
        caches = [*writer.to_memcached, writer.to_redis]
        async with _parted([*caches, reader.to_zookeeper], way):
            yield

    @asynccontextmanager
    async def _all_paths(self) -> AsyncIterator[None]:
        paths = self.chooser.choice(self.gateways)
        self._tell(f"stall {self.gateways.index(paths)} to all")
        async with _parted([*paths.to_memcached, paths.to_redis, paths.to_zookeeper], "stall"):
            yield

    @asynccontextmanager
    async def _late_shards(self) -> AsyncIterator[None]:
        paths = self.chooser.choice(self.to_shards)
        self._tell(f"late shards of {self.to_shards.index(paths)}")
        for path in paths:
            path.delay(0.5, self.chooser.uniform(0, LATE))
        try:
            yield
        finally:
            for path in paths:
                path.delay(0.0, 0.0)

    @asynccontextmanager
    async def _stop(self) -> AsyncIterator[None]:
        async with self._server("stop") as server:
            server.stop()
            try:
                yield
            finally:
                server.go_on()

    @asynccontextmanager
    async def _restart(self) -> AsyncIterator[None]:
        async with self._server("kill") as server:
            server.kill()
            try:
                yield
            finally:
                server.start()

    @asynccontextmanager
    async def _server(self, fault: str) -> AsyncIterator[CacheServer]:
        """A server that has no fault."""
        server = self.chooser.choice(self.servers)
        async with server.turn:
            self._tell(f"{fault} server {self.servers.index(server)}")
            yield server

    def _tell(self, fault: str) -> None:
        self.told.append(f"{asyncio.get_running_loop().time():.2f} {fault}")


@asynccontextmanager
async def _parted(paths: Sequence[Proxy], way: str) -> AsyncIterator[None]:
    try:
        for path in paths:
            await path.cut() if way == "cut" else path.stall()
        yield
    finally:
        for path in paths:
            await path.mend()
