"""Whether a side is called first: when requests leave it, and how they return.

The test is a cumulative sum (CUSUM: Page, 1954). Each outcome of a call has one probability on a
healthy side and another on an ill side. The logarithm of their ratio is added to a sum, which stays
between 0 and a limit. A failure adds log(0.3 / 0.02) = 2.7, a lost race log(0.3 / 0.05) = 1.8, and
an answer in time subtracts 0.34. The limit is five failures in a row: 13.5. At the limit requests
leave the side. Only at 0, 40 good probes later, does the return begin. A plain count of failures in
a row would not do: a side that fails every second call would never be avoided, or would be avoided
and trusted again in turn. With the sum, it stays at the limit.

The return is slow, too. The share of calls doubles step by step, and after each relapse the side is
avoided for longer, so that requests don't follow a side that fails and recovers again and again.
"""

from enum import Enum
from math import log

from feed_engine.speculation.policy import NEVER, Policy


class Mode(Enum):
    WELL = "well"
    AVOIDED = "avoided"
    RETURNING = "returning"


class Health:
    """The health of one side. `now` is any clock in seconds that only moves forward."""

    __slots__ = (
        "_bad",
        "_good",
        "_hold",
        "_limit",
        "_lost",
        "_policy",
        "_probed",
        "_since",
        "_slow_lost",
        "_slow_won",
        "mode",
        "outages",
        "returns",
        "suspicion",
    )

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._bad = log(policy.ill / policy.well)
        self._lost = log(policy.ill / policy.well_lost)
        self._good = log((1 - policy.well) / (1 - policy.ill))
        self._slow_lost = log(policy.slow_ill / policy.slow_well)
        self._slow_won = log((1 - policy.slow_well) / (1 - policy.slow_ill))
        self._limit = policy.patience * self._bad
        self.suspicion = 0.0
        self._hold = policy.hold
        self._since, self._probed = 0.0, -NEVER
        self.mode = Mode.WELL
        self.outages = self.returns = 0

    @property
    def distrust(self) -> float:
        """The doubt about the side, from 0 (none) to 1 (requests leave the side)."""
        return self.suspicion / self._limit

    @property
    def suspect(self) -> bool:
        """Whether the side failed or lost repeatedly in the recent past."""
        return self.suspicion >= 0.5 * self._limit

    def good(self) -> None:
        """Record an answer in time."""
        if self.suspicion:
            self.suspicion = max(0.0, self.suspicion - self._good)

    def won(self) -> None:
        """Record a race in which both sides were late and this side answered first."""
        if self.suspicion:
            self.suspicion = max(0.0, self.suspicion - self._slow_won)

    def lost(self, now: float, *, both_late: bool) -> bool:
        """Record a race in which the other side answered first, in time or late. Returns whether
        requests leave the side because of it."""
        return self._add(self._slow_lost if both_late else self._lost, now)

    def bad(self, now: float) -> bool:
        """Record a failure. Returns whether requests leave the side because of it."""
        return self._add(self._bad, now)

    def _add(self, doubt: float, now: float) -> bool:
        self.suspicion = min(self._limit, self.suspicion + doubt)
        if self.suspicion < self._limit or self.mode is Mode.AVOIDED:
            return False
        relapse = self.mode is Mode.RETURNING or (
            self.outages and now - self._since < self._policy.hold_most
        )
        self._hold = min(2 * self._hold, self._policy.hold_most) if relapse else self._policy.hold
        self.mode, self._since = Mode.AVOIDED, now
        self.outages += 1
        return True

    def trust(self, now: float) -> float:
        """The share of calls that ask this side first."""
        if self.mode is Mode.AVOIDED:
            if self.suspicion or now - self._since < self._hold:
                return 0.0
            self.mode, self._since = Mode.RETURNING, now
        if self.mode is Mode.RETURNING:
            policy = self._policy
            share = policy.first_share * 2.0 ** ((now - self._since) // policy.step)
            if share < 1:
                return float(share)
            self.mode, self._since = Mode.WELL, now
            self.returns += 1
        return 1.0

    def probe_due(self, now: float, pause: float) -> bool:
        """Whether a probe may be made now, at least `pause` seconds after the last probe."""
        if now - self._probed < pause:
            return False
        self._probed = now
        return True
