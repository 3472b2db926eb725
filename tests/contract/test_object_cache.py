"""ObjectCache's contract over the cache in process and a real memcached."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck

from datasources.errors import Refused, StoreError, StoreTimeout, StoreUnavailable
from datasources.memcached import MemcachedObjectCache
from datasources.memcached.cache import TIME_TO_LIVE
from datasources.memory import MemoryObjectCache
from datasources.protocols import Lease, ObjectCache
from deploy.stack import Stack
from tests.contract import leases
from tests.contract.circuits import until_well
from tests.generated import given, settings
from tests.proxy import proxied
from tests.servers import memcached_url, redis_url

pytestmark = pytest.mark.anyio
MODEL = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
PATIENT = 60.0  # seconds: the tests' machine may be busy


class Kit(NamedTuple):
    """One cache, used by two gateways (the same object twice if it is in this process)."""

    here: ObjectCache
    there: ObjectCache
    expire_leases: Callable[[Sequence[int]], Awaitable[None]]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def memory_kit() -> Kit:
    clock = Clock()
    cache = MemoryObjectCache(1 << 24, clock)

    async def expire(ids: Sequence[int]) -> None:
        clock.now += 60

    return Kit(cache, cache, expire)


def memcached_kit(host: str, port: int) -> Kit:
    async def expire(ids: Sequence[int]) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        for id in ids:
            writer.write(b"touch pinway:%d -1\r\n" % id)
            await reader.readline()
        writer.close()

    caches = [MemcachedObjectCache([(host, port)], deadline=PATIENT) for _ in range(2)]
    return Kit(*caches, expire)


@pytest.fixture
def address(caches: Stack) -> tuple[str, int]:
    url = urlsplit(memcached_url(caches))
    assert url.hostname
    assert url.port
    return url.hostname, url.port


@pytest.fixture(params=["memory", "memcached"])
async def kit(request: pytest.FixtureRequest) -> AsyncIterator[Kit]:
    if request.param == "memory":
        made = memory_kit()
    else:
        made = memcached_kit(*request.getfixturevalue("address"))
    yield made
    await made.here.close()
    await made.there.close()


def fresh(count: int = 1) -> list[int]:
    """Ids that nobody else uses: memcached is shared, and has no namespaces."""
    start = 1 + secrets.randbelow(1 << 60)  # not `random`, which hypothesis seeds
    return list(range(start, start + count))


def leased(found: dict[int, bytes | Lease], id: int) -> Lease:
    lease = found[id]
    assert isinstance(lease, Lease)
    return lease


async def test_a_key_and_its_negative_are_two_entries(kit: Kit) -> None:
    id = 3 << 36 | secrets.randbits(30) + 1
    for key in (id, -id):
        lease = (await kit.here.get([key]))[key]
        assert isinstance(lease, Lease)
        await kit.here.fill([(lease, b"%d" % key)])
    assert await kit.there.get([id, -id]) == {id: b"%d" % id, -id: b"%d" % -id}
    await kit.there.drop([-id])
    found = await kit.here.get([id, -id])
    assert found[id] == b"%d" % id
    assert isinstance(found[-id], Lease)


async def test_what_a_lease_filled_is_there_for_everybody(kit: Kit) -> None:
    one, two = fresh(2)
    found = await kit.here.get([one, two])
    await kit.here.fill([(leased(found, one), b"1"), (leased(found, two), b"2")])
    assert await kit.here.get([one, two]) == {one: b"1", two: b"2"}
    assert await kit.there.get([two, one]) == {one: b"1", two: b"2"}


async def test_only_one_reader_of_a_missing_object_gets_the_lease(kit: Kit) -> None:
    (id,) = fresh()
    assert id in await kit.here.get([id])
    assert await kit.there.get([id]) == {}


async def test_a_reader_overtaken_by_a_writer_fills_nothing(kit: Kit) -> None:
    (id,) = fresh()
    lease = leased(await kit.here.get([id]), id)
    await kit.there.drop([id])
    await kit.here.fill([(lease, b"old")])
    assert isinstance((await kit.there.get([id]))[id], Lease)


async def test_a_reader_overtaken_by_a_writer_and_a_reader_fills_nothing(kit: Kit) -> None:
    (id,) = fresh()
    slow = leased(await kit.here.get([id]), id)
    await kit.there.drop([id])
    quick = leased(await kit.there.get([id]), id)
    await kit.here.fill([(slow, b"old")])
    assert await kit.here.get([id]) == {}
    await kit.there.fill([(quick, b"new")])
    await kit.here.fill([(slow, b"old")])
    assert await kit.here.get([id]) == {id: b"new"}


async def test_an_expired_lease_fills_nothing(kit: Kit) -> None:
    (id,) = fresh()
    slow = leased(await kit.here.get([id]), id)
    await kit.expire_leases([id])
    quick = leased(await kit.there.get([id]), id)
    await kit.here.fill([(slow, b"old")])
    assert await kit.here.get([id]) == {}
    await kit.there.fill([(quick, b"new")])
    assert await kit.here.get([id]) == {id: b"new"}


async def test_a_lease_fills_once(kit: Kit) -> None:
    (id,) = fresh()
    lease = leased(await kit.here.get([id]), id)
    await kit.here.fill([(lease, b"first")])
    await kit.here.fill([(lease, b"second")])
    assert await kit.here.get([id]) == {id: b"first"}


async def test_a_dropped_value_is_gone_for_everybody(kit: Kit) -> None:
    one, two = fresh(2)
    found = await kit.here.get([one, two])
    await kit.here.fill([(leased(found, one), b"1"), (leased(found, two), b"2")])
    await kit.there.drop([one])
    found = await kit.here.get([one, two])
    assert found[two] == b"2"
    assert isinstance(found[one], Lease)


async def test_dropping_what_is_not_there_is_no_error(kit: Kit) -> None:
    await kit.here.drop(fresh(3))


@pytest.mark.parametrize(
    "value",
    [b"", b"\r\n", b"END\r\n", b"x" * 65_530 + b"\r\nEND\r\n" + b"y" * 9, bytes(range(256)) * 2000],
    ids=["empty", "newline", "end", "end at a chunk", "half a megabyte"],
)
async def test_values_come_back_byte_for_byte(kit: Kit, value: bytes) -> None:
    id, other = fresh(2)
    found = await kit.here.get([id, other])
    await kit.here.fill([(leased(found, id), value), (leased(found, other), b"other")])
    assert await kit.here.get([id, other]) == {id: value, other: b"other"}


async def test_a_thousand_objects_come_in_one_call(kit: Kit) -> None:
    ids = fresh(1000)
    found = await kit.here.get(ids)
    await kit.here.fill([(leased(found, id), str(id).encode()) for id in ids])
    assert await kit.there.get(ids) == {id: str(id).encode() for id in ids}
    await kit.there.drop(ids)
    assert all(isinstance(lease, Lease) for lease in (await kit.here.get(ids)).values())


async def test_an_id_named_twice_is_answered_once(kit: Kit) -> None:
    (id,) = fresh()
    lease = leased(await kit.here.get([id, id]), id)
    await kit.here.fill([(lease, b"v")])
    assert await kit.here.get([id, id]) == {id: b"v"}
    await kit.here.drop([id, id])


async def test_calls_without_ids_do_nothing(kit: Kit) -> None:
    assert await kit.here.get([]) == {}
    await kit.here.fill([])
    await kit.here.drop([])


@MODEL
@given(steps=leases.STEPS)
async def test_no_order_of_readers_and_writers_shows_what_was_overwritten(
    kit: Kit, steps: list[tuple[str, int]]
) -> None:
    (id,) = fresh()

    def entry(cache: ObjectCache) -> leases.Entry:
        async def ask() -> int | Lease | None:
            answer = (await cache.get([id])).get(id)
            return answer if isinstance(answer, Lease) or answer is None else int(answer)

        async def fill(lease: Lease, version: int) -> None:
            await cache.fill([(lease, b"%d" % version)])

        return leases.Entry(ask, fill, lambda: cache.drop([id]))

    gateways = [entry(kit.there), entry(kit.here)]
    await leases.follow(steps, gateways, lambda: kit.expire_leases([id]))


async def test_readers_at_the_same_time_as_writers_are_shown_nothing_overwritten(kit: Kit) -> None:
    """Twelve readers and three writers on two gateways, without waiting for each other: a reader
    that asks after a drop returned gets at least that drop's version."""
    ids, dice = fresh(3), random.Random(11)
    stored, dropped, shown = dict.fromkeys(ids, 0), dict.fromkeys(ids, 0), 0

    async def read(cache: ObjectCache) -> None:
        nonlocal shown
        for _ in range(150):
            least = dict(dropped)
            leases = []
            for id, answer in (await cache.get(ids)).items():
                if isinstance(answer, Lease):
                    leases.append((answer, b"%d" % stored[id]))
                else:
                    assert int(answer) >= least[id]
                    shown += 1
            await asyncio.sleep(dice.random() * 0.002)
            await cache.fill(leases)

    async def write(cache: ObjectCache, id: int) -> None:
        for _ in range(60):
            stored[id] += 1
            committed = stored[id]
            await asyncio.sleep(dice.random() * 0.002)
            await cache.drop([id])
            dropped[id] = max(dropped[id], committed)
            await asyncio.sleep(dice.random() * 0.004)

    async with asyncio.TaskGroup() as group:
        for n, id in enumerate(ids):
            group.create_task(write((kit.here, kit.there)[n % 2], id))
        for n in range(12):
            group.create_task(read((kit.here, kit.there)[n % 2]))
    assert shown > 0


async def test_a_server_that_is_no_memcached_is_unavailable(
    caches: Stack,
) -> None:
    redis = urlsplit(redis_url(caches))
    assert redis.port
    cache = MemcachedObjectCache([("127.0.0.1", redis.port)], deadline=PATIENT)
    with pytest.raises(StoreUnavailable, match="object cache"):
        await cache.get(fresh())
    await cache.close()


async def test_cancelled_calls_leave_every_later_answer_its_own_question(
    address: tuple[str, int],
) -> None:
    cache = MemcachedObjectCache([address], deadline=PATIENT)
    ids = fresh(100)
    found = await cache.get(ids)
    await cache.fill([(leased(found, id), b"%d" % id) for id in ids])
    dice, cancelled, answered = random.Random(7), 0, 0

    async def ask() -> None:
        nonlocal cancelled, answered
        some = dice.sample(ids, 5)
        task = asyncio.create_task(cache.get(some))
        if dice.random() < 0.5:
            await asyncio.sleep(dice.random() * 0.004)
            task.cancel()
        try:
            assert await task == {id: b"%d" % id for id in some}
            answered += 1
        except asyncio.CancelledError:
            cancelled += 1

    while cancelled < 300 or answered < 300:
        await asyncio.gather(*(ask() for _ in range(12)))
    assert await cache.get(ids) == {id: b"%d" % id for id in ids}
    await cache.close()


async def test_an_outage_gives_our_errors_and_ends_when_the_server_is_back(
    address: tuple[str, int],
) -> None:
    id, other = fresh(2)
    async with proxied(*address) as proxy:
        servers = [("127.0.0.1", proxy.port)]
        cache = MemcachedObjectCache(servers, deadline=1.0, refused_is_empty=False)
        lease = leased(await cache.get([id]), id)
        await proxy.cut()
        calls = (cache.get([id]), cache.drop([other]), cache.fill([(lease, b"")]), cache.ping())
        for call in calls:
            with pytest.raises(StoreUnavailable):
                await call
        await proxy.mend()
        await until_well(cache)
        await cache.fill([(lease, b"kept")])
        assert await cache.get([id]) == {id: b"kept"}
        proxy.stall()
        with pytest.raises(StoreTimeout):
            await cache.drop([id])
        await proxy.mend()
        await until_well(cache)
        assert isinstance((await cache.get([id]))[id], Lease)
        await cache.close()


async def test_a_call_takes_the_same_few_round_trips_for_any_number_of_ids(
    address: tuple[str, int],
) -> None:
    async with proxied(*address) as proxy:
        cache = MemcachedObjectCache([("127.0.0.1", proxy.port)], deadline=PATIENT)
        await cache.ping()

        for count in (1, 50):
            ids, trips = fresh(count), [proxy.trips]
            found = await cache.get(ids)
            trips.append(proxy.trips)
            await cache.fill([(leased(found, id), b"v") for id in ids])
            trips.append(proxy.trips)
            await cache.get(ids)
            trips.append(proxy.trips)
            await cache.drop(ids)
            trips.append(proxy.trips)
            assert [after - before for before, after in pairwise(trips)] == [2, 1, 1, 1]
        await cache.close()


async def test_a_server_that_is_down_fails_the_calls_for_its_share_of_the_ids(
    address: tuple[str, int],
) -> None:
    ids = fresh(50)
    async with proxied(*address) as up, proxied(*address) as down:
        servers = [("127.0.0.1", up.port), ("127.0.0.1", down.port)]
        cache = MemcachedObjectCache(servers, deadline=PATIENT, refused_is_empty=False)
        found = await cache.get(ids)
        await cache.fill([(leased(found, id), b"v") for id in ids])
        assert set((await cache.get(ids)).values()) == {b"v"}
        await down.cut()
        with pytest.raises(StoreError):
            await cache.drop(ids)
        outcomes = await asyncio.gather(*(cache.drop([id]) for id in ids), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {type(None), Refused}
        await cache.close()


async def test_entries_that_are_filled_together_expire_at_different_times(
    address: tuple[str, int],
) -> None:
    cache = MemcachedObjectCache([address], deadline=PATIENT, rng=random.Random(7))
    start = 1 + secrets.randbelow(1 << 60)
    ids = range(start, start + 200)
    found = await cache.get(ids)
    await cache.fill([(lease, b"{}") for lease in found.values() if isinstance(lease, Lease)])
    await cache.close()
    reader, writer = await asyncio.open_connection(*address)
    lives = []
    for id in ids:
        writer.write(b"mg pinway:%d t\r\n" % id)  # answers HD t and the seconds that are left
        lives.append(int((await reader.readline()).split(b"t")[1]) / TIME_TO_LIVE)
    writer.close()
    assert min(lives) > 0.89
    assert max(lives) <= 1
    assert {int((life - 0.9) * 100) for life in lives} >= set(range(10))
