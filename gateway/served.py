"""Counts the requests that an endpoint answered: by status, errors, time, and operation."""

from collections import Counter
from collections.abc import Iterable

from datasources.latencies import Latencies

MOST_NAMES = 200
"""Operation names that are counted separately: the first that ran. Clients choose names, so their
number is unbounded."""
ANONYMOUS, FURTHER = "(anonymous)", "(further)"


class Served:
    """Counters of one endpoint's answers since the start."""

    def __init__(self) -> None:
        self.by_status: dict[int, Latencies] = {}
        self.errors: Counter[str] = Counter()
        """The errors of the answers, by code."""
        self.operations: dict[tuple[str, str], Latencies] = {}
        """The operations that ran, by type and name."""

    def add(self, status: int, seconds: float, codes: Iterable[str] = ()) -> None:
        """Count one answer. `seconds`: the time since the first read of its request. `codes`: its
        errors."""
        if codes:
            self.errors.update(codes)
        latencies = self.by_status.get(status)
        if latencies is None:
            latencies = self.by_status[status] = Latencies()
        latencies.add(seconds)

    def ran(self, type_: str, name: str | None, seconds: float) -> None:
        """Count an operation that ran."""
        key = type_, name or ANONYMOUS
        latencies = self.operations.get(key)
        if latencies is None:
            if len(self.operations) >= MOST_NAMES:
                key = type_, FURTHER
            latencies = self.operations.setdefault(key, Latencies())
        latencies.add(seconds)
