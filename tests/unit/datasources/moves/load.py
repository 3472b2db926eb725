"""Gateways that write and read while shards move, and remember which writes were acknowledged."""

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any

from datasources.errors import StaleTopology, StoreConflict, StoreUnavailable
from datasources.sql.engine import Part
from datasources.sql.router import Router
from tests.unit.datasources.moves.model import SHARDS, ModelEngine, World

REFUSALS = (StaleTopology, StoreConflict, StoreUnavailable)


@dataclass
class Gateway:
    """A gateway. `watches`: it receives topologies; otherwise it reads them when necessary.
    `cut_off`: neither."""

    world: World
    watches: bool = True
    cut_off: bool = False
    acknowledged: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    reads: int = 0
    slowest: float = 0.0
    numbers: Any = None

    def __post_init__(self) -> None:
        topology = self.world.topology
        self.router = Router(ModelEngine(self.world, topology), topology, lambda: 0)
        self.router.reload = self.reload

    async def reload(self) -> None:
        await self.world.delay()
        if self.cut_off or not self.world.zookeeper_up:
            raise StoreUnavailable("no ZooKeeper")
        if self.world.topology.epoch > self.router.topology.epoch:
            self.router.use(self.world.topology)

    async def watch(self) -> None:
        while True:
            await self.world.delay(0.4)
            try:
                await self.reload()
            except StoreUnavailable:
                continue

    async def write(self) -> None:
        random, clock = self.world.random, asyncio.get_running_loop().time
        while True:
            await self.world.delay(0.05)
            number, shard = next(self.numbers), random.choice(SHARDS)
            busy = random.uniform(0, 5.0) if random.random() < 0.01 else random.uniform(0, 0.01)
            session: Any = None

            async def work(begun: Any, number: int = number, busy: float = busy) -> list[int]:
                nonlocal session
                session = begun
                await asyncio.sleep(busy)
                begun.numbers.append(number)
                return []

            began = clock()
            try:
                await self.router.write(shard, "write", work)
            except REFUSALS:
                self.refused.add(number)
            else:
                self.acknowledged.add(number)
                self.world.acknowledged[number] = (shard, session.ids[0])
                self.slowest = max(self.slowest, clock() - began - busy)

    async def read(self) -> None:
        while True:
            await self.world.delay(0.05)
            shard = self.world.random.choice(SHARDS)
            known = {id: n for n, (at, id) in self.world.acknowledged.items() if at == shard}
            part = Part(self.router.place(shard), "", "", ())
            try:
                [rows] = await self.router.read("read", [part])
            except REFUSALS:
                continue
            self.reads += 1
            missing = known.items() - set(rows)
            assert not missing, f"shard {shard}: acknowledged rows are missing: {missing}"


def gateways(world: World, *, all_watch: bool) -> list[Gateway]:
    """Two gateways with their writers and readers. The first watches the topology."""
    made = [Gateway(world), Gateway(world, watches=all_watch)]
    numbers = itertools.count()
    world.start(world.flow())
    for gateway in made:
        gateway.numbers = numbers
        if gateway.watches:
            world.start(gateway.watch())
        for work in (gateway.write, gateway.read, gateway.read):
            world.start(work())
    return made


def check(world: World, made: list[Gateway]) -> None:
    """Check that every acknowledged write exists on its shard's server, that no refused write
    exists, and that no write exists twice."""
    found: dict[int, list[tuple[int, int]]] = {}
    for shard in SHARDS:
        [owner] = [s for s in world.servers.values() if s.owns(shard) and not s.dead]
        for id, number in owner.rows[shard].items():
            found.setdefault(number, []).append((shard, id))
    for number, where in world.acknowledged.items():
        assert found.get(number) == [where], f"write {number}: {where}, {found.get(number)}"
    for gateway in made:
        assert not gateway.refused & found.keys()
