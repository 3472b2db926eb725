"""Gateways that reach the same caches, ZooKeeper and shards over paths of their own, each of which
can be cut or stalled."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass

import pytest

from datasources import circuit
from datasources.circuit import Mode
from datasources.memcached import MemcachedObjectCache
from datasources.protocols import Generations, Reading
from datasources.redis import RedisMappingCache
from datasources.zookeeper import ZooKeeperGenerations, generations
from tests.pinway_process import free_port
from tests.proxy import Proxy, proxied

DEADLINE = 0.25


@contextmanager
def short_leases() -> Iterator[None]:
    """Reader leases, and returns to a cache, by the same rules with shorter times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(circuit, "FIRST_PAUSE", 0.02)
        patch.setattr(circuit, "LONGEST_PAUSE", 0.1)
        patch.setattr(circuit, "STEP", 0.02)
        patch.setattr(circuit, "MOST_GOOD_PROBES", 3)
        patch.setattr(generations, "LEASE_SECONDS", 0.6)
        patch.setattr(generations, "MARGIN", 0.15)
        patch.setattr(generations, "RENEWAL_SECONDS", 0.1)
        yield


@dataclass(frozen=True)
class Servers:
    """The ports of the caches' servers and of ZooKeeper, on this host. `more`: memcached servers
    that the settings don't name."""

    memcached: tuple[int, ...]
    redis: int
    zookeeper: int
    node: str
    more: tuple[int, ...] = ()


@dataclass(frozen=True)
class Paths:
    """One gateway's caches, and its paths to their servers."""

    objects: MemcachedObjectCache
    lists: RedisMappingCache
    generations: Generations | None
    to_memcached: tuple[Proxy, ...]
    to_redis: Proxy
    to_zookeeper: Proxy

    def reads(self) -> bool:
        """Whether this gateway reads all servers of caches."""
        states = self.generations.states() if self.generations is not None else []
        circuits = [*self.objects.circuits(), *self.lists.circuits()]
        return all(state.reading is Reading.LEASED for state in states) and all(
            state.mode is Mode.WELL and not state.owed for state in circuits
        )

    async def until_leased(self) -> None:
        """Wait until this gateway reads all servers."""
        while not self.reads():  # noqa: ASYNC110 nobody tells
            await asyncio.sleep(0.02)

    async def mend(self) -> None:
        for proxy in (*self.to_memcached, self.to_redis, self.to_zookeeper):
            await proxy.mend()


@asynccontextmanager
async def gateway(servers: Servers, *, follows: bool = True) -> AsyncIterator[Paths]:
    """One gateway. It `follows` the generations, or has none."""
    async with AsyncExitStack() as opened:

        async def path(port: int) -> Proxy:
            return await opened.enter_async_context(proxied("127.0.0.1", port, at=free_port()))

        to_memcached = {port: await path(port) for port in (*servers.memcached, *servers.more)}
        to_redis, to_zookeeper = await path(servers.redis), await path(servers.zookeeper)

        async def connect(
            host: str, port: int
        ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await asyncio.open_connection(host, to_memcached[port].port)

        followed = None
        if follows:
            hosts = f"127.0.0.1:{to_zookeeper.port}"
            followed = ZooKeeperGenerations(hosts, servers.node, deadline=0.5)
            followed.start()
        objects = MemcachedObjectCache(
            [("127.0.0.1", port) for port in servers.memcached],
            deadline=DEADLINE,
            generations=followed,
            connect=connect,
        )
        lists = RedisMappingCache(
            f"redis://127.0.0.1:{to_redis.port}/0", deadline=DEADLINE, generations=followed
        )
        proxies = (*to_memcached.values(), to_redis, to_zookeeper)
        found = Paths(objects, lists, followed, *(proxies[:-2],), to_redis, to_zookeeper)
        try:
            await found.until_leased()
            yield found
        finally:
            await found.mend()
            await objects.close()
            await lists.close()
            if followed is not None:
                await followed.close()
