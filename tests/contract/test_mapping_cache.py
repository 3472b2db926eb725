"""MappingCache's contract over the embedded Valkey and a real Redis."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
import redis.asyncio
from hypothesis import HealthCheck
from hypothesis import strategies as st

from datasources.errors import StoreCorrupt, StoreError, StoreTimeout, StoreUnavailable
from datasources.mappings import (
    MAX_SEQUENCE,
    Edge,
    ListHead,
    ListKey,
    Mapping,
    PageRequest,
    Position,
)
from datasources.protocols import Lease, MappingCache, Window
from datasources.redis import RedisMappingCache
from datasources.redis.cache import TIME_TO_LIVE_MS
from deploy.stack import Stack
from tests.contract import leases, redis_servers
from tests.contract.circuits import until_well
from tests.generated import given, settings
from tests.proxy import proxied
from tests.servers import memcached_url, redis_url

pytestmark = pytest.mark.anyio
MODEL = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
PATIENT = 60.0  # seconds: the tests' machine may be busy
DATABASE = 11


class Kit(NamedTuple):
    """One cache, used by two gateways. Its windows keep five rows."""

    here: MappingCache
    there: MappingCache
    expire: Callable[[Sequence[ListKey]], Awaitable[None]]


@pytest.fixture(scope="module", params=redis_servers.BOTH)
async def url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    async for url in redis_servers.server(request, tmp_path_factory, DATABASE):
        yield url


@pytest.fixture
async def kit(url: str) -> AsyncIterator[Kit]:
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))

    async def expire(keys: Sequence[ListKey]) -> None:
        for key in keys:
            for kind in "wh":
                await raw.pexpire(f"pinway:{{{key.mapping.code}:{key.from_id}}}:{kind}", 0)

    here, there = (RedisMappingCache(url, deadline=PATIENT, window=5) for _ in range(2))
    yield Kit(here, there, expire)
    for client in (here, there):
        await client.close()
    await raw.aclose()


def fresh(count: int = 1) -> list[ListKey]:
    start = 1 + secrets.randbelow(1 << 60)  # not `random`, which hypothesis seeds
    return [ListKey(Mapping.BOARD_HAS_PINS, start + n) for n in range(count)]


def rows(key: ListKey, *sequences: int) -> list[Edge]:
    """Edges as a cache returns them, in order. Each edge's target id is its sequence plus one."""
    return [Edge(key.from_id, s + 1, s, 0) for s in sorted(sequences, reverse=True)]


def first(key: ListKey, limit: int = 5) -> list[PageRequest]:
    return [PageRequest(key, limit)]


def leased(answer: object) -> Lease:
    assert isinstance(answer, Lease)
    return answer


async def fill(kit: Kit, key: ListKey, edges: Sequence[Edge], *, complete: bool) -> None:
    (lease,) = await kit.here.pages(first(key))
    await kit.here.fill_pages([(leased(lease), Window(edges, complete))])


async def test_a_complete_window_answers_every_page_and_the_end(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, rows(key, 10, 20, 30), complete=True)
    assert await kit.there.pages(
        [
            PageRequest(key, 2),
            PageRequest(key, 3),
            PageRequest(key, 9),
            PageRequest(key, 2, Position(20, 21)),
            PageRequest(key, 2, Position(10, 11)),
            PageRequest(key, 2, Position(25, 1)),
            PageRequest(key, 2, Position(MAX_SEQUENCE, 1)),
        ]
    ) == [
        rows(key, 30, 20),
        rows(key, 30, 20, 10),
        rows(key, 30, 20, 10),
        rows(key, 10),
        [],
        rows(key, 20, 10),
        rows(key, 30, 20),
    ]


async def test_an_empty_list_is_remembered_as_empty(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, [], complete=True)
    assert await kit.there.pages(first(key)) == [[]]


async def test_a_page_beyond_an_incomplete_window_is_for_the_store_to_answer(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, rows(key, 50, 40, 30, 20, 10), complete=False)
    assert await kit.here.pages(
        [
            PageRequest(key, 5),
            PageRequest(key, 6),
            PageRequest(key, 3, Position(40, 41)),
            PageRequest(key, 4, Position(40, 41)),
            PageRequest(key, 1, Position(10, 11)),
        ]
    ) == [rows(key, 50, 40, 30, 20, 10), None, rows(key, 30, 20, 10), None, None]


async def test_a_window_keeps_the_newest_rows_only_and_is_then_incomplete(kit: Kit) -> None:
    (key,) = fresh()
    assert kit.here.window == 5
    await fill(kit, key, rows(key, *range(10, 90, 10)), complete=True)
    assert await kit.here.pages([PageRequest(key, 5), PageRequest(key, 6)]) == [
        rows(key, 80, 70, 60, 50, 40),
        None,
    ]


async def test_rows_of_one_sequence_are_ordered_by_their_target(kit: Kit) -> None:
    (key,) = fresh()
    edges = [Edge(key.from_id, to_id, 7, 0) for to_id in (1 << 61, 100, 99, 9)]
    await fill(kit, key, edges, complete=True)
    assert await kit.here.pages([PageRequest(key, 4), PageRequest(key, 2, Position(7, 100))]) == [
        edges,
        edges[2:],
    ]


async def test_versions_are_not_kept(kit: Kit) -> None:
    (key,) = fresh()
    await fill(kit, key, [Edge(key.from_id, 3, MAX_SEQUENCE, 42)], complete=True)
    assert await kit.here.pages(first(key)) == [[Edge(key.from_id, 3, MAX_SEQUENCE, 0)]]


async def test_only_one_reader_of_a_missing_list_gets_the_lease(kit: Kit) -> None:
    one, two = fresh(2)
    answers = await kit.here.pages([*first(one), *first(one, 2), *first(two)])
    assert [type(answer) for answer in answers] == [Lease, type(None), Lease]
    assert await kit.there.pages(first(one)) == [None]
    heads = await kit.here.heads([one, one])
    assert isinstance(heads[one], Lease)
    assert await kit.there.heads([one]) == {}


async def test_a_reader_overtaken_by_a_writer_fills_nothing(kit: Kit) -> None:
    (key,) = fresh()
    lease = leased((await kit.here.pages(first(key)))[0])
    head_lease = leased((await kit.here.heads([key]))[key])
    await kit.there.drop([key])
    await kit.here.fill_pages([(lease, Window(rows(key, 1), True))])
    await kit.here.fill_heads([(head_lease, ListHead(1, 1))])
    assert isinstance((await kit.there.pages(first(key)))[0], Lease)
    assert isinstance((await kit.there.heads([key]))[key], Lease)


async def test_a_reader_overtaken_by_a_writer_and_a_reader_fills_nothing(kit: Kit) -> None:
    (key,) = fresh()
    slow = leased((await kit.here.pages(first(key)))[0])
    slow_head = leased((await kit.here.heads([key]))[key])
    await kit.there.drop([key])
    quick = leased((await kit.there.pages(first(key)))[0])
    quick_head = leased((await kit.there.heads([key]))[key])
    await kit.here.fill_pages([(slow, Window(rows(key, 1), True))])
    await kit.here.fill_heads([(slow_head, ListHead(1, 1))])
    assert await kit.here.pages(first(key)) == [None]
    assert await kit.here.heads([key]) == {}
    await kit.there.fill_pages([(quick, Window(rows(key, 1, 2), True))])
    await kit.there.fill_heads([(quick_head, ListHead(2, 2))])
    await kit.here.fill_pages([(slow, Window(rows(key, 1), True))])
    await kit.here.fill_heads([(slow_head, ListHead(1, 1))])
    assert await kit.here.pages(first(key)) == [rows(key, 1, 2)]
    assert await kit.here.heads([key]) == {key: ListHead(2, 2)}


async def test_an_expired_lease_fills_nothing(kit: Kit) -> None:
    (key,) = fresh()
    slow = leased((await kit.here.pages(first(key)))[0])
    slow_head = leased((await kit.here.heads([key]))[key])
    await kit.expire([key])
    await kit.here.fill_pages([(slow, Window(rows(key, 1), True))])
    await kit.here.fill_heads([(slow_head, ListHead(1, 1))])
    assert isinstance((await kit.there.pages(first(key)))[0], Lease)
    assert isinstance((await kit.there.heads([key]))[key], Lease)


async def test_heads_come_back_as_they_were_filled(kit: Kit) -> None:
    one, two = fresh(2)
    found = await kit.here.heads([one, two])
    await kit.here.fill_heads(
        [(leased(found[one]), ListHead(0, 0)), (leased(found[two]), ListHead(12, 1 << 62))]
    )
    heads = {one: ListHead(0, 0), two: ListHead(12, 1 << 62)}
    assert await kit.there.heads([one, two]) == heads


async def test_a_drop_takes_windows_and_heads_of_its_lists_alone(kit: Kit) -> None:
    one, two = fresh(2)
    for key in (one, two):
        await fill(kit, key, rows(key, 5), complete=True)
        lease = (await kit.here.heads([key]))[key]
        await kit.here.fill_heads([(leased(lease), ListHead(1, 1))])
    await kit.there.drop([one])
    pages, heads = (
        await kit.here.pages([*first(one), *first(two)]),
        await kit.here.heads([one, two]),
    )
    assert isinstance(pages[0], Lease)
    assert isinstance(heads[one], Lease)
    assert (pages[1], heads[two]) == (rows(two, 5), ListHead(1, 1))


async def test_calls_about_nothing_do_nothing(kit: Kit) -> None:
    assert await kit.here.pages([]) == []
    assert await kit.here.heads([]) == {}
    await kit.here.fill_pages([])
    await kit.here.fill_heads([])
    await kit.here.drop([])


ROWS = st.sets(
    st.tuples(st.integers(0, 40) | st.integers(0, MAX_SEQUENCE), st.integers(1, 1 << 62)),
    max_size=12,
)
REQUESTS = st.lists(
    st.tuples(st.integers(0, 12), st.none() | st.integers(0, 12), st.integers(-1, 1)), max_size=6
)


@MODEL
@given(found=ROWS, asked=REQUESTS)
async def test_a_window_answers_as_the_list_does_or_not_at_all(
    kit: Kit, found: set[tuple[int, int]], asked: list[tuple[int, int | None, int]]
) -> None:
    """The rows, limits and positions are arbitrary; a position is at a row or just beside it."""
    (key,) = fresh()
    whole = [Edge(key.from_id, to_id, s, 0) for s, to_id in sorted(found, reverse=True)]
    await fill(kit, key, whole[:5], complete=len(whole) <= 5)
    for limit, at, beside in asked:
        after = None
        if at is not None and whole:
            row = whole[at % len(whole)]
            after = Position(row.sequence, max(0, row.to_id + beside))
        rest = [e for e in whole if after is None or (e.sequence, e.to_id) < after]
        covered = [e for e in whole[:5] if e in rest]
        (page,) = await kit.there.pages([PageRequest(key, limit, after)])
        if len(whole) <= 5 or len(covered) >= limit:
            assert page == rest[:limit]
        else:
            assert page is None


@MODEL
@given(steps=leases.STEPS)
async def test_no_order_of_readers_and_writers_shows_what_was_overwritten(
    kit: Kit, steps: list[tuple[str, int]]
) -> None:
    (key,) = fresh()

    def entry(cache: MappingCache) -> leases.Entry:
        async def ask() -> int | Lease | None:
            (page,) = await cache.pages(first(key, 1))
            return page if isinstance(page, Lease) or page is None else page[0].sequence

        async def fill(lease: Lease, version: int) -> None:
            await cache.fill_pages([(lease, Window(rows(key, version), True))])

        return leases.Entry(ask, fill, lambda: cache.drop([key]))

    await leases.follow(steps, [entry(kit.there), entry(kit.here)], lambda: kit.expire([key]))


async def test_a_server_that_is_no_redis_is_unavailable(caches: Stack) -> None:
    memcached = urlsplit(memcached_url(caches))
    cache = RedisMappingCache(f"redis://{memcached.netloc}/0", deadline=1.0)
    with pytest.raises(StoreError, match="mapping cache"):
        await cache.heads(fresh())
    await cache.close()


async def test_a_key_of_another_type_is_corrupt(kit: Kit, url: str) -> None:
    (key,) = fresh()
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))
    await raw.set(f"pinway:{{{key.mapping.code}:{key.from_id}}}:w", "text")
    with pytest.raises(StoreCorrupt, match="mapping cache"):
        await kit.here.pages(first(key))
    await kit.here.drop([key])
    assert isinstance((await kit.here.pages(first(key)))[0], Lease)
    await raw.aclose()


async def test_cancelled_calls_leave_every_later_answer_its_own_question(url: str) -> None:
    cache = RedisMappingCache(url, deadline=PATIENT)
    keys = fresh(100)
    leases = await cache.pages([PageRequest(key, 5) for key in keys])
    windows = [Window(rows(key, key.from_id), True) for key in keys]
    await cache.fill_pages(list(zip(map(leased, leases), windows, strict=True)))
    dice, cancelled, answered = random.Random(7), 0, 0

    async def ask() -> None:
        nonlocal cancelled, answered
        some = dice.sample(keys, 5)
        task = asyncio.create_task(cache.pages([PageRequest(key, 5) for key in some]))
        if dice.random() < 0.5:
            await asyncio.sleep(dice.random() * 0.004)
            task.cancel()
        try:
            assert await task == [rows(key, key.from_id) for key in some]
            answered += 1
        except asyncio.CancelledError:
            cancelled += 1

    while cancelled < 300 or answered < 300:
        await asyncio.gather(*(ask() for _ in range(12)))
    everything = await cache.pages([PageRequest(key, 5) for key in keys])
    assert everything == [rows(key, key.from_id) for key in keys]
    await cache.close()


async def test_an_outage_gives_our_errors_and_ends_when_the_server_is_back(
    caches: Stack,
) -> None:
    key, other = fresh(2)
    server = urlsplit(redis_url(caches))
    assert server.port
    async with proxied("127.0.0.1", server.port) as proxy:
        url = f"redis://127.0.0.1:{proxy.port}/{DATABASE}"
        cache = RedisMappingCache(url, deadline=1.0, refused_is_empty=False)
        lease = leased((await cache.pages(first(key)))[0])
        await proxy.cut()
        calls = (cache.pages(first(key)), cache.heads([key]), cache.drop([other]), cache.ping())
        for call in calls:
            with pytest.raises(StoreUnavailable):
                await call
        await proxy.mend()
        await until_well(cache)
        await cache.fill_pages([(lease, Window(rows(key, 1), True))])
        assert await cache.pages(first(key)) == [rows(key, 1)]
        proxy.stall()
        with pytest.raises(StoreTimeout):
            await cache.drop([key])
        await proxy.mend()
        await until_well(cache)
        assert isinstance((await cache.pages(first(key)))[0], Lease)
        await cache.close()


async def test_a_server_that_lost_its_scripts_is_taught_them_again(kit: Kit, url: str) -> None:
    (key,) = fresh()
    await fill(kit, key, rows(key, 1), complete=True)
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))
    await raw.script_flush()
    await raw.aclose()
    assert await kit.here.pages(first(key)) == [rows(key, 1)]
    assert await kit.there.pages(first(key)) == [rows(key, 1)]


async def test_a_call_takes_one_round_trip_for_any_number_of_lists(
    caches: Stack,
) -> None:
    server = urlsplit(redis_url(caches))
    assert server.port
    async with proxied("127.0.0.1", server.port) as proxy:
        cache = RedisMappingCache(f"redis://127.0.0.1:{proxy.port}/{DATABASE}", deadline=PATIENT)
        await cache.heads(fresh())  # connects, and teaches the scripts
        for count in (1, 50):
            keys = fresh(count)
            before = proxy.trips
            leases = await cache.pages([PageRequest(key, 5) for key in keys])
            heads = await cache.heads(keys)
            await cache.fill_pages([(leased(lease), Window([], True)) for lease in leases])
            await cache.fill_heads([(leased(heads[key]), ListHead(0, 0)) for key in keys])
            await cache.drop(keys)
            assert proxy.trips - before == 5
        await cache.close()


async def test_a_bucket_gives_what_it_has_to_all_gateways_together(kit: Kit) -> None:
    bucket = secrets.token_hex(8)
    assert await kit.here.take(bucket, 1, 60, burst=100, refill=1) == (60, 0)
    assert (await kit.there.take(bucket, 1, 60, burst=100, refill=1))[0] in range(40, 45)
    taken, wait = await kit.here.take(bucket, 50, 60, burst=100, refill=1)
    assert taken == 0
    assert 40 <= wait <= 50
    assert await kit.there.take(secrets.token_hex(8), 100, 500, burst=100, refill=1) == (100, 0)


async def test_entries_that_are_filled_together_expire_at_different_times(url: str) -> None:
    cache = RedisMappingCache(url, deadline=PATIENT, rng=random.Random(7))
    keys = fresh(200)
    pages = await cache.pages([PageRequest(key, 5, None) for key in keys])
    heads = await cache.heads(keys)
    leases = [page for page in pages if isinstance(page, Lease)]
    await cache.fill_pages([(lease, Window([], complete=True)) for lease in leases])
    await cache.fill_heads(
        [(head, ListHead(0, 1)) for head in heads.values() if isinstance(head, Lease)]
    )
    await cache.close()
    raw = redis.asyncio.Redis.from_url(url.replace("redis+unix:", "unix:"))
    for kind in "wh":
        names = [f"pinway:{{{key.mapping.code}:{key.from_id}}}:{kind}" for key in keys]
        spread([await raw.pttl(name) / TIME_TO_LIVE_MS for name in names])
    await raw.aclose()


def spread(lives: Sequence[float]) -> None:
    """Check that each tenth of the times from 90% to 100% of the longest has some of the
    entries."""
    assert min(lives) > 0.89
    assert max(lives) <= 1
    assert {int((life - 0.9) * 100) for life in lives} >= set(range(10))
