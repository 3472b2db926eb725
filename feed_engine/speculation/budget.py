"""Limits extra load: a token bucket that calls fill and extra calls empty.

The rule is taken from Finagle's `RetryBudget` and gRPC's retry throttling. Extra calls are a share
of the calls that are made anyway, so hedging can't amplify itself when everything is slow. With a
share of 0.03 and a burst of 20, 1,000 calls earn 30 tokens, and at most 20 are kept.
"""


class Budget:
    """Each call earns `share` of a token, up to `burst` tokens; an extra call spends one token."""

    __slots__ = ("_burst", "_share", "tokens")

    def __init__(self, share: float, burst: float) -> None:
        self._share, self._burst = share, burst
        self.tokens = burst

    def earn(self) -> None:
        """Record a call."""
        tokens = self.tokens + self._share
        self.tokens = tokens if tokens < self._burst else self._burst

    def spend(self, *, keep: float = 0.0) -> bool:
        """Spend a token for an extra call. Returns whether the call may be made. `keep`: share of
        the burst that is reserved for other purposes; 0.5 with a burst of 20 keeps ten tokens."""
        if self.tokens - 1 < keep * self._burst:
            return False
        self.tokens -= 1
        return True
