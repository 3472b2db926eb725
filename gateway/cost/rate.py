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
    """A rate limit: `refill` tokens a second for each client, and `burst` tokens at once."""

    def __init__(
        self, buckets: Buckets, *, refill: int, burst: int, clock: Callable[[], float] = monotonic
    ) -> None:
        self._buckets, self._refill, self._burst, self._clock = buckets, refill, burst, clock
        self._chunk = max(1, burst // CHUNKS)
        self._held: OrderedDict[str, float] = OrderedDict()
        self._own: OrderedDict[str, _Bucket] = OrderedDict()
        self._short: OrderedDict[str, _Bucket] = OrderedDict()
        """The last known contents and times of buckets that had too few tokens."""
        self._away_until = -AWAY_SECONDS

    def spend(self, client: str, cost: int) -> bool:
        """Spend tokens that this gateway holds. Returns whether there were enough."""
        held = self._held.get(client, 0.0)
        if held < cost:
            return False
        self._held[client] = held - cost
        return True

    def owe(self, client: str, cost: int) -> None:
        """Charge cost that has already been spent."""
        self._hold(client, -cost)

    async def take(self, client: str, cost: int) -> float:
        """Take tokens from the bucket and spend them. Returns 0; or the seconds after which there
        will be enough, if nothing was spent."""
        missing = min(cost, self._burst) - self._held.get(client, 0.0)
        least = min(max(1, ceil(missing)), self._burst)
        if (wait := self._wait_for(client, least)) > 0:
            return wait
        most = max(least, self._chunk)
        if self._clock() < self._away_until:
            taken, wait = self._take_own(client, least)
        else:
            try:
                taken, wait = await self._buckets.take(
                    client, least, most, burst=self._burst, refill=self._refill
                )
            except StoreError:
                self._away_until = self._clock() + AWAY_SECONDS
                taken, wait = self._take_own(client, least)
        if not taken:
            self._short[client] = _Bucket(least - wait * self._refill, self._clock())
            if len(self._short) > CLIENTS:
                self._short.popitem(last=False)
            return wait
        self._hold(client, taken - min(cost, self._burst))
        return 0.0

    def _hold(self, client: str, tokens: float) -> None:
        held = self._held
        held[client] = held.get(client, 0.0) + tokens
        held.move_to_end(client)
        if len(held) > CLIENTS:
            held.popitem(last=False)

    def _wait_for(self, client: str, tokens: int) -> float:
        """Seconds until a bucket that recently had too few tokens has `tokens`; or 0."""
        known = self._short.get(client)
        if known is None:
            return 0.0
        since = self._clock() - known.at
        if since >= ASKED_SECONDS:
            del self._short[client]
            return 0.0
        return (tokens - known.tokens) / self._refill - since

    def _take_own(self, client: str, least: int) -> tuple[int, float]:
        now, own = self._clock(), self._own
        bucket = own.setdefault(client, _Bucket(self._burst, now))
        own.move_to_end(client)
        if len(own) > CLIENTS:
            own.popitem(last=False)
        tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._refill)
        bucket.at = now
        bucket.tokens = tokens - least if tokens >= least else tokens
        return (least, 0.0) if tokens >= least else (0, (least - tokens) / self._refill)
