"""A model of servers with logs and channels, of ZooKeeper, and of gateways with the real router.

Everything runs in virtual time, so seconds take milliseconds, and a seed determines everything.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from datasources.errors import StaleTopology, StoreConflict, StoreUnavailable
from datasources.replication import moves, topologies
from datasources.replication.mover import APPLY_SECONDS
from datasources.replication.moves import Move, Owners
from datasources.replication.sides import Channel, Flow, Report
from datasources.replication.steps import Progress
from datasources.sql.dialect import MYSQL
from datasources.sql.engine import Fence, Part, Place, Row, shard_at
from datasources.sql.owners import check_owned
from datasources.topology import ModShards, ShardRange, Topology, check_next

SHARDS = range(4)
LOCK_SECONDS = 0.5


class Killed(BaseException):
    """Represents the end of the mover's process."""


class Written(NamedTuple):
    """A row; without an id, a fence; without a value, the end of a shard's database."""

    shard: int
    id: int | None
    value: Any


class Group(NamedTuple):
    """A transaction in a log."""

    origin: str
    changes: tuple[Written, ...]


@dataclass
class Flowing:
    """A channel on a server. `stuck`: it applies nothing; `broken`: it never will again."""

    source: str
    shards: frozenset[int]
    at: int
    running: bool = False
    stuck: bool = False
    broken: str = ""


@dataclass
class Server:
    name: str
    fences: dict[int, tuple[int, str]] = field(default_factory=dict)
    rows: dict[int, dict[int, int]] = field(default_factory=dict)
    log: list[Group] = field(default_factory=list)
    epoch: int = 1
    sharing: dict[int, int] = field(default_factory=dict)
    excluded: set[int] = field(default_factory=set)
    channels: dict[str, Flowing] = field(default_factory=dict)
    dead: bool = False

    def apply(self, origin: str, changes: Sequence[Written]) -> None:
        for change in changes:
            if change.value is None:
                self.rows[change.shard] = {}
                self.fences.pop(change.shard, None)
            elif change.id is None:
                self.fences[change.shard] = change.value
            else:
                self.rows.setdefault(change.shard, {})[change.id] = change.value
        self.log.append(Group(origin, tuple(changes)))

    def set_owner(self, shards: Collection[int], owner: str, epoch: int) -> None:
        fences = {shard: (max(self.fences[shard][0], epoch), owner) for shard in shards}
        self.apply(self.name, [Written(shard, None, fence) for shard, fence in fences.items()])

    def owns(self, shard: int) -> bool:
        return shard in self.fences and self.fences[shard][1] == self.name


class World:
    """Servers `s`, which has all shards at the start, and `t`; and ZooKeeper's data."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.servers = {name: Server(name) for name in ("s", "t")}
        for shard in SHARDS:
            self.servers["s"].fences[shard] = (1, "s")
            self.servers["s"].rows[shard] = {}
        urls = {name: f"mysql://{name}:1" for name in ("s", "s2", "t")}
        mod = ModShards(1, (ShardRange((0, 0), "s", "s2"),))
        self.topology = Topology(1, urls, (ShardRange((0, SHARDS[-1]), "s", "s2"),), mod)
        self.record: bytes | None = None
        self.zookeeper_up = True
        self.acknowledged: dict[int, tuple[int, int]] = {}  # number → shard, id
        self.hangs = 0.0  # the share of hand-overs during which the target applies nothing
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, work: Awaitable[None]) -> None:
        self._tasks.append(asyncio.ensure_future(work))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for done in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(done, BaseException) and not isinstance(done, asyncio.CancelledError):
                raise done

    def server(self, name: str) -> Server:
        """The server. Raises StoreUnavailable if it is dead."""
        if self.servers[name].dead:
            raise StoreUnavailable(f"{name}: it is dead")
        return self.servers[name]

    async def hang(self, server: str, source: str) -> None:
        """Make a channel apply nothing for a while, during which a hand-over may be undone."""
        channel = self.servers[server].channels[source]
        channel.stuck = True
        # Often it continues just when the hand-over is being undone.
        often = self.random.uniform(APPLY_SECONDS, APPLY_SECONDS + 0.3)
        await asyncio.sleep(self.random.choice([often, self.random.uniform(0, 5.0)]))
        channel.stuck = False

    def promote(self) -> None:
        """Let `s` die, and its slave `s2`, which has received everything, take its place."""
        old = self.servers["s"]
        old.dead = True
        self.topology = topologies.promoted(self.topology, "s", "s2")
        epoch = self.topology.epoch
        fences = {n: (epoch, "s2") if f[1] == "s" else f for n, f in old.fences.items()}
        rows = {shard: dict(rows) for shard, rows in old.rows.items()}
        self.servers["s2"] = Server("s2", fences, rows, epoch=epoch)
        if self.record is not None:
            self.record = moves.encode(moves.succeeded(moves.decode(self.record), "s", "s2"))

    async def delay(self, most: float = 0.004) -> None:
        await asyncio.sleep(self.random.uniform(0, most))

    async def flow(self) -> None:
        """Apply the received transactions of all channels, one after another."""
        while True:
            await self.delay(0.04)
            for server in self.servers.values():
                for channel in server.channels.values():
                    self._advance(server, channel)

    def _advance(self, server: Server, channel: Flowing) -> None:
        if server.dead or self.servers[channel.source].dead:
            return
        log = self.servers[channel.source].log
        for _ in range(self.random.randrange(8)):
            if not channel.running or channel.stuck or channel.broken or channel.at >= len(log):
                return
            origin, changes = log[channel.at]
            channel.at += 1
            mine = [c for c in changes if c.shard in channel.shards]
            if origin == server.name or not mine:
                continue
            for change in mine:
                if change.id is not None and change.id in server.rows.get(change.shard, {}):
                    channel.broken = f"duplicate row {change}"
                    return
            server.apply(origin, mine)
            self.check_owners()

    def check_owners(self) -> None:
        """Check that no shard is open on two servers."""
        for shard in SHARDS:
            owners = [s.name for s in self.servers.values() if s.owns(shard) and not s.dead]
            assert len(owners) < 2, f"shard {shard} is open on {owners}"


class ModelSides:
    """`Sides` on the model. `seam` is called between any two effects, and may raise Killed."""

    def __init__(self, world: World, seam: Callable[[], None]) -> None:
        self._world, self._seam = world, seam

    async def owners(self, server: str, shards: Collection[int]) -> Owners:
        await self._effect()
        fences = self._world.server(server).fences
        return {shard: fences[shard][1] if shard in fences else None for shard in shards}

    async def copy(
        self, source: str, target: str, shards: Collection[int], progress: Progress
    ) -> None:
        await self._effect()
        read, written = self._world.server(source), self._world.server(target)
        for shard in shards:
            assert not written.owns(shard), "a copy over the shard itself"
        at = len(read.log)
        rows = {shard: dict(read.rows[shard]) for shard in shards}
        fences = {shard: read.fences[shard] for shard in shards}
        for shard in shards:
            written.apply(source, [Written(shard, None, None)])
            await self._effect()
            copied = [Written(shard, id, value) for id, value in rows[shard].items()]
            written.apply(source, [*copied, Written(shard, None, fences[shard])])
            await self._effect()
        written.channels[source] = Flowing(source, frozenset(shards), at)
        await self._effect()

    async def connect(self, source: str, target: str, shards: Collection[int]) -> None:
        await self._effect()
        at = len(self._world.server(source).log)
        self._world.server(target).channels[source] = Flowing(source, frozenset(shards), at)
        await self._effect()

    async def follow(self, source: str, target: str) -> None:
        await self._effect()
        channel = self._world.server(target).channels.get(source)
        if channel is not None:
            channel.running = True
        await self._effect()

    async def channel(self, source: str, target: str) -> Channel:
        await self._effect()
        self._world.server(source)
        channel = self._world.server(target).channels.get(source)
        if channel is None or channel.broken:
            return Channel(Flow.LOST, "none" if channel is None else channel.broken)
        behind = len(self._world.server(source).log) - channel.at
        if not channel.running or channel.stuck or behind > 20:
            return Channel(Flow.LATE, f"{behind} behind")
        return Channel(Flow.ALIVE)

    async def stop(self, source: str, target: str) -> None:
        await self._effect()
        channel = self._world.server(target).channels.get(source)
        if channel is not None:
            channel.running = False
        await self._effect()

    async def leave(self, source: str, target: str) -> None:
        await self._effect()
        self._world.server(target).channels.pop(source, None)
        await self._effect()

    async def verify(
        self, source: str, target: str, shards: Collection[int], progress: Progress, *, repair: bool
    ) -> Report:
        await self._effect()
        return Report(0, 0.0, (), False)

    async def hand(self, source: str, target: str, shards: Collection[int], epoch: int) -> bool:
        await self._effect()
        server, waited = self._world.server(source), 0.0
        try:
            for shard in shards:
                server.excluded.add(shard)
                while server.sharing.get(shard):
                    await asyncio.sleep(0.01)
                    waited += 0.01
                    if waited > LOCK_SECONDS:
                        return False
            await self._effect()
            self._world.server(source)
            for shard in shards:
                assert server.owns(shard)
            server.epoch = max(server.epoch, epoch)
            server.set_owner(shards, target, epoch)
            if self._world.random.random() < self._world.hangs:
                self._world.start(self._world.hang(target, source))
        finally:
            server.excluded -= set(shards)
        await self._effect()
        return True

    async def take_back(
        self, source: str, target: str, shards: Collection[int], epoch: int
    ) -> None:
        await self._effect()
        server = self._world.server(source)
        closed = [shard for shard in shards if server.fences[shard][1] == target]
        server.set_owner(closed, source, epoch)
        await self._effect()

    async def drop(self, server: str, shards: Collection[int]) -> None:
        await self._effect()
        for shard in shards:
            assert not self._world.server(server).owns(shard)
            self._world.server(server).fences.pop(shard, None)
        await self._effect()

    async def _effect(self) -> None:
        self._seam()
        await self._world.delay()
        self._seam()


class ModelRecords:
    def __init__(self, world: World, seam: Callable[[], None]) -> None:
        self._world, self._seam = world, seam

    async def save(self, move: Move) -> None:
        await self._call()
        self._world.record = moves.encode(move)
        self._seam()

    async def topology(self) -> Topology:
        await self._call()
        return self._world.topology

    async def replace(self, topology: Topology, *, expected_epoch: int) -> None:
        await self._call()
        if self._world.topology.epoch != expected_epoch:
            raise StoreConflict("the topology was changed")
        assert check_next(self._world.topology, topology)
        self._world.topology = topology
        self._seam()

    async def _call(self) -> None:
        self._seam()
        await self._world.delay()
        if not self._world.zookeeper_up:
            raise StoreUnavailable("no ZooKeeper")


class ModelSession:
    """A transaction, which may insert rows of one shard."""

    turn: Any = None

    def __init__(self, place: Place, fence: Fence | None) -> None:
        self.place, self.fence = place, fence
        self.numbers: list[int] = []
        self.ids: list[int] = []


class ModelEngine:
    """`datasources.sql.engine.Engine` on the model's servers."""

    dialect = MYSQL

    def __init__(self, world: World, topology: Topology) -> None:
        self._world, self._topology = world, topology

    def use(self, topology: Topology) -> None:
        self._topology = topology

    def confirm_with(self, confirm: Callable[[], Awaitable[None]]) -> None:
        return

    async def read(self, operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        """The rows (id, number) of each part's shard, as `MySqlEngine` reads them."""
        topology = self._topology
        answers: list[list[Row]] = []
        for part in parts:
            server, shard = self._world.server(part.place.server), shard_at(part.place)[1]
            moving = [part.place] if topology.moving_of(shard) is not None else []
            before = self._fences(server, moving)
            await self._world.delay()
            answers.append([(id, n) for id, n in server.rows.get(shard, {}).items()])
            await self._world.delay()
            check_owned(moving, before, self._fences(server, moving))
            if server.epoch > topology.epoch:
                raise StaleTopology(f"{server.name} has epoch {server.epoch}")
        return answers

    @asynccontextmanager
    async def begin(self, place: Place, commit: str) -> AsyncIterator[ModelSession]:
        server, shard = self._world.server(place.server), shard_at(place)[1]
        await self._world.delay()
        while shard in server.excluded:
            await self._world.delay(0.004)
        server.sharing[shard] = server.sharing.get(shard, 0) + 1
        try:
            fence = server.fences.get(shard)
            session = ModelSession(place, None if fence is None else Fence(*fence, server.name))
            yield session
            if session.numbers:
                self._commit(server, shard, session)
        finally:
            server.sharing[shard] -= 1
        await self._world.delay()

    def _commit(self, server: Server, shard: int, session: ModelSession) -> None:
        self._world.server(server.name)
        self._world.check_owners()
        assert server.owns(shard), f"shard {shard} is written on {server.name}"
        first = max(server.rows[shard], default=0) + 1
        session.ids = list(range(first, first + len(session.numbers)))
        rows = zip(session.ids, session.numbers, strict=True)
        server.apply(server.name, [Written(shard, id, number) for id, number in rows])

    def _fences(self, server: Server, places: Sequence[Place]) -> list[Row]:
        found: list[Row] = []
        for number, place in enumerate(places):
            fence = server.fences.get(shard_at(place)[1])
            if fence is not None:
                found.append((number, *fence, server.name))
        return found
