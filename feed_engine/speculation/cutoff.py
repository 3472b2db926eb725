"""The cutoff, from latencies seen: min(quantile, multiple * median, ceiling), not below a floor.

Latencies are counted in buckets that grow by 2% (the logarithmic mapping of DDSketch: Masson, Rim
and Lee, VLDB 2019; a quantile is at most 1% off), in slices of a sliding window that are added up
when the cutoff is computed anew. A sketch that can only be merged would not do: the two strata
below are weighed against each other at that time.

Estimator. A side that lost to the other was cancelled: its latency is only known to be longer, and
leaving such calls out would make the tail look short, and the cutoff shorter with each turn. So a
share of the calls, drawn before they begin, runs on to the deadline when it loses. The losers are
a stratum whose size N is known and of which n were measured, so each of those stands for N/n (the
inverse of the share that was drawn: Horvitz and Thompson, 1952; with the realised instead of the
planned share: Hájek, 1971), which also holds while the bound on calls that run on turns some away.
If N > 0 and n = 0, their mass lies above all else. Calls that end at the deadline count as that
long; calls cancelled by their caller, and failures, have no latency and don't count.

The quantile alone is not enough: where 1% of the calls stall, an honest p99.9 is the stall. The
ceiling is Cassandra's `MIN(p99, 50ms)`.
"""

from collections import deque
from math import ceil, exp, log

from feed_engine.speculation.policy import NEVER, Policy

SLICES = 6  # in a window
REFRESH = 0.5  # seconds between two computations
_GROWTH = 1.02
_SCALE = 1 / log(_GROWTH)
_MIDDLE = 2 / (1 + _GROWTH)  # of a bucket, in relative error: its upper end times this
_SHORTEST = 1e-6  # seconds; what is shorter counts as this


class _Slice:
    __slots__ = ("answered", "ends", "lost", "measured", "ran_on")

    def __init__(self, ends: float) -> None:
        self.ends = ends
        self.answered: dict[int, int] = {}  # bucket -> calls
        self.ran_on: dict[int, int] = {}  # of the losers that were measured
        self.lost = 0
        self.measured = 0  # losers that ran on and ended, failed ones too


class Cutoff:
    """One side's latencies. `now` is any clock in seconds; `seconds` the cutoff in force."""

    __slots__ = ("_next", "_policy", "_slice", "_slices", "_start", "_step", "seconds")

    def __init__(self, start: float, policy: Policy) -> None:
        self._policy = policy
        self._start = self.seconds = max(policy.floor, min(start, policy.ceiling))
        self._step = policy.window / SLICES
        self._slices: deque[_Slice] = deque()
        self._slice = _Slice(-NEVER)
        self._next = -NEVER

    def answered(self, took: float, now: float) -> None:
        """A call took so long."""
        if now >= self._next:
            self._refresh(now)
        counts, bucket = self._slice.answered, _bucket(took)
        counts[bucket] = counts.get(bucket, 0) + 1

    def lost(self, now: float) -> None:
        """A call was beaten by the other side; it is cancelled, or runs on."""
        if now >= self._next:
            self._refresh(now)
        self._slice.lost += 1

    def ran_on(self, took: float | None, now: float) -> None:
        """A loser that ran on took so long in all (None: it failed)."""
        if now >= self._next:
            self._refresh(now)
        self._slice.measured += 1
        if took is not None:
            counts, bucket = self._slice.ran_on, _bucket(took)
            counts[bucket] = counts.get(bucket, 0) + 1

    def quantiles(self, *shares: float) -> list[float]:
        """The latencies below which these shares of the window's calls lie; infinite where that is
        not known. Shares in ascending order."""
        answered, ran_on, lost, measured = self._sums()
        weight = lost / measured if measured else 0.0
        weights: dict[int, float] = dict(answered)
        for bucket, count in ran_on.items():
            weights[bucket] = weights.get(bucket, 0.0) + count * weight
        total = sum(weights.values()) + (0 if measured else lost)
        found: list[float] = []
        ascending, at, below = sorted(weights), 0, 0.0
        for share in shares:
            rank = share * total * (1 - 1e-12)
            while at < len(ascending) and below + weights[ascending[at]] < rank:
                below += weights[ascending[at]]
                at += 1
            found.append(exp(ascending[at] / _SCALE) * _MIDDLE if at < len(ascending) else NEVER)
        return found

    def _sums(self) -> tuple[dict[int, int], dict[int, int], int, int]:
        answered: dict[int, int] = {}
        ran_on: dict[int, int] = {}
        for one in self._slices:
            for total, part in ((answered, one.answered), (ran_on, one.ran_on)):
                for bucket, count in part.items():
                    total[bucket] = total.get(bucket, 0) + count
        lost = sum(one.lost for one in self._slices)
        return answered, ran_on, lost, sum(one.measured for one in self._slices)

    def _refresh(self, now: float) -> None:
        policy = self._policy
        if now >= self._slice.ends:
            self._slice = _Slice(now + self._step)
            self._slices.append(self._slice)
        while self._slices[0].ends + policy.window <= now + self._step:
            self._slices.popleft()
        self._next = min(now + REFRESH, self._slice.ends)
        seen = sum(sum(one.answered.values()) + one.measured for one in self._slices)
        if seen < policy.enough:
            self.seconds = self._start
            return
        median, tail = self.quantiles(0.5, policy.quantile)
        self.seconds = max(policy.floor, min(tail, policy.multiple * median, policy.ceiling))


def _bucket(took: float) -> int:
    return ceil(log(took) * _SCALE) if took > _SHORTEST else _LOWEST


_LOWEST = ceil(log(_SHORTEST) * _SCALE)
