"""The requests that an endpoint answered: how many, with which status and errors, in which time."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; the upper ends of the classes that latencies are counted in. The last has none."""


class Latencies:
    """The latencies of one status."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0


class Served:
    """Counters of one endpoint's answers since the start."""

    def __init__(self) -> None:
        self.by_status: dict[int, Latencies] = {}
        self.errors: Counter[str] = Counter()
        """The errors of the answers, by code."""

    def add(self, status: int, seconds: float, codes: Iterable[str] = ()) -> None:
        """Count one answer, `seconds` after its request began to be read; `codes` of its errors."""
        if codes:
            self.errors.update(codes)
        latencies = self.by_status.get(status)
        if latencies is None:
            latencies = self.by_status[status] = Latencies()
        latencies.counts[bisect_left(BOUNDS, seconds)] += 1
        latencies.seconds += seconds
