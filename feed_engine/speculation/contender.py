"""One side of a race: what each outcome of a call says about its latency and its health.

Lateness is relative. A call past its cutoff says little by itself: both sides may be slow, or the
call may be a long call. These outcomes count against a side:

- a call failed, or had no answer at the deadline: full weight;
- a call lost to the other side, which was called later and was in time: less weight, since equal
  sides with a long tail sometimes lose a race to each other;
- a call took longer than the ceiling, and clearly longer than nearly all calls of the other side:
  the same weight, whether the call was hedged or not;
- both sides were late and the other side answered first, or neither answered: least weight, since
  either of two equal sides may win. All losses have this weight while too few latencies are known
  to tell which calls are late.

A late call counts in a side's favour if the other side was called, too, and this side answered
first.

A side that requests have left gets no races. So its probes are compared with the other side's
latency for that kind of call, and with the ceiling. A late probe counts like a failure.
"""

from collections.abc import Callable, Hashable

from datasources.protocols import WideColumnStore
from feed_engine.speculation.cutoff import Cutoff, Cutoffs, quantiles
from feed_engine.speculation.health import Health, Mode
from feed_engine.speculation.policy import NEVER, Policy
from feed_engine.speculation.stats import Side, SideReport, Stats

QUANTILES = (0.5, 0.99, 0.999)
CLEARLY = 1.25  # a latency this many times longer is certainly longer


class Contender:
    """Records how each call went, with the cutoff of the call's kind.

    While requests have left a side, its latencies don't count: they belong to the fault, and the
    cutoff is for the time after it.
    """

    __slots__ = (
        "_ceiling",
        "_clock",
        "_is_primary",
        "_stats",
        "_unknown",
        "cutoffs",
        "health",
        "heard",
        "side",
        "spoke",
        "store",
    )

    def __init__(
        self,
        side: Side,
        store: WideColumnStore,
        cutoffs: Cutoffs,
        policy: Policy,
        stats: Stats,
        clock: Callable[[], float],
    ) -> None:
        self.side, self.store = side, store
        self.cutoffs, self.health = cutoffs, Health(policy)
        self._is_primary = side is Side.PRIMARY
        self._stats, self._clock = stats, clock
        self._ceiling = policy.ceiling
        self._unknown = policy.enough  # answers until its usual latency is known
        self.heard = -NEVER  # when the last call ended, on the clock
        self.spoke = -NEVER  # when the last answer arrived

    def report(self) -> SideReport:
        seen = dict(zip(QUANTILES, quantiles(self.cutoffs, *QUANTILES), strict=True))
        return SideReport(self.health.mode.value, self.health.distrust, self.cutoffs.busiest, seen)

    def answered(self, cutoff: Cutoff, began: float, other: Cutoff | None) -> None:
        """Record an answer in time. `other`: the other side's cutoff, unless requests had left that
        side."""
        now = self._took(cutoff, began)
        if self._slower(now - began, other, now):
            self._lost(now, both_late=False)
        else:
            self.health.good()

    def answered_late(
        self, cutoff: Cutoff, began: float, other: Cutoff | None, *, hedged: bool, both_late: bool
    ) -> None:
        """Record an answer after the cutoff but before the other side's answer. `hedged`: the other
        side was called. `both_late`: the other side was past its cutoff, too."""
        now = self._took(cutoff, began)
        if both_late:
            self.health.won()
        elif self._slower(now - began, other, now):
            self._lost(now, both_late=False)
        elif hedged:
            self.health.good()

    def answered_apart(self, cutoff: Cutoff, began: float, *, late: bool) -> None:
        """Record an answer to a call outside a race: a hedge, a warm call or a probe."""
        now = self._took(cutoff, began)
        if not late:
            self.health.good()
        elif self.health.mode is Mode.AVOIDED:
            self._bad(now)

    def failed(self) -> None:
        if self._is_primary:
            self._stats.primary_failures += 1
        else:
            self._stats.standby_failures += 1
        self._bad(self._clock())

    def beaten(self, cutoff: Cutoff, *, both_late: bool) -> None:
        """Record a late call that the other side answered first. `both_late`: the other side was
        past its own cutoff."""
        self.heard = now = self._clock()
        if self.health.mode is not Mode.AVOIDED:
            cutoff.lost(now)
        self._lost(now, both_late=both_late or not cutoff.is_estimated(now))

    def silent(self, cutoff: Cutoff, waited: float, *, both: bool = False) -> None:
        """Record a call without an answer at the deadline, after `waited` seconds. If the deadline
        was before the cutoff, the call says nothing about lateness. `both`: the other side had not
        answered either."""
        if waited < cutoff.seconds:
            return
        self.heard = now = self._clock()
        if self.health.mode is not Mode.AVOIDED:
            cutoff.answered(waited, now)
        if both:
            self._lost(now, both_late=True)
        else:
            self._bad(now)

    def ran_on(self, cutoff: Cutoff, began: float, *, ended: bool, weight: int) -> None:
        """Record that a beaten call ran on until now and ended, or failed."""
        now = self._clock()
        if self.health.mode is not Mode.AVOIDED:
            cutoff.ran_on(now - began if ended else None, now, weight)

    def late_after(self, kind: Hashable, other: "Contender") -> float:
        """Seconds after which a call outside a race is late. The latencies of a side that requests
        have left say little, because latencies of the fault may be among them."""
        others = other.cutoffs.of(kind)
        if self.health.mode is Mode.AVOIDED and (usual := others.usual(self._clock())) < NEVER:
            return max(self._ceiling, CLEARLY * usual)
        return max(self.cutoffs.of(kind).seconds, others.seconds)

    def _slower(self, took: float, other: Cutoff | None, now: float) -> bool:
        """Whether nearly all calls of the other side take less time."""
        return took > self._ceiling and other is not None and took > CLEARLY * other.usual(now)

    def _lost(self, now: float, *, both_late: bool) -> None:
        self._avoid_if(self.health.lost(now, both_late=both_late or self._unknown > 0), now)

    def _took(self, cutoff: Cutoff, began: float) -> float:
        self.heard = self.spoke = now = self._clock()
        if self.health.mode is not Mode.AVOIDED:
            self._unknown -= 1
            cutoff.answered(now - began, now)
        return now

    def _bad(self, now: float) -> None:
        self.heard = now
        self._avoid_if(self.health.bad(now), now)

    def _avoid_if(self, avoided: bool, now: float) -> None:
        if avoided:
            for cutoff in self.cutoffs:
                cutoff.forget_losers(now)
