"""The rate at which a client may spend cost: a token bucket for each client, shared by all
gateways.

The buckets are in the mapping cache. A round trip for each request would take longer than most
requests, so a gateway takes tokens from a bucket in chunks, and spends a chunk without a round
trip. Tokens that a gateway took are spent or lost, but never given twice. So while the cache
answers, all gateways together spend no more than the bucket gives; a client that uses G gateways
may be refused while G - 1 of them still hold a chunk. While the cache does not answer, each gateway
fills its own buckets, so G gateways give at most G times as much.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Protocol

from datasources.errors import StoreError
from gateway.http.peers import Unit, units

CHUNKS = 50
"""The number of chunks in a full bucket."""
AWAY_SECONDS = 1.0
"""Seconds for which a cache that did not answer is not called."""
ASKED_SECONDS = 1.0
"""Seconds for which a bucket with too few tokens is not read again. In this time the gateway
computes its content, so that a client that continues after a refusal costs no round trips."""
CLIENTS = 10_000
"""The number of recent clients whose tokens are remembered."""


class Buckets(Protocol):
    """The part of the mapping cache that a rate limit needs; see
    `datasources.protocols.MappingCache.take`."""

    async def take(
        self, bucket: str, least: int, most: int, *, burst: int, refill: int
    ) -> tuple[int, float]: ...


@dataclass(slots=True)
class _Bucket:
    """A client's bucket in this gateway."""

    tokens: float
    at: float


class Rate:
    """A rate limit: `refill` tokens a second for each client, and `burst` tokens at once.

    A network of clients (`gateway.http.peers.units`) has a bucket that is several times as large,
    from which each of its clients takes the same tokens as from its own bucket.
    """

    def __init__(
        self,
        buckets: Buckets,
        *,
        refill: int,
        burst: int,
        clock: Callable[[], float] = monotonic,
        kind: str = "",
    ) -> None:
        """`kind` begins the buckets' names in the cache."""
        self._buckets, self._refill, self._burst, self._clock = buckets, refill, burst, clock
        self._kind = kind
        self._held: OrderedDict[str, float] = OrderedDict()
        self._own: OrderedDict[str, _Bucket] = OrderedDict()
        self._short: OrderedDict[str, _Bucket] = OrderedDict()
        """The last known contents and times of buckets that had too few tokens."""
        self._away_until = -AWAY_SECONDS

    def spend(self, client: str, cost: int) -> bool:
        """Spend tokens that this gateway holds. Returns whether there were enough."""
        held, found = self._held, units(client)
        for unit in found:
            if held.get(unit.name, 0.0) < cost:
                return False
        for unit in found:
            held[unit.name] = held.get(unit.name, 0.0) - cost
        return True

    def owe(self, client: str, cost: int) -> None:
        """Charge cost that has already been spent."""
        for unit in units(client):
            self._hold(unit.name, -cost)

    async def take(self, client: str, cost: int) -> float:
        """Take tokens from the buckets of the client and its networks, and spend them. Returns 0;
        or the seconds after which there will be enough, if nothing was spent."""
        spent, paid = list[str](), min(cost, self._burst)
        for unit in units(client):
            if self._held.get(unit.name, 0.0) >= paid:
                self._held[unit.name] -= paid
            elif wait := await self._take(unit, paid):
                for name in spent:
                    self._hold(name, paid)
                return wait
            spent.append(unit.name)
        return 0.0

    async def _take(self, unit: Unit, cost: int) -> float:
        """Take tokens from one bucket, and spend them."""
        client, burst, refill = unit.name, self._burst * unit.times, self._refill * unit.times
        missing = cost - self._held.get(client, 0.0)
        least = min(max(1, ceil(missing)), burst)
        if (wait := self._wait_for(client, least, refill)) > 0:
            return wait
        most = max(least, burst // CHUNKS)
        if self._clock() < self._away_until:
            taken, wait = self._take_own(client, least, burst, refill)
        else:
            try:
                taken, wait = await self._buckets.take(
                    self._kind + client, least, most, burst=burst, refill=refill
                )
            except StoreError:
                self._away_until = self._clock() + AWAY_SECONDS
                taken, wait = self._take_own(client, least, burst, refill)
        if not taken:
            self._short[client] = _Bucket(least - wait * refill, self._clock())
            if len(self._short) > CLIENTS:
                self._short.popitem(last=False)
            return wait
        self._hold(client, taken - cost)
        return 0.0

    def _hold(self, client: str, tokens: float) -> None:
        held = self._held
        held[client] = held.get(client, 0.0) + tokens
        held.move_to_end(client)
        if len(held) > CLIENTS:
            held.popitem(last=False)

    def _wait_for(self, client: str, tokens: int, refill: int) -> float:
        """Seconds until a bucket that recently had too few tokens has `tokens`; or 0."""
        known = self._short.get(client)
        if known is None:
            return 0.0
        since = self._clock() - known.at
        if since >= ASKED_SECONDS:
            del self._short[client]
            return 0.0
        return (tokens - known.tokens) / refill - since

    def _take_own(self, client: str, least: int, burst: int, refill: int) -> tuple[int, float]:
        now, own = self._clock(), self._own
        bucket = own.setdefault(client, _Bucket(burst, now))
        own.move_to_end(client)
        if len(own) > CLIENTS:
            own.popitem(last=False)
        tokens = min(burst, bucket.tokens + (now - bucket.at) * refill)
        bucket.at = now
        bucket.tokens = tokens - least if tokens >= least else tokens
        return (least, 0.0) if tokens >= least else (0, (least - tokens) / refill)
