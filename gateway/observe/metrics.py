"""Metrics in Prometheus' text format. One collector for each part of a gateway reads that part's
counters when the metrics are requested."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from math import isfinite

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.responses import Response

from feed_engine.feeds.counts import FeedCounts
from feed_engine.speculation import Race, Stats
from gateway.cost.refusals import Refusals
from gateway.execution.executor import Executor
from gateway.observe import histograms, metric_help
from gateway.observe.answers import ANONYMOUS, FURTHER, MOST_NAMES, NAME, Served
from gateway.observe.process import register_process
from gateway.server.connections import Connections

_GAUGES = {"cutoff", "trust", "documents", "bytes"}


def new_registry(*collectors: Collector) -> CollectorRegistry:
    """A registry with everything that this gateway counts."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    register_process(registry)
    return registry


def exposition(text: bytes) -> Response:
    """A response with metrics in Prometheus' text format."""
    headers = {"content-type": CONTENT_TYPE_LATEST, "cache-control": "no-store"}
    return Response(text, headers=headers)


class FeedCollector(Collector):
    """The races of the feed stores, by the stores' name."""

    def __init__(self, races: Mapping[str, Race]) -> None:
        self._races = races

    def collect(self) -> Iterable[Metric]:
        """`pinway_feed_NAME{store}` for each count of `Stats`, and the state of each race and
        side."""
        reports = {name: race.report() for name, race in self._races.items()}
        for field in fields(Stats):
            help = metric_help.FEED.get(field.name, "")
            name = metric_help.NAMES.get(field.name, field.name)
            family = GaugeMetricFamily if field.name in _GAUGES else CounterMetricFamily
            metric = family(f"pinway_feed_{name}", help, labels=["store"])
            for store, report in reports.items():
                metric.add_metric([store], getattr(report.stats, field.name))
            yield metric
        budget = GaugeMetricFamily(
            "pinway_feed_budget",
            "Extra calls that the budget allows now: for late calls, and for an avoided primary.",
            labels=["store", "for"],
        )
        forced = GaugeMetricFamily(
            "pinway_feed_forced",
            "1 while an operator sends all reads to this side.",
            labels=["store", "side"],
        )
        mode = GaugeMetricFamily(
            "pinway_feed_mode",
            "1 for the side's mode: well, avoided or returning.",
            labels=["store", "side", "mode"],
        )
        distrust = GaugeMetricFamily(
            "pinway_feed_distrust_ratio",
            "The doubt in the side, from 0 (none) to 1, where the side is avoided.",
            labels=["store", "side"],
        )
        latency = GaugeMetricFamily(
            "pinway_feed_latency_seconds",
            "The latency of the last half minute's calls, by quantile; no sample before any.",
            labels=["store", "side", "quantile"],
        )
        for name, report in reports.items():
            budget.add_metric([name, "late"], report.budget)
            budget.add_metric([name, "ill"], report.budget_when_ill)
            for side, one in report.sides.items():
                forced.add_metric([name, side.value], report.forced is side)
                mode.add_metric([name, side.value, one.mode], 1)
                distrust.add_metric([name, side.value], one.distrust)
                for share, seconds in one.quantiles.items():
                    if isfinite(seconds):  # measured latencies only
                        latency.add_metric([name, side.value, f"{share:g}"], seconds)
        yield from (budget, forced, mode, distrust, latency)


class FeedRowCollector(Collector):
    """The rows of popular pins, and the marks of shown pins, as this process' jobs write them."""

    def __init__(self, counts: FeedCounts, shown_days: int) -> None:
        self._counts, self._shown_days = counts, shown_days

    def collect(self) -> Iterable[Metric]:
        """`pinway_popular_*` and `pinway_shown_*`."""
        writes = CounterMetricFamily(
            "pinway_popular_writes",
            "Cells that this process wrote to each row of popular pins, on both sides. The rows "
            "grow evenly.",
            labels=["row"],
        )
        for number, count in enumerate(self._counts.popular_writes):
            writes.add_metric([str(number)], count)
        moved = CounterMetricFamily(
            "pinway_popular_moved",
            "Cells that this process moved to the rows of popular pins from the one row of earlier "
            "versions, on both sides. It stands still when the old row is empty.",
        )
        moved.add_metric([], self._counts.popular_moved)
        horizon = GaugeMetricFamily(
            "pinway_shown_horizon_seconds",
            "Seconds for which a home feed remembers that it showed a pin.",
        )
        horizon.add_metric([], self._shown_days * 24 * 3600)
        forgotten = CounterMetricFamily(
            "pinway_shown_forgotten",
            "Marks of shown pins that this process removed because they were older than "
            "pinway_shown_horizon_seconds, on both sides.",
        )
        forgotten.add_metric([], self._counts.shown_forgotten)
        yield from (writes, moved, horizon, forgotten)


class ExecutorCollector(Collector):
    """The executor: its documents, and the requests that fell back to graphql-core."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def collect(self) -> Iterable[Metric]:
        """`pinway_executor_NAME` for each field of `Stats`."""
        stats = self._executor.stats
        for field in fields(stats):
            family = GaugeMetricFamily if field.name in _GAUGES else CounterMetricFamily
            help = metric_help.EXECUTOR.get(field.name, "")
            name = metric_help.NAMES.get(field.name, field.name)
            metric = family(f"pinway_executor_{name}", help)
            metric.add_metric([], getattr(stats, field.name))
            yield metric


class ConnectionCollector(Collector):
    """The connections of one process, and the requests that were refused before the application
    received them."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def collect(self) -> Iterable[Metric]:
        """`pinway_http_connections`, and `pinway_http_refused_total{reason}`: a status, "gave way"
        (closed for a new connection), "connections" and "connections of the client" (no place),
        "unread" (the client didn't read)."""
        open_now = GaugeMetricFamily("pinway_http_connections", "Connections that are open.")
        open_now.add_metric([], self._connections.open)
        refused = CounterMetricFamily(
            "pinway_http_refused", "Connections and requests that were refused.", labels=["reason"]
        )
        for reason, count in self._connections.refused.items():
            refused.add_metric([reason], count)
        yield from (open_now, refused)


class HttpCollector(Collector):
    """The requests that the endpoint answered."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def collect(self) -> Iterable[Metric]:
        """`pinway_http_request_duration_seconds{status}`, `pinway_errors_total{code}` and
        `pinway_operation_duration_seconds{type, operation}`."""
        metric = HistogramMetricFamily(
            "pinway_http_request_duration_seconds",
            "Seconds from a request to its answer, by status.",
            labels=["status"],
        )
        for status, latencies in sorted(self._served.by_status.items()):
            histograms.add(metric, [str(status)], latencies)
        operations = HistogramMetricFamily(
            "pinway_operation_duration_seconds",
            "Seconds of the operations that ran, by type and name. The name is the client's: the "
            f"{MOST_NAMES} most frequent names of at most {NAME} characters are counted by "
            f"themselves, all others as {FURTHER}, and operations without a name as {ANONYMOUS}.",
            labels=["type", "operation"],
        )
        for (type_, name), latencies in sorted(self._served.operations.items()):
            histograms.add(operations, [type_, name], latencies)
        yield from (metric, operations)
        errors = CounterMetricFamily(
            "pinway_errors",
            "GraphQL errors in answers, by extensions.code. An answer with errors usually has the "
            "HTTP status 200: watch this metric for outages.",
            labels=["code"],
        )
        for code, count in sorted(self._served.errors.items()):
            errors.add_metric([code], count)
        yield errors


class RefusalCollector(Collector):
    """The operations that were refused because of their cost, by reason."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals

    def collect(self) -> Iterable[Metric]:
        """`pinway_operations_refused{reason}` for each field of `Refusals`."""
        metric = CounterMetricFamily(
            "pinway_operations_refused",
            "Operations that were refused, by the setting of [limits] that they exceeded: max_cost "
            "(cost), rate_cost (rate), max_running (running), max_response_bytes (bytes) or "
            "sign_ups_per_hour (accounts); or by http.max_answers_bytes (unread).",
            labels=["reason"],
        )
        for field in fields(self._refusals):
            metric.add_metric([field.name], getattr(self._refusals, field.name))
        yield metric
