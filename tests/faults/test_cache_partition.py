"""A gateway that can't reach a cache that another gateway reads: its writes are acknowledged, and
nobody reads a value that is older."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from datasources.errors import StoreError
from datasources.mappings import Edge, ListKey, ListMove, Mapping, PageRequest
from datasources.protocols import Lease, Window
from deploy.stack import Stack
from gateway.observe import health
from gateway.observe.stores import GenerationCollector
from tests.faults.cache_paths import Paths, Servers, gateway, short_leases
from tests.faults.memcached_server import memcached
from tests.faults.redis_server import valkey_at
from tests.pinway_process import free_port
from tests.proxy import Proxy
from tests.servers import zookeeper_hosts

pytestmark = pytest.mark.anyio
ID = 7
KEY = ListKey(Mapping.BOARD_HAS_PINS, ID)
OLD, NEW = 1, 2


class Entry(NamedTuple):
    """One entry of a cache, whose values are versions, as one gateway uses it."""

    ask: Callable[[], Awaitable[int | Lease | None]]
    fill: Callable[[Lease, int], Awaitable[None]]
    drop: Callable[[], Awaitable[None]]
    path: Proxy
    paths: Paths

    async def answer(self) -> int | Lease | None:
        """The cache's answer; None if it fails."""
        try:
            return await self.ask()
        except StoreError:
            return None

    async def put(self, version: int) -> None:
        """Put a version in the cache, whatever it has."""
        while await self.answer() != version:
            await self.drop()
            lease = await self.answer()
            if isinstance(lease, Lease):
                await self.fill(lease, version)
            await asyncio.sleep(0.01)


def of_memcached(paths: Paths) -> Entry:
    async def ask() -> int | Lease | None:
        found = (await paths.objects.get([ID])).get(ID)
        return int(found) if isinstance(found, bytes) else found

    async def fill(lease: Lease, version: int) -> None:
        await paths.objects.fill([(lease, b"%d" % version)])

    return Entry(ask, fill, lambda: paths.objects.drop([ID]), paths.to_memcached[0], paths)


def of_redis(paths: Paths) -> Entry:
    async def ask() -> int | Lease | None:
        (found,) = await paths.lists.pages([PageRequest(KEY, 1)])
        return found[0].sequence if isinstance(found, list) else found

    async def fill(lease: Lease, version: int) -> None:
        await paths.lists.fill_pages([(lease, Window([Edge(ID, 1, version, 0)], True))])

    return Entry(ask, fill, lambda: paths.lists.drop([KEY]), paths.to_redis, paths)


ENTRIES = {"objects": of_memcached, "lists": of_redis}


@pytest.fixture(scope="module")
def servers(databases: Stack) -> Iterator[Servers]:
    one, redis = free_port(), free_port()
    zookeeper = int(zookeeper_hosts(databases).rpartition(":")[2])
    with short_leases(), memcached(one), valkey_at(redis):
        yield Servers((one,), redis, zookeeper, f"/tests/{uuid.uuid4().hex}/topology.caches")


@pytest.fixture
async def both(servers: Servers) -> AsyncIterator[list[Paths]]:
    async with AsyncExitStack() as opened:
        yield await asyncio.gather(
            *(opened.enter_async_context(gateway(servers)) for _ in range(2))
        )


async def part(path: Proxy, way: str) -> None:
    if way == "refused":
        await path.cut()
    else:
        path.stall()


@pytest.mark.parametrize("kind", ENTRIES)
@pytest.mark.parametrize("way", ["refused", "hangs"])
async def test_a_write_that_can_not_reach_the_cache_is_acknowledged_and_seen_by_all(
    both: list[Paths], kind: str, way: str
) -> None:
    here, there = map(ENTRIES[kind], both)
    await there.put(OLD)
    await part(here.path, way)
    await here.drop()
    assert await there.answer() != OLD
    assert await here.answer() != OLD
    await here.path.mend()
    while not isinstance(lease := await there.answer(), Lease):
        assert lease is None
        await asyncio.sleep(0.01)
    await there.fill(lease, NEW)
    assert await there.answer() == NEW


@pytest.mark.parametrize("kind", ENTRIES)
async def test_a_reader_that_asked_before_the_write_fills_nothing_for_readers_after_it(
    both: list[Paths], kind: str
) -> None:
    here, there = map(ENTRIES[kind], both)
    await there.drop()
    lease = await there.ask()
    assert isinstance(lease, Lease)
    await here.path.cut()
    await here.drop()
    await there.fill(lease, OLD)
    await here.path.mend()
    await there.paths.until_leased()
    assert await there.answer() != OLD


@pytest.mark.parametrize("kind", ENTRIES)
async def test_a_gateway_without_zookeeper_stops_reading_before_the_write_is_acknowledged(
    both: list[Paths], kind: str
) -> None:
    here, there = map(ENTRIES[kind], both)
    await there.put(OLD)
    there.paths.to_zookeeper.stall()
    await here.path.cut()
    await here.drop()
    assert await there.answer() is None


@pytest.mark.parametrize("kind", ENTRIES)
async def test_a_write_that_reaches_neither_the_cache_nor_zookeeper_is_not_acknowledged(
    both: list[Paths], kind: str
) -> None:
    here, there = map(ENTRIES[kind], both)
    await there.put(OLD)
    await here.paths.to_zookeeper.cut()
    await here.path.cut()
    with pytest.raises(StoreError):
        await here.drop()


@pytest.mark.parametrize("kind", ENTRIES)
async def test_writes_to_a_cache_that_is_away_wait_once(both: list[Paths], kind: str) -> None:
    here, there = map(ENTRIES[kind], both)
    await there.put(OLD)
    here.path.stall()
    await here.drop()
    trips = here.path.trips
    async with asyncio.timeout(10):  # if each write waited for the cache, 20 would take 20 s
        for _ in range(20):
            await here.drop()
    await here.path.mend()
    assert here.path.trips <= trips + 20  # probes alone
    await there.paths.until_leased()
    assert await there.answer() != OLD


@pytest.mark.parametrize("kind", ENTRIES)
async def test_readiness_and_metrics_tell_which_process_shut_the_cache(
    both: list[Paths], kind: str
) -> None:
    here, there = map(ENTRIES[kind], both)
    await there.put(OLD)
    await here.path.cut()
    await here.drop()

    def told(entry: Entry) -> str:
        paths = entry.paths
        stores: Any = SimpleNamespace(generations=paths.generations, object_cache=paths.objects)
        return " ".join(health.not_read(stores).values())

    def shuts(entry: Entry) -> list[float]:
        stores: Any = SimpleNamespace(generations=entry.paths.generations)
        found = [m for m in GenerationCollector(stores).collect() if m.name.endswith("_shuts")]
        return sorted({sample.value for metric in found for sample in metric.samples})

    async with asyncio.timeout(60):
        while "this process can't remove" not in told(here):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        while "another process can't remove" not in told(there):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert (shuts(here), shuts(there)) == ([0.0, 1.0], [0.0])
    await here.path.mend()
    for entry in (here, there):
        await entry.paths.until_leased()
        assert told(entry) == ""
        assert shuts(entry) == [0.0]


async def test_one_lost_answer_does_not_shut_the_cache(
    both: list[Paths], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = map(of_memcached, both)
    await there.put(OLD)
    monkeypatch.setattr(here.paths.objects, "_deadline", 60.0)  # for the next try on a busy machine
    here.path.delay(1.0, 3600.0)
    trips = here.path.trips
    dropping = asyncio.create_task(here.drop())
    while here.path.trips == trips:  # noqa: ASYNC110 nothing tells
        await asyncio.sleep(0.01)
    here.path.delay(0.0, 0.0)
    await here.path.lose()
    await dropping
    assert here.paths.generations is not None
    assert sum(state.raised for state in here.paths.generations.states()) == 0
    assert await there.answer() != OLD


async def test_a_list_of_a_lost_branch_of_history_is_not_read_after_an_unplanned_promotion(
    both: list[Paths],
) -> None:
    """The old master committed a move that its slave never got, and a reader cached the board as
    after it. The new master gives the same version to another move, which the cache then takes for
    a move that it has already followed."""
    here, there = map(of_redis, both)
    lost = Window([Edge(ID, 1, 50, 0), Edge(ID, 2, 20, 0)], True, version=2)
    while not isinstance(lease := await there.answer(), Lease):
        await there.drop()
    await there.paths.lists.fill_pages([(lease, lost)])
    assert here.paths.generations is not None
    await here.paths.generations.raise_all()
    await here.paths.lists.move([ListMove(KEY, 2, old=20, new=60, version=2)])
    assert await there.answer() != 50
