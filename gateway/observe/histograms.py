"""Counted durations as histograms of Prometheus."""

from itertools import accumulate

from prometheus_client.core import HistogramMetricFamily

from datasources.latencies import Latencies


def add(family: HistogramMetricFamily, labels: list[str], latencies: Latencies) -> None:
    """Add the durations under these values of the family's labels."""
    bounds = [*map(str, latencies.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(latencies.counts), strict=True))
    family.add_metric(labels, buckets, latencies.seconds)
