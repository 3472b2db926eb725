"""Keeps the shards and the cache of objects up to date with the topology: watches its source, and
reads it again on demand."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable

from datasources.outages import Outages, backoff
from datasources.protocols import ObjectCache, ShardStore, TopologySource
from datasources.topology import Topology

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds until a failed watch is started again
log = logging.getLogger("pinway.topology")


class Followed:
    """See `datasources.protocols.FollowedTopology`."""

    def __init__(
        self,
        source: TopologySource,
        shards: ShardStore,
        *,
        object_cache: ObjectCache | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        draw: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._source, self._shards, self._sleep, self._draw = source, shards, sleep, draw
        self._object_cache = object_cache
        self._fault: str | None = None
        self._next: asyncio.Task[None] | None = None  # a load that has not begun
        self._loads: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        shards.reload_with(self.reload)

    @property
    def fault(self) -> str | None:
        return self._fault or self._source.fault

    async def load(self) -> Topology:
        return await self._source.load()

    async def save(self, topology: Topology, *, expected_epoch: int | None) -> None:
        await self._source.save(topology, expected_epoch=expected_epoch)

    def watch(self) -> AsyncIterator[Topology]:
        return self._source.watch()

    async def follow(self) -> None:
        outages, tries = Outages(log, "the topology is not followed"), 1
        while True:
            try:
                async for topology in self._source.watch():
                    before = self._shards.objects.topology().epoch
                    self._use(topology)
                    self._fault, tries = None, 1
                    outages.well("")
                    if topology.epoch > before:
                        log.info("the topology of epoch %d is in use", topology.epoch)
            except Exception as error:  # after any error, later topologies must still arrive
                self._fault = str(error) or type(error).__name__
                outages.failed("", error)
            await self._sleep(backoff(FIRST_PAUSE, tries, LONGEST_PAUSE, self._draw))
            tries += 1

    async def reload(self) -> None:
        # A load that is already running may have read the topology before the caller was refused.
        if self._next is None:
            self._next = asyncio.create_task(self._load_and_use())
            self._loads.add(self._next)
            self._next.add_done_callback(self._loads.discard)
        await asyncio.shield(self._next)

    async def close(self) -> None:
        if self._loads:
            await asyncio.wait(self._loads)
        await self._source.close()

    async def _load_and_use(self) -> None:
        async with self._turn:
            self._next = None
            self._use(await self._source.load())

    def _use(self, topology: Topology) -> None:
        # The cache comes first: a write under this topology's epoch must be removed by its lists.
        if self._object_cache is not None:
            self._object_cache.use(topology)
        self._shards.use(topology)
