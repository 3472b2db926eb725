"""Two gateways with paths of their own to two memcached, a Redis, ZooKeeper and MariaDB, while
paths are cut and servers stop or restart: boards stay linearizable, and no object is read older
than an acknowledged write."""

import asyncio
import random
import secrets
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec
import pytest

from datasources.protocols import Stores
from deploy.stack import Stack
from feed_engine.ordering import arrange
from tests.contract.shards import Deployment
from tests.embedded_stores import stores
from tests.faults.cache_paths import Paths, Servers, gateway, short_leases
from tests.faults.cache_servers import CacheServer
from tests.faults.cache_weaknesses import WEAKNESSES
from tests.faults.memcached_server import memcached
from tests.faults.nemesis import Nemesis
from tests.faults.redis_server import valkey_at
from tests.faults.registers import UNANSWERED, Gateway, OfStores, Register, TooOld
from tests.linearizability import History
from tests.people import People
from tests.proxy import Proxy, proxied
from tests.scale import scaled, seeds
from tests.servers import zookeeper_hosts

__all__ = ["stores"]
pytestmark = pytest.mark.anyio
PAUSES, READERS = (0.02, 0.02, 0.3, 0.3, 4.0, 4.0), 4
"""The longest pause in seconds between two writes of each register, and the readers of each
gateway. A register's first gateway is the same for all of its writes."""
RUNS = 25
CLIENTS, CALLS = 5, scaled(12, 30)


@dataclass(frozen=True)
class Site:
    """The servers, and two gateways."""

    gateways: list[Stores]
    paths: list[Paths]
    to_shards: list[list[Proxy]]
    servers: list[CacheServer]


@asynccontextmanager
async def site(
    base: Stores, deployment: Deployment, zookeeper: int, *, follows: bool = True
) -> AsyncIterator[Site]:
    async with AsyncExitStack() as opened:
        opened.enter_context(short_leases())
        runs = (memcached, memcached, valkey_at)
        caches = [opened.enter_context(CacheServer(run)) for run in runs]
        first, second, redis = (server.port for server in caches)
        node = f"/tests/{uuid.uuid4().hex}/topology.caches"
        servers = Servers((first, second), redis, zookeeper, node)
        found = Site([], [], [], caches)
        for _ in range(2):
            proxies, urls = [], {}
            for name, url in deployment.topology.servers.items():
                port = urlsplit(url).port
                assert port is not None
                proxies.append(await opened.enter_async_context(proxied("127.0.0.1", port)))
                urls[name] = f"mysql://127.0.0.1:{proxies[-1].port}"
            shards = deployment.open(msgspec.structs.replace(deployment.topology, servers=urls))
            opened.push_async_callback(shards.close)
            paths = await opened.enter_async_context(gateway(servers, follows=follows))
            found.paths.append(paths)
            found.to_shards.append(proxies)
            found.gateways.append(
                base._replace(shards=shards, object_cache=paths.objects, mapping_cache=paths.lists)
            )
        yield found


async def until_ended(work: "asyncio.Task[None]", others: list["asyncio.Task[None]"]) -> None:
    """Wait for the work, or for the first failure of the others, which are then cancelled."""
    try:
        await asyncio.wait({work, *others}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (work, *others):
            if not work.done() or task is not work:
                task.cancel()
        ended = await asyncio.gather(work, *others, return_exceptions=True)
    for found in ended:
        if isinstance(found, Exception):
            raise found


@dataclass
class Reading:
    """Clients that write and read pins' titles through both gateways."""

    gateways: Sequence[Gateway]
    chooser: random.Random
    registers: list[Register]
    reads: int = 0

    @classmethod
    async def begin(cls, here: Site, chooser: random.Random, people: People) -> "Reading":
        board = await people.board(await people.user())
        pins = [await people.pin(board) for _ in PAUSES]
        registers = [Register(board.owner_id, pin.id, n) for n, pin in enumerate(pins)]
        begun = cls([OfStores(stores) for stores in here.gateways], chooser, registers)
        for register in registers:
            await register.write(begun.gateways)
        return begun

    def clients(self) -> "list[asyncio.Task[None]]":
        calls = [self._write(*one) for one in zip(self.registers, PAUSES, strict=True)]
        calls += [self._read(gateway) for gateway in self.gateways for _ in range(READERS)]
        return [asyncio.create_task(call) for call in calls]

    async def last(self, seconds: float) -> None:
        """Wait for some seconds, and until there is enough to judge by."""
        await asyncio.sleep(seconds)
        while self.reads < 100 or any(it.acknowledged < 2 for it in self.registers):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _write(self, register: Register, pause: float) -> None:
        while True:
            await register.write(self.gateways)
            await asyncio.sleep(self.chooser.uniform(0.0, pause))

    async def _read(self, gateway: Gateway) -> None:
        while True:
            try:
                await self.chooser.choice(self.registers).read(gateway)
                self.reads += 1
            except UNANSWERED:
                await asyncio.sleep(0.05)
            await asyncio.sleep(self.chooser.uniform(0.0, 0.02))


@asynccontextmanager
async def opened(
    stores: Stores, mysql: Deployment, databases: Stack, *, follows: bool = True
) -> AsyncIterator[Site]:
    zookeeper = int(zookeeper_hosts(databases).rpartition(":")[2])
    async with site(stores, mysql, zookeeper, follows=follows) as made:
        yield made


@pytest.fixture
async def here(
    stores: Stores, mysql: Deployment, databases: Stack, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Site]:
    monkeypatch.setattr(arrange, "CHUNK", 2)
    async with opened(stores, mysql, databases) as made:
        yield made


def people_of(here: Site) -> People:
    return People(here.gateways[0], prefix=f"u{secrets.token_hex(4)}_")


async def read_meanwhile(here: Site, seed: int, seconds: float) -> None:
    """Read and write among faults, for some seconds and until there were many reads and some writes
    of each register. Raises AssertionError for a read that is older than an acknowledged write."""
    chooser = random.Random(seed)
    reading = await Reading.begin(here, chooser, people_of(here))
    nemesis = Nemesis(chooser, here.paths, here.to_shards, here.servers)
    running = [*reading.clients(), asyncio.create_task(nemesis.run())]
    try:
        await until_ended(asyncio.create_task(reading.last(seconds)), running)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, faults: {nemesis.told}") from error


@pytest.mark.parametrize("seed", seeds(1, 20))
async def test_no_reader_gets_an_object_older_than_an_acknowledged_write(
    here: Site, seed: int
) -> None:
    await read_meanwhile(here, seed, scaled(5.0, 20.0))


@pytest.mark.parametrize("seed", seeds(1, 20))
async def test_boards_are_linearizable_while_paths_and_caches_fail(here: Site, seed: int) -> None:
    chooser = random.Random(seed)
    history = History(people_of(here), chooser, gateways=here.gateways)
    await history.begin()
    nemesis = Nemesis(chooser, here.paths, here.to_shards, here.servers)
    work = asyncio.create_task(history.run(clients=CLIENTS, calls=CALLS))
    try:
        await until_ended(work, [asyncio.create_task(nemesis.run())])
        await history.check()
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, faults: {nemesis.told}") from error
    assert history.refused < len(history.calls) / 2


@pytest.mark.nightly
@pytest.mark.parametrize("name", WEAKNESSES)
async def test_each_protection_that_is_left_out_is_missed(
    stores: Stores,
    mysql: Deployment,
    databases: Stack,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """The check would see a fault of the caches: without a protection, some reader gets an older
    value within a few runs."""
    follows = WEAKNESSES[name](monkeypatch)
    for seed in range(RUNS):
        async with opened(stores, mysql, databases, follows=follows) as here:
            try:
                await read_meanwhile(here, seed, 10.0)
            except AssertionError as error:
                if isinstance(error.__cause__, TooOld):
                    return
                raise
    pytest.fail(f"{RUNS} runs saw nothing of: {name}")
