"""The state of the stores that all gateways share: which stores answer, what waits in the queue and
in the outbox, how far slaves are behind. It is read on request, and kept for a moment."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from datasources.protocols import Backlog, Lane, SearchStore, Stores
from datasources.waits import answer_in_time
from gateway.observe.exposition import written
from gateway.observe.health import NOT_READ, WELL, readiness

KEPT_SECONDS = 2.0
"""Seconds for which a state is kept."""


@dataclass(frozen=True, slots=True)
class State:
    """The state at one time (epoch seconds). None: that part is unknown."""

    at: float
    stores: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Each store's `state`, and the consequences of a fault (`costs`)."""
    ready: bool = False
    lanes: Sequence[Lane] | None = None
    backlog: Backlog | None = None
    lags: Mapping[str, float | None] = field(default_factory=dict)


class Watch:
    """Reads the state of the stores."""

    def __init__(
        self,
        stores: Stores,
        clock: Callable[[], float] = time.time,
        *,
        search: SearchStore | None = None,
    ) -> None:
        self._stores, self._clock, self._search = stores, clock, search
        self._kept: State | None = None
        self._asking = asyncio.Lock()

    async def state(self) -> State:
        """The present state, or a recent state."""
        async with self._asking:
            if self._kept is None or not 0 <= self._clock() - self._kept.at < KEPT_SECONDS:
                self._kept = await self._ask()
            return self._kept

    async def metrics(self) -> bytes:
        """The state in Prometheus' text format."""
        return await written(StateCollector(await self.state()).collect())

    async def _ask(self) -> State:
        stores = self._stores
        report, lanes, backlog, lags = await asyncio.gather(
            readiness(stores, search=self._search),
            answer_in_time(stores.queue.lanes),
            answer_in_time(stores.shards.outbox.backlog),
            answer_in_time(stores.shards.replication),
        )
        ready = not report["required"]
        return State(self._clock(), report["stores"], ready, lanes, backlog, lags or {})


class StateCollector(Collector):
    """A state as metrics. An unknown part has no sample."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collect(self) -> Iterable[Metric]:
        """`pinway_store_up`, `pinway_queue_*`, `pinway_outbox_*`, `pinway_replication_*`."""
        yield from (*self._up(), *self._queue(), *self._outbox(), *self._replication())

    def _up(self) -> Iterable[Metric]:
        ready = GaugeMetricFamily(
            "pinway_ready", "1 while the gateway can serve somebody: a server of shards answers."
        )
        ready.add_metric([], self._state.ready)
        up = GaugeMetricFamily(
            "pinway_store_up",
            "1 for a store that answers, else 0. /readyz says what the loss of a store costs. A "
            "cache that answers but may not be read is 1: see pinway_cache_generation_reading.",
            labels=["store"],
        )
        for name, one in self._state.stores.items():
            up.add_metric([name], one["state"] == WELL or NOT_READ in one["state"])
        return ready, up

    def _queue(self) -> Iterable[Metric]:
        jobs = GaugeMetricFamily(
            "pinway_queue_jobs",
            "Jobs that are queued, wait to be tried again, or run, by priority.",
            labels=["priority"],
        )
        age = GaugeMetricFamily(
            "pinway_queue_oldest_age_seconds",
            "Seconds since the oldest job that is due was queued, by priority; 0 without one.",
            labels=["priority"],
        )
        for lane in self._state.lanes or ():
            jobs.add_metric([lane.priority], lane.jobs)
            age.add_metric([lane.priority], lane.oldest or 0.0)
        return jobs, age

    def _outbox(self) -> Iterable[Metric]:
        rows = GaugeMetricFamily(
            "pinway_outbox_rows", "Committed writes whose further work is not finished."
        )
        age = GaugeMetricFamily(
            "pinway_outbox_oldest_age_seconds",
            "Seconds since the oldest write whose further work is not finished was committed; 0 "
            "without one.",
        )
        parked = GaugeMetricFamily(
            "pinway_outbox_parked_rows",
            "Writes whose further work failed, but not because of a store: it is retried after "
            "growing pauses, and in the end set aside. Rows that are set aside count too.",
        )
        aside = GaugeMetricFamily(
            "pinway_outbox_set_aside_rows",
            "Writes whose further work failed so often that nothing tries it again (dead letters): "
            "somebody has to look at them with `pinway jobs`.",
        )
        backlog = self._state.backlog
        if backlog is not None:
            rows.add_metric([], backlog.rows)
            parked.add_metric([], backlog.parked)
            aside.add_metric([], backlog.set_aside)
            oldest = backlog.oldest
            age.add_metric([], max(0.0, self._state.at - oldest / 1000) if oldest else 0.0)
        return rows, age, parked, aside

    def _replication(self) -> Iterable[Metric]:
        running = GaugeMetricFamily(
            "pinway_replication_running",
            "1 if the slave of a shard server follows its master, else 0.",
            labels=["server"],
        )
        lag = GaugeMetricFamily(
            "pinway_replication_lag_seconds",
            "Seconds that a slave of a shard server is behind its master.",
            labels=["server"],
        )
        slaves = (name.split() for name in self._state.stores)
        unknown = {name[1]: None for name in slaves if name[0] == "slave"}
        for server, seconds in {**unknown, **self._state.lags}.items():
            running.add_metric([server], seconds is not None)
            if seconds is not None:
                lag.add_metric([server], seconds)
        return running, lag
