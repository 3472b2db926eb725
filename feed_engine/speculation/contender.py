"""One side of a race: its store, what its calls took, and whether it is trusted."""

from collections.abc import Callable

from datasources.protocols import WideColumnStore
from feed_engine.speculation.cutoff import Cutoff
from feed_engine.speculation.health import Health
from feed_engine.speculation.policy import Policy
from feed_engine.speculation.stats import Side, SideReport, Stats

QUANTILES = (0.5, 0.99, 0.999)


class Contender:
    """Told how each call went; `took` and `late` (past the cutoff when it was asked) are given.

    A late primary is distrusted at once: its standby is there to be faster. A late standby is
    distrusted only when the primary then beats it; else it may be all there is.
    """

    __slots__ = ("_clock", "_is_primary", "_stats", "cutoff", "health", "side", "store")

    def __init__(
        self,
        side: Side,
        store: WideColumnStore,
        start: float,
        policy: Policy,
        stats: Stats,
        clock: Callable[[], float],
    ) -> None:
        self.side, self.store = side, store
        self.cutoff, self.health = Cutoff(start, policy), Health(policy)
        self._is_primary = side is Side.PRIMARY
        self._stats, self._clock = stats, clock

    def report(self) -> SideReport:
        seen = dict(zip(QUANTILES, self.cutoff.quantiles(*QUANTILES), strict=True))
        return SideReport(self.health.mode.value, self.health.distrust, self.cutoff.seconds, seen)

    def answered(self, began: float, *, late: bool) -> None:
        """It answered; if late, `is_late` was told before."""
        now = self._clock()
        self.cutoff.answered(now - began, now)
        if not late or not self._is_primary:
            self.health.good()

    def is_late(self) -> None:
        if self._is_primary:
            self.health.bad(self._clock())

    def failed(self, *, late: bool = False) -> None:
        """It failed; if late, `is_late` was told before."""
        if self._is_primary:
            self._stats.primary_failures += 1
        else:
            self._stats.standby_failures += 1
        if not late or not self._is_primary:
            self.health.bad(self._clock())

    def beaten(self, *, late: bool) -> None:
        """The other side answered first."""
        now = self._clock()
        self.cutoff.lost(now)
        if late and not self._is_primary:
            self.health.bad(now)

    def silent(self, waited: float, *, late: bool) -> None:
        """It had not answered at the deadline, after so many seconds. When that was before its
        cutoff it tells of the deadline alone."""
        if waited < self.cutoff.seconds:
            return
        now = self._clock()
        self.cutoff.answered(waited, now)
        if not late or not self._is_primary:
            self.health.bad(now)

    def ran_on(self, began: float, *, ended: bool) -> None:
        """After it was beaten it ran on until now, or failed."""
        now = self._clock()
        self.cutoff.ran_on(now - began if ended else None, now)
