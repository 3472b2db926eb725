"""Counts the requests that an endpoint answered: by status, errors, time, and operation."""

from collections import Counter
from collections.abc import Iterable

from datasources.latencies import Latencies
from gateway.observe.frequent_names import Frequent

MOST_NAMES = 100
"""Operation names that are counted separately: the most frequent."""
NAME = 100
"""The characters of the longest name that is counted separately, and that a log line or a span
has."""
ANONYMOUS, FURTHER = "(anonymous)", "(further)"

Key = tuple[str, str]
"""The type and the name of an operation."""


class Served:
    """Counters of one endpoint's answers since the start."""

    def __init__(self) -> None:
        self.by_status: dict[int, Latencies] = {}
        self.errors: Counter[str] = Counter()
        """The errors of the answers, by code."""
        self.operations: dict[Key, Latencies] = {}
        """The operations that ran, by type and name. The time of a name that left is with the
        further ones, so the sum over all names only grows."""
        self._frequent: Frequent[Key] = Frequent(MOST_NAMES, self._leave)

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
        if not name:
            key = type_, ANONYMOUS
        elif len(name) > NAME or not self._frequent.add((type_, name)):
            key = type_, FURTHER
        else:
            key = type_, name
        latencies = self.operations.get(key)
        if latencies is None:
            latencies = self.operations[key] = Latencies()
        latencies.add(seconds)

    def _leave(self, key: Key) -> None:
        """Count a name's operations as further ones from now on."""
        latencies = self.operations.pop(key, None)
        if latencies is not None:
            self.operations.setdefault((key[0], FURTHER), Latencies()).include(latencies)


def shortened(name: str) -> str:
    """The name, cut to `NAME` characters."""
    return name if len(name) <= NAME else f"{name[:NAME]}..."
