"""How long a call may take before the other side is called, too: the cutoff, from observed
latencies.

    cutoff = max(floor, min(quantile, multiple * median, ceiling), budget quantile)

- The *quantile* (99.9%) is Pinterest's rule: about 1 call in 1,000 is late.
- The *multiple* of the median limits it: if 1% of the calls stall, the 99.9th percentile is the
  stall itself.
- The *ceiling* is Cassandra's `speculative_retry = MIN(99p, 50ms)`.
- The *budget quantile* is Finagle's `BackupRequestFilter`: the quantile 1 - extra load. A lower
  cutoff would make more calls late than the budget can hedge. The budget would be spent on the
  calls that are late first, instead of the calls that take longest. Warming uses a part of the
  budget: with 3% extra load and 1% warm calls, the cutoff is never below the 98th percentile.

Each kind of call (a table and a shape of read) has its own estimate: a page of ten cells says
nothing about the time for a hundred.

Latencies are counted in buckets that grow by 2% (the logarithmic mapping of DDSketch: Masson, Rim
and Lee, VLDB 2019; a quantile is at most 1% off). The counts are in slices of a sliding window,
which are added up when the cutoff is recomputed.

Cancelled losers. A call that lost to the other side is cancelled, and only a lower bound of its
latency is known. Without such calls the tail would look short, and the cutoff would become shorter
with each computation. So a share of the calls, drawn before they begin, runs on to the deadline
when it loses, and is measured. With N losers of which n were measured, each measured loser stands
for N/n (the inverse of the share that was drawn: Horvitz and Thompson, 1952; with the actual
instead of the planned share: Hajek, 1971). Only a few calls may run on at the same time. If a drawn
loser finds no room, its weight is added to a loser that is running on at that moment: both lost in
the same burst. Otherwise a burst of long stalls would count as a few calls, since it fills the room
at once. If N > 0 and n = 0, the losers count as longer than all other calls. Calls that end at the
deadline count as that long. Calls cancelled by their caller, and failed calls, have no latency and
don't count.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from math import ceil, exp, log

from feed_engine.speculation.policy import NEVER, Policy

SLICES = 6  # in a window
REFRESH = 0.5  # seconds between two computations
EARLY_REFRESH = 0.05  # seconds between two computations while there are few latencies
_GROWTH = 1.02
_SCALE = 1 / log(_GROWTH)
_MIDDLE = 2 / (1 + _GROWTH)  # the middle of a bucket, relative to its upper end
_SHORTEST = 1e-6  # seconds; shorter latencies count as this


class RunOn:
    """A loser that runs on. `weight`: the loser itself, and drawn losers that found no room
    meanwhile."""

    __slots__ = ("weight",)

    def __init__(self) -> None:
        self.weight = 1


class _Slice:
    __slots__ = ("answered", "ends", "lost", "measured", "ran_on")

    def __init__(self, ends: float) -> None:
        self.ends = ends
        self.answered: dict[int, int] = {}  # bucket -> calls
        self.ran_on: dict[int, int] = {}  # bucket -> weight of the losers that were measured
        self.lost = 0
        self.measured = 0  # weight of the losers that ran on and ended, including failures


class Cutoff:
    """The latencies of one side's calls of one kind. `now` is any clock in seconds, `seconds` the
    current cutoff, and `most` the upper bound of the budget quantile."""

    __slots__ = (
        "_estimated_until",
        "_late_share",
        "_most",
        "_next",
        "_policy",
        "_running",
        "_slice",
        "_slices",
        "_start",
        "_step",
        "_usual",
        "_usual_until",
        "_worst",
        "seconds",
    )

    def __init__(self, start: float, policy: Policy, most: float = NEVER) -> None:
        self._policy, self._most = policy, most
        self._start = self.seconds = max(policy.floor, min(start, policy.ceiling))
        # The share of the calls that may be late: the budget, without warming's part.
        warm = policy.warm if policy.warm < policy.extra else 0.0
        self._late_share = min(1.0, policy.extra - warm)
        self._step = policy.window / SLICES
        self._slices: deque[_Slice] = deque()
        self._slice = _Slice(-NEVER)
        self._next = -NEVER
        self._estimated_until = self._usual_until = -NEVER
        self._usual = NEVER
        self._running: list[RunOn] = []
        self._worst = 0.0  # the last budget quantile that was computed from enough calls

    def answered(self, took: float, now: float) -> None:
        """Record the latency of a call."""
        if now >= self._next:
            self._refresh(now)
        counts, bucket = self._slice.answered, _bucket(took)
        counts[bucket] = counts.get(bucket, 0) + 1

    def lost(self, now: float) -> None:
        """Record a call that the other side beat; it is cancelled, or runs on."""
        if now >= self._next:
            self._refresh(now)
        self._slice.lost += 1

    def runs_on(self) -> RunOn:
        """Record a drawn loser that runs on to be measured."""
        loser = RunOn()
        self._running.append(loser)
        return loser

    def no_room(self) -> None:
        """Record a drawn loser that found no room to run on."""
        if self._running:
            min(self._running, key=lambda loser: loser.weight).weight += 1

    def ended(self, loser: RunOn) -> None:
        """Record the end of a loser that ran on."""
        self._running.remove(loser)

    def ran_on(self, took: float | None, now: float, weight: int = 1) -> None:
        """Record the whole latency of a loser that ran on (None: it failed)."""
        if now >= self._next:
            self._refresh(now)
        self._slice.measured += weight
        if took is not None:
            counts, bucket = self._slice.ran_on, _bucket(took)
            counts[bucket] = counts.get(bucket, 0) + weight

    def forget_losers(self, now: float) -> None:
        """Drop the losers from the window: requests left the side, and the losers belong to its
        fault."""
        for one in self._slices:
            one.lost = one.measured = 0
            one.ran_on.clear()
        if self._slices:
            self._refresh(now)

    def quantiles(self, *shares: float) -> list[float]:
        """The latencies below which these shares of the window's calls lie; infinite where unknown.
        The shares are in ascending order."""
        return quantiles((self,), *shares)

    def is_estimated(self, now: float) -> bool:
        """Whether enough latencies were seen recently to know which calls are late."""
        return now < self._estimated_until

    def usual(self, now: float) -> float:
        """Seconds that nearly no call exceeds. Infinite if too few calls were seen recently to
        compare the other side's calls with."""
        return self._usual if now < self._usual_until else NEVER

    @property
    def calls(self) -> int:
        """The number of latencies in the window."""
        return sum(sum(one.answered.values()) + one.measured for one in self._slices)

    def weigh(self, weights: dict[int, float]) -> float:
        """Add the weight of each bucket's calls. Returns the weight of calls with unknown
        latency."""
        lost = measured = 0
        for one in self._slices:
            lost, measured = lost + one.lost, measured + one.measured
            for bucket, count in one.answered.items():
                weights[bucket] = weights.get(bucket, 0.0) + count
        if not measured:
            return lost
        weight = lost / measured
        for one in self._slices:
            for bucket, count in one.ran_on.items():
                weights[bucket] = weights.get(bucket, 0.0) + count * weight
        return 0.0

    def _refresh(self, now: float) -> None:
        policy = self._policy
        if now >= self._slice.ends:
            self._slice = _Slice(now + self._step)
            self._slices.append(self._slice)
        while self._slices[0].ends + policy.window <= now + self._step:
            self._slices.popleft()
        calls, in_budget = self.calls, 1 - self._late_share
        if calls >= policy.enough:
            self._estimated_until = now + policy.window
        if calls < policy.enough:
            self._next = min(now + EARLY_REFRESH, self._slice.ends)
            worst = self._worst
            if calls >= policy.few:  # at most the third longest: one stall is no tail
                (worst,) = self.quantiles(min(in_budget, 1 - 2 / calls))
            worst = min(worst, policy.few_most, self._most) if worst < NEVER else 0.0
            self.seconds = max(self._start, worst)
            self._usual = self.quantiles(1.0)[0] if calls >= policy.comparable else NEVER
            self._usual_until = now + policy.window
            return
        pause = REFRESH if calls >= 3 * policy.enough else EARLY_REFRESH
        self._next = min(now + pause, self._slice.ends)
        shares = (0.5, in_budget, policy.quantile)
        found = dict(zip(sorted(shares), self.quantiles(*sorted(shares)), strict=True))
        median, worst, tail = (found[share] for share in shares)
        self.seconds = max(policy.floor, min(tail, policy.multiple * median, policy.ceiling))
        if worst < NEVER:  # otherwise it is unknown, and the budget itself limits the hedges
            self._worst = worst
            self.seconds = max(self.seconds, min(worst, self._most))
        self._usual, self._usual_until = max(self.seconds, worst), now + policy.window


class Cutoffs:
    """One side's cutoffs, by the kind of call. Their number is bounded; later kinds share the
    last."""

    __slots__ = ("_kinds", "_most", "_policy", "_start")

    def __init__(self, start: float, policy: Policy, most: float = NEVER) -> None:
        self._start, self._policy, self._most = start, policy, most
        self._kinds: dict[Hashable, Cutoff] = {}

    def of(self, kind: Hashable) -> Cutoff:
        """The cutoff for calls of a kind."""
        found = self._kinds.get(kind)
        if found is None:
            if len(self._kinds) >= self._policy.kinds_most - 1:
                kind = _Others
            found = self._kinds.get(kind)
            if found is None:
                found = self._kinds[kind] = Cutoff(self._start, self._policy, self._most)
        return found

    def __iter__(self) -> Iterator[Cutoff]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def busiest(self) -> float:
        """The cutoff, in seconds, of the kind with the most calls in its window."""
        return max(self, key=lambda one: one.calls, default=self.of(_Others)).seconds


class _Others:
    """The kind of all calls whose own kind came too late for a separate estimate."""


def quantiles(cutoffs: Iterable[Cutoff], *shares: float) -> list[float]:
    """The latencies below which these shares of all calls lie; infinite where unknown. The shares
    are in ascending order."""
    weights: dict[int, float] = {}
    unknown = sum([one.weigh(weights) for one in cutoffs])
    total = sum(weights.values()) + unknown
    found: list[float] = []
    ascending, at, below = sorted(weights), 0, 0.0
    for share in shares:
        rank = share * total * (1 - 1e-12)
        while at < len(ascending) and below + weights[ascending[at]] < rank:
            below += weights[ascending[at]]
            at += 1
        found.append(exp(ascending[at] / _SCALE) * _MIDDLE if at < len(ascending) else NEVER)
    return found


def _bucket(took: float) -> int:
    return ceil(log(took) * _SCALE) if took > _SHORTEST else _LOWEST


_LOWEST = ceil(log(_SHORTEST) * _SCALE)
