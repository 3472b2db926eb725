"""Every call of a store is measured, by store, backend, operation and outcome."""

import inspect
import logging
from pathlib import Path
from typing import Any

import pytest

from datasources import protocols
from datasources.calls import Called, Calls, observed
from datasources.errors import StoreUnavailable
from datasources.ids import Kind, compose
from datasources.mappings import ListKey, Mapping, PageRequest
from datasources.memcached import MemcachedObjectCache
from datasources.protocols import Lease, Stores, Table
from datasources.recording import Recording, recorded
from datasources.valkey import ValkeyServer
from tests.embedded_stores import embedded_config, embedded_stores

pytestmark = pytest.mark.anyio
NO_BOARD = ListKey(Mapping.BOARD_HAS_PINS, compose(0, Kind.BOARD, 7))


@pytest.fixture
async def stores(tmp_path: Path) -> Any:
    async with (
        ValkeyServer(tmp_path / "valkey") as valkey,
        embedded_stores(embedded_config(tmp_path, valkey)) as stores,
    ):
        yield stores


def counted(calls: Calls) -> dict[Called, int]:
    return {called: sum(one.counts) for called, one in calls.latencies.items()}


async def test_calls_are_counted_by_store_backend_operation_and_outcome(stores: Stores) -> None:
    calls = Calls()
    seen = observed(stores, calls)
    await seen.shards.objects.get([1])
    await seen.queue.depth()
    with pytest.raises(StoreUnavailable):
        await seen.feeds.standby.get(Table("missing"), b"row", [b"a"])
    assert counted(calls) == {
        Called("objects", "sqlite", "get", "ok"): 1,
        Called("queue", "streaq", "depth", "ok"): 1,
        Called("feeds_standby", "rocksdb", "get", "unavailable"): 1,
    }


async def test_caches_count_keys_found_and_keys_missing(stores: Stores) -> None:
    calls = Calls()
    seen = observed(stores, calls)
    lease = (await seen.object_cache.get([1, 2]))[1]
    assert isinstance(lease, Lease)
    await seen.object_cache.fill([(lease, b"{}")])
    await seen.object_cache.get([1, 2])
    local = seen.object_cache.local
    assert local is not None
    assert local.held([1, 2]) == {1: b"{}"}
    assert (calls.hits["object_cache"], calls.misses["object_cache"]) == (2, 3)
    await seen.mapping_cache.pages([PageRequest(NO_BOARD, 5)])
    await seen.mapping_cache.heads([NO_BOARD])
    assert (calls.hits["mapping_cache"], calls.misses["mapping_cache"]) == (0, 2)


async def test_calls_are_spans_of_the_recording_with_their_keys(stores: Stores) -> None:
    seen, recording = observed(stores, Calls()), Recording("request", "a")
    with recorded(recording):
        await seen.object_cache.get([1, 2, 3])
    await seen.object_cache.get([4])
    (_, span) = recording.spans
    assert (span.kind, span.name, span.outcome) == ("store", "object_cache.get", "ok")
    assert span.notes == {"backend": "memory", "keys": 3}
    assert recording.lookups == {"object_cache": [0, 3]}


async def test_every_call_of_every_protocol_is_measured(stores: Stores) -> None:
    seen = observed(stores, Calls())
    of = {
        protocols.ObjectStore: seen.shards.objects,
        protocols.MappingStore: seen.shards.mappings,
        protocols.Outbox: seen.shards.outbox,
        protocols.VisitStore: seen.shards.visits,
        protocols.Expiry: seen.shards.expiry,
        protocols.ModStore: seen.shards.mod,
        protocols.ObjectCache: seen.object_cache,
        protocols.MappingCache: seen.mapping_cache,
        protocols.JobQueue: seen.queue,
        protocols.WideColumnStore: seen.pools.standby,
    }
    for protocol, store in of.items():
        for name, _ in inspect.getmembers(protocol, inspect.iscoroutinefunction):
            if name not in ("close", "create", "work"):
                assert getattr(store, name).__module__ == "datasources.calls", (protocol, name)


async def test_what_does_not_wait_is_the_stores_own(stores: Stores) -> None:
    seen = observed(stores, Calls())
    assert seen.shards.objects.topology() is stores.shards.objects.topology()
    assert seen.mapping_cache.window == stores.mapping_cache.window
    assert [row async for row in seen.pools.primary.scan(Table("pinway_pools"))] == []


async def test_an_outage_of_a_cache_is_one_line(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    dead = MemcachedObjectCache([("127.0.0.1", 1)])
    seen = observed(stores._replace(object_cache=dead), Calls())
    with caplog.at_level(logging.INFO, "pinway.stores"):
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await seen.object_cache.get([1])
            await seen.object_cache.drop([1])  # nothing is cached where no server listens
    [record] = caplog.records
    assert record.levelname == "WARNING"
    told = "object cache 127.0.0.1:1 fails, and shards are read instead: [Errno 111] "
    assert record.getMessage().startswith(told)
    await dead.close()
