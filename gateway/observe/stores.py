"""Metrics of the stores as this process uses them: calls, caches, pools of connections, jobs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from datasources.cache_lists import CacheLists
from datasources.calls import Calls
from datasources.circuit import circuits
from datasources.latencies import Latencies
from datasources.places import PoolState
from datasources.protocols import Stores
from gateway.observe import histograms, metric_help


class StoreCollector(Collector):
    """The calls of the stores, and the hits and misses of the caches."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def collect(self) -> Iterable[Metric]:
        """`pinway_store_call_duration_seconds`, `pinway_cache_hits_total`, `..._misses_total`."""
        durations = HistogramMetricFamily(
            "pinway_store_call_duration_seconds",
            "Seconds of the calls of stores. store: the store's role; backend: the software behind "
            "it; operation: the call; outcome: ok, timeout, unavailable, conflict, stale_topology, "
            "corrupt, cancelled (such as a race's loser), or raised (an error that is not the "
            "store's).",
            labels=["store", "backend", "operation", "outcome"],
        )
        for called, latencies in sorted(self._calls.latencies.items()):
            histograms.add(durations, list(called), latencies)
        hits = CounterMetricFamily(
            "pinway_cache_hits", "Keys that a cache was asked for and had.", labels=["cache"]
        )
        misses = CounterMetricFamily(
            "pinway_cache_misses",
            "Keys that a cache was asked for and did not have: their shards are read.",
            labels=["cache"],
        )
        for cache in ("mapping_cache", "object_cache"):
            hits.add_metric([cache], self._calls.hits[cache])
            misses.add_metric([cache], self._calls.misses[cache])
        yield from (durations, hits, misses)


class PoolCollector(Collector):
    """The pools of connections to the stores' servers. Embedded stores have none."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def collect(self) -> Iterable[Metric]:
        """`pinway_pool_connections_used`, `..._limit` and `pinway_pool_waiting`, by pool."""
        labels = ["store", "pool"]
        used = GaugeMetricFamily(
            "pinway_pool_connections_used", "Connections to a server in use.", labels=labels
        )
        limit = GaugeMetricFamily(
            "pinway_pool_connections_limit",
            "Connections to a server that this process may use at a time.",
            labels=labels,
        )
        waiting = GaugeMetricFamily(
            "pinway_pool_waiting", "Calls that wait for a connection to a server.", labels=labels
        )
        for store, pool in pools(self._stores):
            used.add_metric([store, pool.name], pool.in_use)
            limit.add_metric([store, pool.name], pool.most)
            waiting.add_metric([store, pool.name], pool.waiting)
        yield from (used, limit, waiting)


def pools(stores: Stores) -> Iterator[tuple[str, PoolState]]:
    """The connection pools of each store, by the store's name."""
    named: Mapping[str, Any] = {
        "shards": stores.shards,
        "object_cache": stores.object_cache,
        "mapping_cache": stores.mapping_cache,
        "pools_primary": stores.pools.primary,
        "pools_standby": stores.pools.standby,
        "feeds_primary": stores.feeds.primary,
        "feeds_standby": stores.feeds.standby,
    }
    for name, store in named.items():
        states = getattr(store, "pools", None)
        if states is not None:
            yield from ((name, state) for state in states())


class CircuitCollector(Collector):
    """The circuits of the caches' servers. Caches in this process have none."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def collect(self) -> Iterable[Metric]:
        """`pinway_cache_circuit_mode{cache, server, mode}`, and `pinway_cache_circuit_NAME{cache,
        server}` for each count of `CircuitState`."""
        labels = ["cache", "server"]
        mode = GaugeMetricFamily(
            "pinway_cache_circuit_mode",
            "1 for the circuit's mode: well, avoided (reads go to the shards) or returning.",
            labels=[*labels, "mode"],
        )
        found = list(circuits(self._stores))
        for cache, state in found:
            mode.add_metric([cache, state.server, state.mode], 1)
        yield mode
        for field, help in metric_help.CIRCUIT.items():
            family = GaugeMetricFamily if field == "owed" else CounterMetricFamily
            metric = family(f"pinway_cache_circuit_{field}", help, labels=labels)
            for cache, state in found:
                metric.add_metric([cache, state.server], getattr(state, field))
            yield metric


class GenerationCollector(Collector):
    """The generations of the caches' servers, as this process knows them."""

    def __init__(self, stores: Stores) -> None:
        self._generations = stores.generations

    def collect(self) -> Iterable[Metric]:
        """`pinway_cache_generation_reading{server, reading}`, and
        `pinway_cache_generation_NAME{server}` for each other field of `GenerationState`."""
        states = [] if self._generations is None else self._generations.states()
        reading = GaugeMetricFamily(
            "pinway_cache_generation_reading",
            "1 for what this process may do: leased (it reads the server), shut (some process "
            "can't remove entries), opening, or unknown (ZooKeeper does not answer).",
            labels=["server", "reading"],
        )
        for state in states:
            reading.add_metric([state.server, state.reading], 1)
        yield reading
        for field, help in metric_help.GENERATION.items():
            family = GaugeMetricFamily if field == "shuts" else CounterMetricFamily
            metric = family(f"pinway_cache_generation_{field}", help, labels=["server"])
            for state in states:
                metric.add_metric([state.server], getattr(state, field))
            yield metric


class CacheListCollector(Collector):
    """The list of memcached servers that this process uses. A cache in this process has none."""

    def __init__(self, stores: Stores) -> None:
        self._cache: Any = stores.object_cache

    def collect(self) -> Iterable[Metric]:
        """`pinway_cache_list_number` and `pinway_cache_list_changing`."""
        lists: CacheLists | None = getattr(self._cache, "lists", None)
        number = GaugeMetricFamily(
            "pinway_cache_list_number",
            "The number of the list of memcached servers by which this process reads.",
        )
        changing = GaugeMetricFamily(
            "pinway_cache_list_changing",
            "1 while this process removes entries by two lists of memcached servers.",
        )
        if lists is not None:
            number.add_metric([], lists.read.number)
            changing.add_metric([], lists.other is not None)
        yield from (number, changing)


class Jobs:
    """The jobs that this process ran, by outcome."""

    def __init__(self) -> None:
        self.latencies: dict[str, Latencies] = {}

    def add(self, outcome: str, seconds: float) -> None:
        """Count a job that ended."""
        self.latencies.setdefault(outcome, Latencies()).add(seconds)


class JobCollector(Collector):
    """The jobs of this process."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def collect(self) -> Iterable[Metric]:
        """`pinway_job_duration_seconds{outcome}`."""
        durations = HistogramMetricFamily(
            "pinway_job_duration_seconds",
            "Seconds of the background jobs that this process ran. outcome: ok, the fault of a "
            "store (the job runs again later), cancelled (another process takes it), or raised (a "
            "fault of the job's own).",
            labels=["outcome"],
        )
        for outcome, latencies in sorted(self._jobs.latencies.items()):
            histograms.add(durations, [outcome], latencies)
        yield durations
