"""Clients' buckets: shared by gateways, never overspent, and also kept without the cache."""

import asyncio
import random

import pytest

from datasources.errors import StoreUnavailable
from datasources.redis import RedisMappingCache
from datasources.valkey import ValkeyServer
from gateway.cost.rate import ASKED_SECONDS, AWAY_SECONDS, CHUNKS, CLIENTS, Rate
from gateway.http.peers import site, units
from tests.embedded_stores import flush

pytestmark = pytest.mark.anyio
BURST, REFILL = 1_000, 100


class Buckets:
    """One bucket for each client, as the cache has them, at a time that the test sets."""

    def __init__(self) -> None:
        self.now, self.left, self.calls, self.away = 0.0, dict[str, tuple[float, float]](), 0, False
        self.given = 0

    def clock(self) -> float:
        return self.now

    async def take(
        self, bucket: str, least: int, most: int, *, burst: int, refill: int
    ) -> tuple[int, float]:
        self.calls += 1
        await asyncio.sleep(0)
        if self.away:
            raise StoreUnavailable("away")
        left, at = self.left.get(bucket, (float(burst), self.now))
        left = min(burst, left + (self.now - at) * refill)
        taken = int(min(left, most)) if left >= least else 0
        self.left[bucket] = left - taken, self.now
        self.given += taken
        return taken, 0.0 if taken else (least - left) / refill


def rate(buckets: Buckets) -> Rate:
    return Rate(buckets, refill=REFILL, burst=BURST, clock=buckets.clock)


async def spend(rate: Rate, cost: int, client: str = "me") -> float:
    """Returns 0 if the cost was spent, or the seconds to wait."""
    return 0.0 if rate.spend(client, cost) else await rate.take(client, cost)


async def test_a_chunk_is_spent_without_asking() -> None:
    buckets = Buckets()
    own = rate(buckets)
    for _ in range(40):
        assert await spend(own, 1) == 0
    assert buckets.calls == 40 // (BURST // CHUNKS)


async def test_a_client_that_goes_on_after_a_refusal_is_refused_without_asking() -> None:
    buckets = Buckets()
    own = rate(buckets)
    assert await spend(own, BURST) == 0
    asked = buckets.calls
    for _ in range(50):
        assert await spend(own, 50) == pytest.approx(0.5)
    assert buckets.calls == asked + 1
    buckets.now += 0.4
    assert await spend(own, 50) == pytest.approx(0.1)
    assert buckets.calls == asked + 1
    buckets.now += 0.1
    assert await spend(own, 50) == 0
    assert await spend(own, 50) == pytest.approx(0.5)
    buckets.now += ASKED_SECONDS  # other gateways may have given tokens back, or taken some
    asked = buckets.calls
    assert await spend(own, 200) == pytest.approx(0.9, abs=0.2)
    assert buckets.calls == asked + 1


async def test_a_client_that_spent_all_is_told_how_long_to_wait() -> None:
    buckets = Buckets()
    own = rate(buckets)
    for _ in range(10):
        assert await spend(own, 100) == 0
    assert await spend(own, 50) == pytest.approx(0.5)
    assert await spend(own, 50, "another") == 0
    buckets.now += 0.5
    assert await spend(own, 50) == 0
    assert await spend(own, 50) > 0


async def test_an_operation_dearer_than_the_bucket_takes_all_of_it() -> None:
    buckets = Buckets()
    own = rate(buckets)
    assert await spend(own, 10 * BURST) == 0
    assert await spend(own, 1) > 0


async def test_what_is_owed_is_taken_from_the_next_tokens() -> None:
    buckets = Buckets()
    own = rate(buckets)
    assert await spend(own, 1) == 0
    own.owe("me", 500)
    spent = 0
    while await spend(own, 10) == 0:
        spent += 10
    assert 1_000 - 500 - 20 <= spent <= 500


@pytest.mark.parametrize("seed", range(20))
async def test_gateways_together_never_spend_more_than_the_bucket_gives(seed: int) -> None:
    drawing, buckets = random.Random(seed), Buckets()
    gateways, spent = [rate(buckets) for _ in range(3)], 0

    async def one() -> int:
        cost = drawing.choice((1, 7, 90, 300))
        return cost if await spend(drawing.choice(gateways), cost) == 0 else 0

    for _ in range(60):
        spent += sum(await asyncio.gather(*(one() for _ in range(drawing.randint(1, 8)))))
        owed = sum(-min(0, held) for own in gateways for held in own._held.values())
        assert spent <= buckets.given + owed
        assert buckets.given <= BURST + buckets.now * REFILL
        assert owed <= 3 * 8 * 300
        buckets.now += drawing.random()


async def spent_by_all(own: Rate, clients: list[str], each: int) -> int:
    """The tokens that the clients could spend, each up to `each`."""
    spent = 0
    for client in clients:
        for _ in range(each // 50):
            if await spend(own, 50, client):
                break
            spent += 50
    return spent


@pytest.mark.parametrize("away", [False, True])
async def test_the_clients_of_a_network_spend_several_times_a_clients_tokens(away: bool) -> None:
    buckets = Buckets()
    buckets.away = away
    own = rate(buckets)
    household = [site(f"2001:db8:0:{number:x}::1") for number in range(10)]
    assert await spent_by_all(own, household, BURST) == 4 * BURST
    assert await spend(own, 400, household[9]) == pytest.approx(1.0)
    assert await spend(own, 50, site("2001:db8:1::1")) == 0
    neighbors = [site(f"2001:db8:0:{number << 8:x}::1") for number in range(1, 40)]
    assert await spent_by_all(own, neighbors, BURST) == (16 - 4) * BURST
    assert await spend(own, 50, "198.51.100.1") == 0
    assert set(buckets.left) <= {unit.name for c in household + neighbors for unit in units(c)} | {
        *("198.51.100.1", "2001:db8:1::/64", "2001:db8:1::/56", "2001:db8:1::/48")
    }


async def test_a_refusal_by_the_network_takes_nothing_from_the_client() -> None:
    buckets = Buckets()
    own = rate(buckets)
    household = [site(f"2001:db8:0:{number:x}::1") for number in range(5)]
    assert await spent_by_all(own, household[:4], BURST) == 4 * BURST
    for _ in range(50):
        assert await spend(own, 100, household[4]) > 0
    assert buckets.left[household[4]][0] + own._held[household[4]] == BURST
    buckets.now += 1.0
    assert await spend(own, 400, household[4]) == 0


async def test_a_crowd_of_clients_fills_no_memory() -> None:
    own = rate(Buckets())
    for number in range(CLIENTS + 2_000):
        await spend(own, 1, site(f"2001:db8:{number:x}::1"))
    assert len(own._held) <= CLIENTS
    assert len(own._short) <= CLIENTS
    assert len(own._own) <= CLIENTS


async def test_without_the_cache_each_gateway_counts_and_asks_again_later() -> None:
    buckets = Buckets()
    own = rate(buckets)
    buckets.away = True
    for _ in range(10):
        assert await spend(own, 100) == 0
    assert await spend(own, 100) == pytest.approx(1.0)
    assert buckets.calls == 1
    buckets.away, buckets.now = False, AWAY_SECONDS
    assert await spend(own, 100) == 0
    assert buckets.calls == 2


async def test_the_cache_keeps_the_buckets_of_all_gateways(valkey: ValkeyServer) -> None:
    await flush(valkey)
    caches = [RedisMappingCache(valkey.url(0)) for _ in range(2)]
    try:
        one, other = (Rate(cache, refill=1, burst=100) for cache in caches)
        spent = 0
        for own in (one, other):
            while await spend(own, 10) == 0:
                spent += 10
        assert spent == 100
        assert 1 <= await spend(one, 100) <= 100
        assert await spend(one, 10, "another") == 0
        taken, wait = await caches[0].take("new", 5, 7, burst=100, refill=1)
        assert (taken, wait) == (7, 0)
        taken, wait = await caches[1].take("new", 99, 100, burst=100, refill=1)
        assert taken == 0
        assert 1 < wait <= 6
    finally:
        for cache in caches:
            await cache.close()
