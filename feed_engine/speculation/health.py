"""Whether a side is asked first: left after repeated failures, come back to gradually.

A cumulative sum test (Page, 1954) over the outcomes of its calls: each adds its log likelihood
ratio between a side that is ill and one that is well, held between 0 and a limit. At the limit the
side is left; only at 0 again, many good probes later, does the return begin. A side that fails
half the time therefore stays at the limit. The way back is slow as well: a growing share of the
calls, and a longer stay away after each relapse.
"""

from enum import Enum
from math import log

from feed_engine.speculation.policy import Policy


class Mode(Enum):
    WELL = "well"
    LEFT = "left"
    RETURNING = "returning"


class Health:
    """One side's. `now` is any clock in seconds that only goes forward."""

    __slots__ = (
        "_bad",
        "_good",
        "_hold",
        "_limit",
        "_next_probe",
        "_policy",
        "_since",
        "mode",
        "outages",
        "returns",
        "suspicion",
    )

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._bad = log(policy.ill / policy.well)
        self._good = log((1 - policy.well) / (1 - policy.ill))
        self._limit = policy.patience * self._bad
        self.suspicion = 0.0
        self._hold = policy.hold
        self._since = self._next_probe = 0.0
        self.mode = Mode.WELL
        self.outages = self.returns = 0

    @property
    def distrust(self) -> float:
        """From 0 to 1, where it is left."""
        return self.suspicion / self._limit

    @property
    def suspect(self) -> bool:
        """Whether it failed or was late again and again lately."""
        return self.suspicion >= 0.5 * self._limit

    def good(self) -> None:
        """It answered in time."""
        if self.suspicion:
            self.suspicion = max(0.0, self.suspicion - self._good)

    def bad(self, now: float) -> None:
        """It failed or is late."""
        self.suspicion = min(self._limit, self.suspicion + self._bad)
        if self.suspicion < self._limit or self.mode is Mode.LEFT:
            return
        relapse = self.mode is Mode.RETURNING or (
            self.outages and now - self._since < self._policy.hold_most
        )
        self._hold = min(2 * self._hold, self._policy.hold_most) if relapse else self._policy.hold
        self.mode, self._since = Mode.LEFT, now
        self.outages += 1

    def trust(self, now: float) -> float:
        """The share of the calls that should ask it first."""
        if self.mode is Mode.LEFT:
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

    def probe_due(self, now: float) -> bool:
        """Whether a shadow call should be made now; so many a second, however many calls come."""
        if now < self._next_probe:
            return False
        self._next_probe = now + self._policy.probe_every
        return True
