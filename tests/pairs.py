"""Pairs of MariaDB servers with a ZooKeeper, without the rest of the stack; and a load of writes
that remembers which were acknowledged."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner

from datasources.errors import StaleTopology, StoreError
from datasources.ids import Kind
from datasources.mysql import MySqlShards
from datasources.mysql.replication.admin import Admin
from datasources.topology import ModShards, ShardRange, Topology
from datasources.topology_watch import Followed
from datasources.zookeeper import ZooKeeperTopology
from deploy.stack import Stack
from deploy.stack.mariadb import MariaDB, topology_name
from gateway.cli import main
from tests.scale import scaled

SHARDS = 4
numbers = itertools.count()
"""Numbers of pins. All loads share them, so that no two pins have the same number."""


@dataclass
class Pairs:
    """`count` pairs; the first has the shards 0 to 3, and mod shards 0 and 1."""

    stack: Stack
    count: int

    @property
    def zookeeper(self) -> str:
        return f"127.0.0.1:{self.stack.services['zookeeper'].port}"

    @property
    def names(self) -> list[str]:
        return [f"mysql{n:03d}{side}" for n in range(1, self.count + 1) for side in "ab"]

    def server(self, name: str) -> MariaDB:
        """The server with this name in the topology or in the stack."""
        found = self.stack.services[name.lower()]
        assert isinstance(found, MariaDB)
        return found

    def topology(self) -> Topology:
        servers = {
            topology_name(n): f"mysql://127.0.0.1:{self.stack.services[n].port}" for n in self.names
        }
        first, second = map(topology_name, self.names[:2])
        return Topology(
            1,
            servers,
            (ShardRange((0, SHARDS - 1), first, second),),
            ModShards(2, (ShardRange((0, 1), first, second),)),
        )

    def admin(self, name: str) -> Admin:
        settings = self.stack.settings
        return Admin(
            name,
            f"mysql://127.0.0.1:{self.server(name).port}",
            settings["mysql.operator_user"],
            settings["mysql.operator_password"],
        )

    def run(self, *words: str) -> tuple[int, str]:
        """Run `pinway shards`. Returns the exit status and the output."""
        password = self.stack.secrets.replica_password
        done = CliRunner(env={"PINWAY_REPLICA_PASSWORD": password}).invoke(
            main, ["shards", *words, "--config", str(self.stack.settings_file)]
        )
        return done.exit_code, done.output

    async def done(self, *words: str) -> str:
        """Run `pinway shards`, which must succeed, and return its output."""
        status, output = await asyncio.to_thread(self.run, *words)
        assert status == 0, output
        return output

    async def saved(self) -> Topology:
        source = ZooKeeperTopology(self.zookeeper, "/pinway/topology")
        topology = await source.load()
        await source.close()
        return topology

    async def current(self) -> tuple[str, str | None]:
        """The master and the slave of the shards."""
        [first, *_] = (await self.saved()).shards
        return first.master, first.slave

    async def both(self) -> tuple[str, str]:
        """The master and the slave of the shards, which have a slave."""
        master, slave = await self.current()
        assert slave is not None
        return master, slave

    async def lone_gateway(self) -> MySqlShards:
        """The shards of a gateway that never receives another topology."""
        settings = self.stack.settings
        return MySqlShards(
            await self.saved(), user=settings["mysql.user"], password=settings["mysql.password"]
        )

    @asynccontextmanager
    async def gateway(self, *, deadline: float = 2.0) -> AsyncIterator[MySqlShards]:
        """The shards of a gateway that follows the topology."""
        source = ZooKeeperTopology(self.zookeeper, "/pinway/topology")
        shards = MySqlShards(
            await source.load(),
            user=self.stack.settings["mysql.user"],
            password=self.stack.settings["mysql.password"],
            deadline=deadline,
        )
        followed = Followed(source, shards)
        task = asyncio.create_task(followed.follow())
        try:
            yield shards
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await followed.close()
            await shards.close()


async def insert_pin(shards: MySqlShards, data: bytes, shard: int = 0) -> int:
    return await shards.objects.transact(shard, lambda tx: tx.insert(Kind.PIN, data))


class Kept:
    """The servers that tests share. They are started when first needed."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._running = ExitStack()
        self._pairs: Pairs | None = None

    def get(self) -> Pairs:
        if self._pairs is None:
            self._pairs = self._running.enter_context(started(self._folders.mktemp("pairs")))
        return self._pairs

    def stop(self) -> None:
        """Stop the servers. The next test gets new ones."""
        self._pairs = None
        self._running.close()


@pytest.fixture(scope="session")
def kept_pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    kept = Kept(tmp_path_factory)
    yield kept
    kept.stop()


@pytest.fixture
def pairs(kept_pairs: Kept, request: pytest.FixtureRequest) -> Iterator[Pairs]:
    """Two pairs with created shards. A test leaves all servers running, with a slave for each
    master, and no move; after a failed test the servers are replaced."""
    failed = request.session.testsfailed
    yield kept_pairs.get()
    if request.session.testsfailed > failed:
        kept_pairs.stop()


@contextmanager
def started(folder: Path) -> Iterator[Pairs]:
    """Two pairs in `folder` with created shards, stopped at the end."""
    with servers(folder, SHARDS) as made:
        asyncio.run(_install(made))
        yield made


@contextmanager
def servers(folder: Path, shards: int, count: int = 2) -> Iterator[Pairs]:
    """`count` pairs in `folder` without shards, and ZooKeeper, stopped at the end."""
    stack = Stack(folder, shards, 2)
    stack.up(set_up_only=True)
    made = Pairs(stack, count)
    names = ["zookeeper", *made.names]
    try:
        for name in names:
            stack.services[name].start()
        for name in names:
            stack.services[name].wait_ready(600)
        yield made
    finally:
        stack.down()


async def _install(pairs: Pairs) -> None:
    source = ZooKeeperTopology(pairs.zookeeper, "/pinway/topology")
    await source.save(pairs.topology(), expected_epoch=None)
    await source.close()
    async with pairs.gateway(deadline=120.0) as shards:
        await shards.create()
    master, slave = (pairs.admin(topology_name(name)) for name in pairs.names[:2])
    [[position]] = await master.run("SELECT @@gtid_binlog_pos")
    assert await slave.run("SELECT MASTER_GTID_WAIT(%s, 600)", (position,)) == [(0,)]
    await master.close()
    await slave.close()


@dataclass
class Load:
    """Writers that repeatedly insert a pin with a new number, over all shards, with `pause` seconds
    after each write."""

    shards: MySqlShards
    pause: float = scaled(0.05, 0.02)
    acknowledged: dict[int, int] = field(default_factory=dict)  # number → id
    refused: set[int] = field(default_factory=set)  # certainly not written
    unknown: set[int] = field(default_factory=set)
    slowest: float = 0.0
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def running(self, writers: int = 4) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._write()) for _ in range(writers)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def acknowledge(self, count: int) -> None:
        """Wait until `count` more writes were acknowledged."""
        wanted = len(self.acknowledged) + count
        async with asyncio.timeout(600):
            while len(self.acknowledged) < wanted:
                self._more.clear()
                await self._more.wait()

    async def check(self) -> None:
        """Check that every acknowledged write exists, that no refused write exists, and that no
        write exists twice. Rows of other tests may have any number."""
        found: dict[int, list[int]] = {}
        ids = {id: number for number, id in self.acknowledged.items()}
        got = await self.shards.objects.get(list(ids))
        lost = sorted(number for id, number in ids.items() if got.get(id) != b"%d" % number)
        assert not lost, f"{len(lost)} of {len(ids)} acknowledged writes are lost, as {lost[:5]}"
        for shard in range(SHARDS):
            for number, id in await self._all(shard):
                found.setdefault(number, []).append(id)
        own = self.acknowledged.keys() | self.refused | self.unknown
        twice = {n: where for n, where in found.items() if n in own and len(where) > 1}
        assert not twice
        assert not self.refused & found.keys()

    async def _all(self, shard: int) -> list[tuple[int, int]]:
        router = self.shards._router

        async def read(session: object) -> list[tuple[int, int]]:
            rows = await session.run("test", "SELECT data, local_id FROM {db}.pins")  # type: ignore[attr-defined]
            # Pins of other tests' gateways are JSON.
            return [(int(data), id) for data, id in rows.rows if not data.startswith(b"{")]

        return await router.write(shard, "test", read)

    async def _write(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            number = next(numbers)
            began = clock()
            try:
                id = await self.shards.objects.transact(
                    number % SHARDS, lambda tx, n=number: tx.insert(Kind.PIN, b"%d" % n)
                )
            except StaleTopology:
                self.refused.add(number)
                await asyncio.sleep(0.05)
            except StoreError:
                self.unknown.add(number)
                await asyncio.sleep(0.05)
            else:
                self.acknowledged[number] = id
                self._more.set()
                self.slowest = max(self.slowest, clock() - began)
                await asyncio.sleep(self.pause)
