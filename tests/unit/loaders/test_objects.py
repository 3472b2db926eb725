"""Loaders of objects take values from the cache of this process at once, and load all other values
in one batch."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from datasources.ids import Kind, compose
from datasources.memory import MemoryObjectCache
from datasources.protocols import Lease, Stores
from datasources.records import Interest, encode
from datasources.topology import ModShards, ShardRange, Topology
from loaders import Loaders

pytestmark = pytest.mark.anyio
IDS = [compose(shard, Kind.INTEREST, 1) for shard in range(4)]
TOPOLOGY = Topology(
    epoch=1,
    servers={"one": "sqlite:///one"},
    shards=(ShardRange((0, 3), "one"),),
    mod=ModShards(1, (ShardRange((0, 0), "one"),)),
)


def stored(id: int) -> bytes:
    return encode(Interest(name=f"interest {id}", slug=f"i{id}"))


class Objects:
    """A store that has every object. `asked` records the ids of each read."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def topology(self) -> Topology:
        return TOPOLOGY

    async def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        self.asked.append(sorted(ids))
        return {id: stored(id) for id in ids}


async def with_cached(*ids: int) -> tuple[Loaders, Objects, MemoryObjectCache]:
    objects, cache = Objects(), MemoryObjectCache(1 << 20)
    stores: Any = SimpleNamespace(object_cache=cache, shards=SimpleNamespace(objects=objects))
    for id, lease in (await cache.get(ids)).items():
        assert isinstance(lease, Lease)
        await cache.fill([(lease, stored(id))])
    return Loaders(cast(Stores, stores)), objects, cache


def at_once(call: Any) -> Any:
    """Returns the value of an awaitable that never waits."""
    try:
        next(call.__await__())
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


async def test_objects_in_the_cache_of_this_process_need_no_wait() -> None:
    loaders, objects, _ = await with_cached(*IDS)
    found = at_once(loaders.interests.many([*IDS, IDS[0]]))
    assert [record.id for record in found] == [*IDS, IDS[0]]
    assert found[0] is found[-1]
    assert objects.asked == []


async def test_all_other_objects_are_read_together_and_cached() -> None:
    loaders, objects, cache = await with_cached(*IDS[:2])
    found = await asyncio.gather(loaders.interests.many(IDS[1:]), loaders.interests.load(IDS[3]))
    assert [record.id for record in cast(list[Interest], found[0])] == IDS[1:]
    assert cast(Interest, found[1]).id == IDS[3]
    assert objects.asked == [IDS[2:]]
    assert set(cache.held(IDS)) == set(IDS)


async def test_a_request_keeps_the_first_version_of_an_object_that_it_read() -> None:
    loaders, objects, cache = await with_cached(IDS[0])
    [first] = await loaders.interests.many([IDS[0]])
    await cache.drop([IDS[0]])
    assert await loaders.interests.load(IDS[0]) is first
    assert objects.asked == []
