"""Switches' contract over a file and a real ZooKeeper."""

import asyncio
import fcntl
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kazoo.client import KazooClient

from datasources.errors import StoreCorrupt, StoreUnavailable
from datasources.file import FileSwitches
from datasources.protocols import Switches
from datasources.zookeeper import ZooKeeperSwitches
from deploy.stack import Stack
from tests.proxy import proxied
from tests.servers import zookeeper_hosts

pytestmark = pytest.mark.anyio


class Kit(NamedTuple):
    """One set of switches, used by two processes."""

    here: Switches
    there: Switches


@pytest.fixture(params=["file", "zookeeper"])
async def kit(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kit]:
    if request.param == "file":
        path = tmp_path / "topology.json.switches"
        made = Kit(FileSwitches(path, poll=0.01), FileSwitches(path, poll=0.01))
    else:
        hosts = zookeeper_hosts(request.getfixturevalue("databases"))
        node = f"/tests/{uuid.uuid4().hex}/topology.switches"
        made = Kit(ZooKeeperSwitches(hosts, node), ZooKeeperSwitches(hosts, node))
    yield made
    await made.here.close()
    await made.there.close()


async def test_nothing_is_switched_at_first(kit: Kit) -> None:
    assert await kit.here.load() == {}


async def test_what_one_changed_another_loads(kit: Kit) -> None:
    assert await kit.here.change({"a": "1", "b": "2"}) == {"a": "1", "b": "2"}
    assert await kit.there.change({"a": None, "c": "3"}) == {"b": "2", "c": "3"}
    assert await kit.here.load() == {"b": "2", "c": "3"}
    assert await kit.here.change({"never": None}) == {"b": "2", "c": "3"}


async def test_changes_at_the_same_time_lose_nothing_of_each_other(kit: Kit) -> None:
    changes = [side.change({f"{n}": "on"}) for n in range(4) for side in kit]
    await asyncio.gather(*changes, *(kit.there.change({f"more {n}": "on"}) for n in range(4)))
    assert len(await kit.here.load()) == 8


class Overtaken(ZooKeeperSwitches):
    """Switches whose node other writers change between each of the first reads and the following
    write."""

    def __init__(self, hosts: str, path: str, other: ZooKeeperSwitches, times: int) -> None:
        super().__init__(hosts, path)
        self._other, self._left = other, times

    async def _read(self, changed: asyncio.Event | None = None) -> Any:
        found = await super()._read(changed)
        if self._left:
            self._left -= 1
            await self._other.change({"other": f"{self._left} left"})
        return found


async def test_a_change_outlasts_many_that_come_before_it(
    databases: Stack,
) -> None:
    hosts = zookeeper_hosts(databases)
    node = f"/tests/{uuid.uuid4().hex}/topology.switches"
    other = ZooKeeperSwitches(hosts, node)
    overtaken = Overtaken(hosts, node, other, times=20)
    assert await overtaken.change({"own": "on"}) == {"other": "0 left", "own": "on"}
    assert await other.load() == {"other": "0 left", "own": "on"}
    await overtaken.close()
    await other.close()


async def test_a_watch_tells_what_is_switched_and_each_difference(kit: Kit) -> None:
    watch = kit.there.watch()
    assert await anext(watch) == {}
    for change, now in (({"a": "1"}, {"a": "1"}), ({"a": "2"}, {"a": "2"}), ({"a": None}, {})):
        await kit.here.change(change)
        assert await asyncio.wait_for(anext(watch), 300) == now
    await watch.aclose()  # type: ignore[attr-defined]


async def test_a_watch_outlives_a_link_that_was_cut(databases: Stack) -> None:
    host, port = zookeeper_hosts(databases).split(":")
    node = f"/tests/{uuid.uuid4().hex}"
    near = ZooKeeperSwitches(f"{host}:{port}", node)
    async with proxied(host, int(port)) as proxy:
        far = ZooKeeperSwitches(f"127.0.0.1:{proxy.port}", node, deadline=2.0)
        watch = far.watch()
        assert await anext(watch) == {}
        await proxy.cut()
        await near.change({"a": "1"})
        with pytest.raises(StoreUnavailable):
            await far.load()
        await proxy.mend()
        assert await asyncio.wait_for(anext(watch), 300) == {"a": "1"}
        await watch.aclose()  # type: ignore[attr-defined]
        await far.close()
    await near.close()


@pytest.mark.parametrize("found", [b"nonsense", b"[1]", b'{"a": 1}'])
async def test_what_is_not_an_object_of_strings_is_corrupt(tmp_path: Path, found: bytes) -> None:
    (tmp_path / "switches").write_bytes(found)
    with pytest.raises(StoreCorrupt, match="switches"):
        await FileSwitches(tmp_path / "switches").load()


async def test_a_corrupt_node_is_corrupt(databases: Stack) -> None:
    hosts, node = zookeeper_hosts(databases), f"/tests/{uuid.uuid4().hex}"

    def put() -> None:
        client = KazooClient(hosts)
        client.start()
        client.create(node, b"nonsense", makepath=True)
        client.stop()
        client.close()

    await asyncio.to_thread(put)
    switches = ZooKeeperSwitches(hosts, node)
    with pytest.raises(StoreCorrupt, match="switches"):
        await switches.load()
    await switches.close()


async def test_a_change_waits_while_another_process_changes_the_file(tmp_path: Path) -> None:
    switches = FileSwitches(tmp_path / "switches")
    with (tmp_path / "switches.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        change = asyncio.create_task(switches.change({"a": "1"}))
        done, _ = await asyncio.wait([change], timeout=0.2)
        assert not done
        (tmp_path / "switches").write_bytes(b'{"b": "2"}')
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert await change == {"a": "1", "b": "2"}
