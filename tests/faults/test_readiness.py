"""Readiness while stores fail: unready only when nobody can be served."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from datasources.circuit import CircuitState, Mode
from datasources.errors import StoreUnavailable
from datasources.protocols import GenerationState, Reading, Stores
from gateway.observe.health import readiness
from gateway.operate import doctor
from tests.gateways import gateway_on_two_servers

pytestmark = pytest.mark.anyio
ALL = {
    *("shards one", "shards two", "object_cache", "mapping_cache", "queue", "topology"),
    *("pools_primary", "pools_standby", "feeds_primary", "feeds_standby"),
}


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with gateway_on_two_servers(tmp_path) as (gateway, _):
        yield gateway.stores


def cut(stores: Stores, *names: str) -> None:
    """Disconnect servers of the shards."""
    topology = stores.shards.objects.topology()
    lost = {name: f"sqlite:///nowhere/{name}" for name in names}
    stores.shards.use(
        msgspec.structs.replace(
            topology, epoch=topology.epoch + 1, servers={**topology.servers, **lost}
        )
    )


async def test_every_store_is_listed_when_all_is_well(stores: Stores) -> None:
    found = await readiness(stores)
    assert found["required"] == {}
    assert found["stores"] == {name: {"state": "well"} for name in ALL}


async def test_one_dead_server_costs_its_own_shards_and_not_the_readiness(stores: Stores) -> None:
    cut(stores, "two")
    found = await readiness(stores)
    assert found["required"] == {}
    two = found["stores"].pop("shards two")
    assert "nowhere" in two["state"]
    assert "shards 8 to 15" in two["costs"]
    assert {one["state"] for one in found["stores"].values()} == {"well"}


async def test_nobody_can_be_served_without_any_shard_server(stores: Stores) -> None:
    cut(stores, "one", "two")
    assert set((await readiness(stores))["required"]) == {"one", "two"}


async def test_a_topology_that_is_not_followed_is_listed(stores: Stores, tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "topology.json").write_text, '{"epoch": 2}')
    async with asyncio.timeout(300):
        while True:
            found = await readiness(stores)
            if found["stores"]["topology"]["state"] != "well":
                break
    assert found["required"] == {}
    assert "epoch 1 is kept" in found["stores"]["topology"]["state"]
    assert "not noticed" in found["stores"]["topology"]["costs"]


async def _refused() -> None:
    raise StoreUnavailable("nobody listens")


async def test_a_cache_that_is_passed_by_is_no_well_store(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache answers the probe of readiness, but this process still reads the shards."""
    state = CircuitState("one:1", Mode.RETURNING, "no answer within 0.25 s", 1, 9, 0, 0)
    monkeypatch.setattr(stores.mapping_cache, "circuits", lambda: [state])
    found = await readiness(stores)
    assert found["required"] == {}
    told = found["stores"]["mapping_cache"]
    assert told["state"] == (
        "one:1 is passed by, and is being tried; its last failure: no answer within 0.25 s"
    )
    assert "each list is read from its shard" in told["costs"]
    [cache] = [one for one in await doctor._states(stores) if one.check == "mapping_cache"]
    assert cache.state == doctor.WARNING  # its server answers: there is nothing to start

    monkeypatch.setattr(stores.mapping_cache, "ping", _refused)
    [cache] = [one for one in await doctor._states(stores) if one.check == "mapping_cache"]
    assert cache.state == doctor.FAULT


async def test_a_cache_that_no_process_may_read_is_listed_with_the_reason(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caches answer the probes of readiness, but this process reads the shards."""
    states = [
        GenerationState("mapping_cache", Reading.UNKNOWN, 0, 5),
        GenerationState("object_cache-a:1", Reading.LEASED, 0, 0),
        GenerationState("object_cache-b:1", Reading.SHUT, 0, 5),
        GenerationState("object_cache-c:1", Reading.SHUT, 1, 5, shuts=True),
        GenerationState("object_cache-d:1", Reading.OPENING, 0, 5),
    ]
    generations: Any = SimpleNamespace(states=lambda: states)
    here = stores._replace(generations=generations)
    found = await readiness(here)
    assert found["required"] == {}
    objects, lists = found["stores"]["object_cache"], found["stores"]["mapping_cache"]
    assert objects["state"].split("; ") == [
        "b:1 is not read: it is shut for all processes, because another process can't remove "
        "entries from it",
        "c:1 is not read: it is shut for all processes, because this process can't remove "
        "entries from it",
        "d:1 is not read: it was shut, and opens within seconds",
    ]
    assert "each object is read from its shard" in objects["costs"]
    assert lists["state"] == (
        "its server is not read: ZooKeeper does not renew this process's lease on it"
    )
    monkeypatch.setattr(doctor, "BETWEEN", 0.0)
    told = {one.check: one for one in await doctor._states(here)}
    assert told["object_cache"].state == doctor.WARNING  # its servers answer
    assert "outage.md" in told["object_cache"].advice

    states[:] = [GenerationState("mapping_cache", Reading.LEASED, 0, 5)]
    assert (await readiness(here))["stores"] == {name: {"state": "well"} for name in ALL}

    states[:] = [GenerationState("object_cache-b:1", Reading.SHUT, 0, 5)]
    assert "b:1 is not read" in (await readiness(here))["stores"]["object_cache"]["state"]
    monkeypatch.setattr(stores.object_cache, "unread", {"b:1"}, raising=False)
    assert (await readiness(here))["stores"]["object_cache"] == {"state": "well"}


async def test_a_store_that_hangs_keeps_nobody_waiting(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores.object_cache, "ping", asyncio.Event().wait)
    async with asyncio.timeout(300):
        found = (await readiness(stores, 0.2))["stores"]
    assert found["object_cache"]["state"] == "no answer within 0.2 s"
    assert found["topology"] == {"state": "well"}
