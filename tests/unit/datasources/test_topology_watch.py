"""The follower of the topology: whatever fails, a later epoch is used."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from datasources.errors import StoreUnavailable
from datasources.file import FileTopology
from datasources.sql.shards import SqlShards
from datasources.topology import ModShards, ShardRange, Topology, dump
from datasources.topology_watch import Followed
from tests.contract.shards import Deployment, make_sqlite, with_epoch

pytestmark = pytest.mark.anyio


class World:
    """A gateway's shards that follow a file."""

    def __init__(self, deployment: Deployment, path: Path) -> None:
        self.topology, self.path = deployment.topology, path
        self.shards: SqlShards = deployment.open()
        self.source = FileTopology(path, poll=0.001)
        self.paused = asyncio.Event()
        self.followed = Followed(self.source, self.shards, sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.paused.set()
        await asyncio.sleep(0)

    def write(self, topology: Topology) -> None:
        self.path.write_bytes(dump(topology))

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(300):
            while True:
                if holds():
                    return
                await asyncio.sleep(0.001)

    async def until_epoch(self, epoch: int) -> None:
        await self.until(lambda: self.shards.objects.topology().epoch == epoch)
        await self.until(lambda: self.followed.fault is None)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(await asyncio.to_thread(make_sqlite, tmp_path), tmp_path / "topology.json")
    made.write(made.topology)
    task = asyncio.ensure_future(made.followed.follow())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await made.followed.close()
    await made.shards.close()


async def test_a_first_read_that_fails_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    deployment = await asyncio.to_thread(make_sqlite, tmp_path)
    made = World(deployment, tmp_path / "topology.json")
    task = asyncio.ensure_future(made.followed.follow())
    with caplog.at_level(logging.INFO, "pinway.topology"):
        await made.paused.wait()
        assert "there is none" in str(made.followed.fault)
        made.write(with_epoch(made.topology, 2))
        await made.until_epoch(2)
    assert [r.levelno for r in caplog.records if "not followed" in r.getMessage()][:1] == [
        logging.WARNING
    ]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await made.shards.close()


async def test_a_topology_whose_use_fails_does_not_end_the_following(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = world.shards.use

    def refuse(topology: Topology) -> None:
        if topology.epoch == 2:
            raise RuntimeError("not this one")
        use(topology)

    monkeypatch.setattr(world.shards, "use", refuse)
    world.write(with_epoch(world.topology, 2))
    await world.until(lambda: world.followed.fault == "not this one")
    world.write(with_epoch(world.topology, 3))
    await world.until_epoch(3)


async def test_a_bad_one_is_a_fault_until_a_good_one_comes(world: World) -> None:
    first, second = world.topology.servers.values()
    bad = [
        ({"epoch": 11, "servers": {"First": first, "Second": "mysql://h:33o6"}}, "not a URL"),
        ({"epoch": 12, "mod": ModShards(32, (ShardRange((0, 31), "First"),))}, "is 32"),
        ({"epoch": 12, "servers": {"First": second, "Second": first}}, "same epoch"),
    ]
    for epoch, (fields, told) in enumerate(bad, 11):
        world.write(msgspec.structs.replace(world.topology, **fields))
        await world.until(lambda told=told: told in (world.followed.fault or ""))
        assert world.shards.objects.topology().mod.count == 16
        assert world.shards.objects.topology().servers == world.topology.servers
        world.write(with_epoch(world.topology, epoch))
        await world.until_epoch(epoch)


async def test_a_reload_reads_what_was_there_when_it_was_asked_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that comes during another caller's load waits for the next load."""
    read, begun, go = world.source.load, asyncio.Event(), asyncio.Event()
    loads = 0

    async def slow() -> Topology:
        nonlocal loads
        loads += 1
        found = await read()
        begun.set()
        await go.wait()
        return found

    followed = Followed(world.source, world.shards)
    monkeypatch.setattr(world.source, "load", slow)
    early = asyncio.ensure_future(followed.reload())
    await begun.wait()
    world.write(with_epoch(world.topology, 2))
    late = [asyncio.ensure_future(followed.reload()) for _ in range(5)]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(early, *late)
    assert world.shards.objects.topology().epoch == 2
    assert loads == 2


async def test_a_lost_topology_is_asked_for_after_growing_drawn_waits(world: World) -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 7:
            raise asyncio.CancelledError

    class Lost(FileTopology):
        async def watch(self) -> AsyncIterator[Topology]:
            raise StoreUnavailable("no answer")
            yield

    lost = Followed(Lost(world.path), world.shards, sleep=pause, draw=lambda low, high: low)
    with pytest.raises(asyncio.CancelledError):
        await lost.follow()
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]
