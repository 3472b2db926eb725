"""The list of memcached servers is changed while two gateways read and write over paths of their
own, one of which is slow, hangs, or can't reach a cache: no object is read older than an
acknowledged write."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from datasources import protocols
from datasources.cache_lists import CacheLists
from datasources.memcached import MemcachedObjectCache
from datasources.memcached.placement import Placement
from datasources.mysql import MySqlShards
from datasources.mysql.replication import fences
from datasources.protocols import Stores
from datasources.topology_watch import Followed
from datasources.zookeeper import ZooKeeperGenerations, ZooKeeperTopology
from tests.embedded_stores import stores, valkey
from tests.faults.cache_paths import Paths, Servers, gateway, short_leases
from tests.faults.cache_servers import CacheServer
from tests.faults.memcached_server import memcached
from tests.faults.redis_server import valkey_at
from tests.faults.registers import TooOld
from tests.faults.test_cache_histories import Reading, Site, people_of, until_ended
from tests.pairs import Pairs
from tests.replication.cache_commands import Command, copied
from tests.scale import seeds

__all__ = ["stores", "valkey"]
pytestmark = pytest.mark.anyio
RUNS = 25
NIGHTLY = pytest.mark.nightly
CHANGES = ((0, 1, 2), (0, 2), (1, 2), (0, 1))
"""The servers after each change: one is added, one is removed, one is replaced by a server that was
there before, and all are replaced but one."""


@asynccontextmanager
async def opened(base: Stores, pairs: Pairs, folder: Path) -> AsyncIterator[tuple[Site, Command]]:
    """Two gateways that follow a copy of the pairs' topology, which names no memcached servers
    yet."""
    node = f"/tests/{uuid.uuid4().hex}/topology"
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(copied(pairs, node))
        stack.enter_context(short_leases())
        runs = (memcached, memcached, memcached, valkey_at)
        caches = [stack.enter_context(CacheServer(run)) for run in runs]
        first, second, third, redis = (server.port for server in caches)
        zookeeper = int(pairs.zookeeper.rpartition(":")[2])
        servers = Servers((first, second), redis, zookeeper, f"{node}.caches", (third,))
        here = Site([], [], [], caches)
        for _ in range(2):
            paths = await stack.enter_async_context(gateway(servers))
            followed, shards = await _shards(pairs, node, paths)
            task = asyncio.create_task(followed.follow())
            stack.push_async_callback(shards.close)
            stack.push_async_callback(followed.close)
            stack.push_async_callback(_ended, task)
            here.paths.append(paths)
            here.gateways.append(
                base._replace(
                    shards=shards,
                    topology=followed,
                    object_cache=paths.objects,
                    mapping_cache=paths.lists,
                )
            )
        yield here, Command(pairs, node, folder / "pinway.toml", caches)


async def _shards(pairs: Pairs, node: str, paths: Paths) -> tuple[Followed, MySqlShards]:
    source = ZooKeeperTopology(f"127.0.0.1:{paths.to_zookeeper.port}", node)
    settings = pairs.stack.settings
    topology = await source.load()
    shards = MySqlShards(
        topology, user=settings["mysql.user"], password=settings["mysql.password"], deadline=20.0
    )
    paths.objects.use(topology)
    return Followed(source, shards, object_cache=paths.objects), shards


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def trouble(here: Site, chooser: random.Random) -> None:
    """One gateway hangs, loses ZooKeeper or a cache; or a server of the cache stops."""
    paths = chooser.choice(here.paths)
    everything = [*paths.to_memcached, paths.to_redis, paths.to_zookeeper]
    while True:
        parted = chooser.choice([everything, [paths.to_zookeeper], [*paths.to_memcached]])
        for path in parted:
            path.stall()
        await asyncio.sleep(chooser.uniform(0.3, 2.5))
        for path in parted:
            await path.mend()
        await asyncio.sleep(chooser.uniform(0.0, 0.5))


async def change_meanwhile(here: Site, command: Command, seed: int) -> None:
    """Change the list among reads, writes and faults. Raises AssertionError for a read that is
    older than an acknowledged write."""
    chooser = random.Random(seed)
    reading = await Reading.begin(here, chooser, people_of(here))

    async def change() -> None:
        for chosen in CHANGES:
            await command.change(*chosen)
            await asyncio.sleep(chooser.uniform(0.0, 1.0))
        await reading.last(1.0)

    running = [*reading.clients(), asyncio.create_task(trouble(here, chooser))]
    try:
        await until_ended(asyncio.create_task(change()), running)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}") from error
    finally:
        for paths in here.paths:
            await paths.mend()


@pytest.mark.parametrize("seed", seeds(1, 20))
async def test_nobody_reads_an_older_object_while_the_list_of_servers_changes(
    stores: Stores, pairs: Pairs, tmp_path: Path, seed: int
) -> None:
    async with opened(stores, pairs, tmp_path) as (here, command):
        await change_meanwhile(here, command, seed)
        found = await command.show()
        assert (found["list"], found["step"]) == (1 + len(CHANGES), None)
        for paths in here.paths:
            async with asyncio.timeout(60):
                await paths.until_leased()
            assert {state.server for state in paths.objects.circuits()} == {*found["servers"]}


def without_removals_by_both_lists(patch: pytest.MonkeyPatch) -> None:
    """A gateway removes entries by the list that it reads alone."""
    use = MemcachedObjectCache._use

    def by_one(self: MemcachedObjectCache, lists: CacheLists) -> None:
        use(self, lists)
        self._lists = self._lists._replace(removed=self._lists.removed[:1])

    patch.setattr(MemcachedObjectCache, "_use", by_one)


def without_ends_of_leases(patch: pytest.MonkeyPatch) -> None:
    """A gateway that ZooKeeper does not answer reads by the list that it knows."""
    patch.setattr(ZooKeeperGenerations, "reads_list", lambda self, number: True)
    patch.setattr(ZooKeeperGenerations, "_reading", lambda self, found: protocols.Reading.LEASED)


def without_fences(patch: pytest.MonkeyPatch) -> None:
    """A gateway with an earlier topology commits, and removes by the old list alone."""

    async def raise_nothing(*given: object) -> None:
        return None

    patch.setattr(fences, "raise_fences", raise_nothing)


def without_numbers_in_names(patch: pytest.MonkeyPatch) -> None:
    """An entry has the same name when its key comes back to a server."""
    place = Placement.place

    def by_id(self: Placement, id: int) -> tuple[str, bytes]:
        return place(self, id)[0], b"pinway:%d" % id

    patch.setattr(Placement, "place", by_id)


WEAKNESSES = (
    without_removals_by_both_lists,
    without_ends_of_leases,
    without_fences,
    without_numbers_in_names,
)


@NIGHTLY
@pytest.mark.parametrize("weaken", WEAKNESSES)
async def test_each_part_of_the_change_that_is_left_out_is_missed(
    stores: Stores,
    pairs: Pairs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    weaken: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """The check would see a fault of the change: without a part of it, some reader gets an older
    value within a few runs."""
    weaken(monkeypatch)
    for seed in range(RUNS):
        async with opened(stores, pairs, tmp_path) as (here, command):
            try:
                await change_meanwhile(here, command, seed)
            except AssertionError as error:
                if isinstance(error.__cause__, TooOld):
                    return
                raise
    pytest.fail(f"{RUNS} runs saw nothing of: {weaken.__name__}")
