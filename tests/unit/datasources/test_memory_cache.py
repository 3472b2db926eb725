"""The promises of the in-process cache beyond the contract: its bounds."""

import pytest

from datasources.memory import MemoryObjectCache
from datasources.memory.cache import ENTRY_OVERHEAD, LEASE_SECONDS
from datasources.protocols import Lease

pytestmark = pytest.mark.anyio


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def put(cache: MemoryObjectCache, id: int, value: bytes) -> None:
    lease = (await cache.get([id]))[id]
    assert isinstance(lease, Lease)
    await cache.fill([(lease, value)])


async def held(cache: MemoryObjectCache, ids: list[int]) -> set[int]:
    return {id for id, answer in (await cache.get(ids)).items() if isinstance(answer, bytes)}


async def test_the_least_recently_used_objects_go_first() -> None:
    cache = MemoryObjectCache(3 * (100 + ENTRY_OVERHEAD))
    for id in (1, 2, 3):
        await put(cache, id, bytes(100))
    await cache.get([1])
    await put(cache, 4, bytes(100))
    assert await held(cache, [1, 2, 3, 4]) == {1, 3, 4}


async def test_a_large_object_pushes_out_as_many_as_it_must() -> None:
    cache = MemoryObjectCache(4 * (100 + ENTRY_OVERHEAD))
    for id in (1, 2, 3, 4):
        await put(cache, id, bytes(100))
    await put(cache, 5, bytes(2 * 100 + ENTRY_OVERHEAD))
    assert await held(cache, [1, 2, 3, 4, 5]) == {3, 4, 5}


async def test_an_object_larger_than_the_cache_is_not_kept_and_pushes_out_nothing() -> None:
    cache = MemoryObjectCache(1000)
    await put(cache, 1, b"small")
    await put(cache, 2, bytes(1000))
    assert await held(cache, [1, 2]) == {1}


async def test_dropped_objects_make_room() -> None:
    cache = MemoryObjectCache(2 * (100 + ENTRY_OVERHEAD))
    for id in range(1, 100):
        await put(cache, id, bytes(100))
        await cache.drop([id])
    await put(cache, 100, bytes(100))
    await put(cache, 101, bytes(100))
    assert await held(cache, [100, 101]) == {100, 101}


async def test_leases_that_were_never_filled_do_not_pile_up() -> None:
    clock = Clock()
    cache = MemoryObjectCache(1000, clock)
    for id in range(10_000):
        await cache.get([id])
        clock.now += LEASE_SECONDS / 100
    assert len(cache._leases) <= 101


async def test_a_lease_lives_for_its_time_and_no_longer() -> None:
    clock = Clock()
    cache = MemoryObjectCache(1000, clock)
    assert 1 in await cache.get([1])
    clock.now = LEASE_SECONDS - 0.001
    assert await cache.get([1]) == {}
    clock.now = LEASE_SECONDS
    assert isinstance((await cache.get([1]))[1], Lease)


async def test_what_is_held_is_had_without_a_lease_and_counts_as_used() -> None:
    cache = MemoryObjectCache(3 * (100 + ENTRY_OVERHEAD))
    for id in (1, 2, 3):
        await put(cache, id, b"x" * 100)
    assert cache.local.held([1, 9]) == {1: b"x" * 100}
    assert isinstance((await cache.get([9]))[9], Lease)  # nobody has it yet
    await put(cache, 4, b"x" * 100)
    assert await held(cache, [1, 2, 3, 4]) == {1, 3, 4}
    await cache.drop([1])
    assert cache.local.held([1]) == {}
