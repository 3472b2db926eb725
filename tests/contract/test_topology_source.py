"""TopologySource's contract over a file and a real ZooKeeper."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from kazoo.client import KazooClient

from datasources.errors import StoreConflict, StoreCorrupt, StoreUnavailable
from datasources.file import FileTopology
from datasources.protocols import TopologySource
from datasources.topology import ModShards, ShardRange, Topology
from datasources.zookeeper import ZooKeeperTopology
from deploy.stack import Stack
from tests.proxy import proxied
from tests.servers import zookeeper_hosts

pytestmark = pytest.mark.anyio
FIRST = Topology(
    epoch=1,
    servers={"A": "sqlite:///a", "B": "sqlite:///b"},
    shards=(ShardRange((0, 3), "A", "B"), ShardRange((4, 7), "B")),
    mod=ModShards(4, (ShardRange((0, 3), "A"),)),
)
SECOND = msgspec.structs.replace(FIRST, epoch=2, shards=(ShardRange((0, 7), "B"),))
THIRD = msgspec.structs.replace(FIRST, epoch=3)


class Kit(NamedTuple):
    """One topology, used by two gateways, and a function that writes any data in its place."""

    here: TopologySource
    there: TopologySource
    write: Callable[[bytes], Awaitable[None]]


def file_kit(path: Path) -> Kit:
    async def write(data: bytes) -> None:
        await asyncio.to_thread(path.write_bytes, data)

    return Kit(FileTopology(path, poll=0.01), FileTopology(path, poll=0.01), write)


def zookeeper_kit(hosts: str, path: str) -> Kit:
    def put(data: bytes) -> None:
        client = KazooClient(hosts)
        client.start()
        client.ensure_path(path)
        client.set(path, data)
        client.stop()
        client.close()

    async def write(data: bytes) -> None:
        await asyncio.to_thread(put, data)

    return Kit(ZooKeeperTopology(hosts, path), ZooKeeperTopology(hosts, path), write)


@pytest.fixture
def hosts(databases: Stack) -> str:
    return zookeeper_hosts(databases)


@pytest.fixture(params=["file", "zookeeper"])
async def kit(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kit]:
    if request.param == "file":
        made = file_kit(tmp_path / "deep" / "topology.json")
        (tmp_path / "deep").mkdir()
    else:
        made = zookeeper_kit(request.getfixturevalue("hosts"), f"/tests/{uuid.uuid4().hex}")
    yield made
    await made.here.close()
    await made.there.close()


async def test_what_was_saved_is_loaded_by_everybody(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    assert await kit.there.load() == FIRST
    await kit.there.save(SECOND, expected_epoch=1)
    assert await kit.here.load() == SECOND


async def test_a_place_without_a_topology_is_corrupt(kit: Kit) -> None:
    with pytest.raises(StoreCorrupt, match="there is none"):
        await kit.here.load()


@pytest.mark.parametrize("data", [b"", b"{", b'{"epoch": 1}'], ids=["empty", "half", "fields"])
async def test_what_is_not_a_topology_is_corrupt(kit: Kit, data: bytes) -> None:
    await kit.write(data)
    with pytest.raises(StoreCorrupt, match="topology"):
        await kit.here.load()


async def test_a_save_that_expects_another_epoch_changes_nothing(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    for expected in (None, 0, 2):
        with pytest.raises(StoreConflict):
            await kit.there.save(SECOND, expected_epoch=expected)
    assert await kit.here.load() == FIRST


async def test_of_saves_at_the_same_time_one_wins(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    saves = [
        source.save(msgspec.structs.replace(SECOND, epoch=epoch), expected_epoch=1)
        for epoch, source in enumerate([kit.here, kit.there] * 5, 2)
    ]
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    won = [epoch for epoch, outcome in enumerate(outcomes, 2) if outcome is None]
    assert [type(o) for o in outcomes].count(StoreConflict) == 9
    assert [(await kit.here.load()).epoch] == won


async def test_a_watcher_sees_the_current_topology_and_each_later_one(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    watch = kit.there.watch()
    assert await anext(watch) == FIRST
    await kit.here.save(SECOND, expected_epoch=1)
    assert await anext(watch) == SECOND
    await kit.there.save(THIRD, expected_epoch=2)
    assert await anext(watch) == THIRD


async def test_two_watchers_see_the_same(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    watches = [kit.here.watch(), kit.there.watch(), kit.there.watch()]
    assert [await anext(watch) for watch in watches] == [FIRST] * 3
    await kit.here.save(SECOND, expected_epoch=1)
    assert [await anext(watch) for watch in watches] == [SECOND] * 3


async def test_a_watcher_keeps_a_good_topology_while_the_place_holds_a_bad_one(kit: Kit) -> None:
    await kit.here.save(SECOND, expected_epoch=None)
    watch = kit.there.watch()
    assert await anext(watch) == SECOND
    await kit.write(b"half a {")
    await kit.write(msgspec.json.encode(FIRST))
    await kit.write(msgspec.json.encode(THIRD))
    assert await anext(watch) == THIRD


async def test_what_must_not_follow_is_not_saved(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    for wrong in (
        msgspec.structs.replace(SECOND, epoch=1),
        msgspec.structs.replace(SECOND, mod=ModShards(8, (ShardRange((0, 7), "A"),))),
        msgspec.structs.replace(SECOND, shards=(ShardRange((0, 3), "B"),)),
    ):
        with pytest.raises(StoreCorrupt):
            await kit.there.save(wrong, expected_epoch=1)
    assert await kit.here.load() == FIRST


async def test_other_content_under_the_same_epoch_is_told_and_not_followed(kit: Kit) -> None:
    await kit.here.save(FIRST, expected_epoch=None)
    watch = kit.there.watch()
    assert await anext(watch) == FIRST
    await kit.write(msgspec.json.encode(msgspec.structs.replace(SECOND, epoch=1)))
    later = asyncio.ensure_future(anext(watch))
    async with asyncio.timeout(300):
        while True:
            if "same epoch" in (kit.there.fault or ""):
                break
            await asyncio.sleep(0.005)
    await kit.write(msgspec.json.encode(THIRD))
    assert await later == THIRD
    assert kit.there.fault is None


async def test_watching_a_place_without_a_topology_is_an_error(kit: Kit) -> None:
    with pytest.raises(StoreCorrupt):
        await anext(kit.here.watch())


async def test_no_zookeeper_is_unavailable() -> None:
    async with proxied("127.0.0.1", 1) as nowhere:
        hosts = f"127.0.0.1:{nowhere.port}"
        await nowhere.cut()
        source = ZooKeeperTopology(hosts, "/topology", deadline=0.2)
        with pytest.raises(StoreUnavailable, match=hosts):
            await source.load()
        with pytest.raises(StoreUnavailable, match=hosts):
            await source.save(FIRST, expected_epoch=None)
        await source.close()


async def test_a_watcher_hears_of_what_changed_while_zookeeper_was_out_of_reach(
    hosts: str,
) -> None:
    path = f"/tests/{uuid.uuid4().hex}"
    host, _, port = hosts.partition(":")
    writer = ZooKeeperTopology(hosts, path)
    await writer.save(FIRST, expected_epoch=None)
    async with proxied(host, int(port)) as proxy:
        reader = ZooKeeperTopology(f"127.0.0.1:{proxy.port}", path, deadline=2.0)
        watch = reader.watch()
        assert await anext(watch) == FIRST
        await proxy.cut()
        with pytest.raises(StoreUnavailable):
            await reader.load()
        await writer.save(SECOND, expected_epoch=1)
        later = asyncio.ensure_future(anext(watch))
        await proxy.mend()
        assert await later == SECOND
        await reader.close()
    await writer.close()


async def test_cancelled_loads_leave_later_ones_right(hosts: str) -> None:
    path = f"/tests/{uuid.uuid4().hex}"
    source = ZooKeeperTopology(hosts, path)
    await source.save(FIRST, expected_epoch=None)
    for turn in range(300):
        task = asyncio.create_task(source.load())
        await asyncio.sleep(0.0001 * (turn % 20))
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            assert await task == FIRST
    assert await source.load() == FIRST
    await source.close()
