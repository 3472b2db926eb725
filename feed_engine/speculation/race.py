"""The race: which side a call asks first, and which extra calls may be made beside it."""

import asyncio
import random
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from datasources.errors import StoreTimeout
from datasources.protocols import Sides
from datasources.recording import current
from feed_engine.speculation import deadline as request
from feed_engine.speculation.budget import Budget
from feed_engine.speculation.call import Call, Raced
from feed_engine.speculation.contender import Contender
from feed_engine.speculation.cutoff import Cutoffs
from feed_engine.speculation.health import Mode
from feed_engine.speculation.policy import FIXED, Policy
from feed_engine.speculation.shadow_calls import Ask, Comparison, Shadows, catch_up, shadow
from feed_engine.speculation.stats import Report, Side, Stats
from feed_engine.speculation.upkeep import Upkeep

__all__ = ["Race", "Raced"]

T = TypeVar("T")

KEPT_FROM_WARMING = 0.5  # share of the burst that is reserved for hedges


class Race:
    """Calls the two sides of a feed store. One race serves any number of concurrent calls.

    `cutoff` (seconds) is the start value, and `deadline` bounds each call. `clock` measures
    latencies in seconds, and `rng` draws in [0, 1). With a policy that has shadow calls, call
    `close` at the end.
    """

    def __init__(
        self,
        sides: Sides,
        *,
        cutoff: float,
        deadline: float,
        policy: Policy = FIXED,
        clock: Callable[[], float] = time.perf_counter,
        rng: Callable[[], float] = random.random,
    ) -> None:
        self.deadline, self._policy, self.clock, self._rng = deadline, policy, clock, rng
        self.stats = Stats()
        self._primary, self._standby = (
            Contender(side, store, Cutoffs(cutoff, policy, deadline / 2), policy, self.stats, clock)
            for side, store in ((Side.PRIMARY, sides.primary), (Side.STANDBY, sides.standby))
        )
        self._extra = Budget(policy.extra, policy.burst)
        self._extra_when_ill = Budget(policy.extra_when_ill, policy.burst)
        self._forced: Side | None = None
        self._unlikely = policy.run_on + policy.warm  # one draw decides both
        self.run_ons, self.finishers = Shadows(policy.run_on_most), Shadows(policy.finish_most)
        self._probes, self._warmers = Shadows(policy.probe_most), Shadows(policy.warm_most)
        self._lags = Shadows(1)
        self._upkeep = Upkeep(self._keep_up, policy)

    async def __call__(
        self, ask: Ask[T], *, only: Side | None = None, kind: Hashable = None
    ) -> Raced[T]:
        """The first good answer. The loser has been cancelled and has ended when this returns.
        `only`: ask this side alone, because the data is known to be there. `kind`: names the table
        and the shape of the read, for example ("feed page", 5); calls of one kind take about the
        same time.

        `ask` may be cancelled anywhere. It may be called again for a side, even after this returned
        (its result is then measured or compared, and dropped), so it must not depend on anything
        that changes afterwards. Raises StoreTimeout past the deadline of the race or of the
        request, whichever is first. Raises StoreUnavailable when both sides failed, or one failed
        and the budget is spent. Other errors that `ask` raises are its own faults and pass through.
        """
        above = current()
        if above is None:
            return await self._raced(ask, only, kind)
        with above.within("race", kind[0] if isinstance(kind, tuple) else str(kind)) as span:
            raced = await self._raced(ask, only, kind)
            span.notes["answered_by"] = raced.side.value
            return raced

    async def _raced(self, ask: Ask[T], only: Side | None, kind: Hashable) -> Raced[T]:
        bound = self.deadline
        ends = request.ends.get()
        if ends is not None:
            bound = min(bound, ends - asyncio.get_running_loop().time())
            if bound <= 0:
                raise StoreTimeout("the request's time is over")
        self.stats.calls += 1
        self._extra.earn()
        self._extra_when_ill.earn()
        began = self.clock()
        first, second = self._primary, self._standby
        alone = only or self._forced
        if alone is not None:
            asked = first if alone is Side.PRIMARY else second
            raced = await Call(self, ask, asked, None, bound, kind).run(began, apart=False)
        else:
            self._upkeep.asked(ask, kind)
            if first.health.mode is not Mode.WELL and self._leaves_primary(began):
                first, second = second, first
                self._probe(second, ask, kind, self._policy.probe_every)
            elif second.health.mode is not Mode.WELL and second.health.trust(began) <= 0:
                # Otherwise the standby would stay distrusted until the primary fails, and could not
                # help then.
                self._probe(second, ask, kind, self._policy.probe_every)
            call = Call(self, ask, first, second, bound, kind)
            draw = self._rng() if self._unlikely else 1.0
            if draw < self._policy.warm and first is self._primary:
                self._warm(ask, kind, bound, call)
            measured = self._policy.warm <= draw < self._unlikely
            apart = measured or self._policy.finish_most > 0
            raced = await call.run(began, apart=apart, measured=measured)
        if raced.side is Side.PRIMARY:
            self.stats.primary_answers += 1
        else:
            self.stats.standby_answers += 1
        return raced

    def force(self, side: Side | None) -> None:
        """Ask only this side from now on; None: decide for each call again."""
        self._forced = side

    def report(self) -> Report:
        """The counters and the present state of both sides."""
        health = self._primary.health
        self.stats.cutoff = self._primary.cutoffs.busiest
        self.stats.trust = health.trust(self.clock())
        self.stats.outages, self.stats.returns = health.outages, health.returns
        return Report(
            stats=self.stats,
            sides={one.side: one.report() for one in (self._primary, self._standby)},
            forced=self._forced,
            budget=self._extra.tokens,
            budget_when_ill=self._extra_when_ill.tokens,
        )

    async def close(self) -> None:
        """End every shadow call. No call may be made afterwards."""
        self._upkeep.close()
        for shadows in (self.run_ons, self.finishers, self._probes, self._warmers, self._lags):
            await shadows.close()

    def may_hedge(self, *, ill: bool, again: bool = False) -> bool:
        """Charge a call to the second side to its budget. `again`: this call was refused before."""
        granted = (self._extra_when_ill if ill else self._extra).spend()
        if granted:
            self.stats.hedges += 1
        elif not again:
            self.stats.refused += 1
        return granted

    def _leaves_primary(self, now: float) -> bool:
        """Whether this call asks the standby first. If requests have left both sides, the better
        side is asked first."""
        primary, standby = self._primary.health, self._standby.health
        trust = primary.trust(now)
        if trust < 1 and standby.trust(now) <= 0:
            return standby.suspicion < primary.suspicion
        return trust <= 0 or (trust < 1 and self._rng() >= trust)

    def _keep_up(self, ask: Ask[Any], kind: Hashable) -> bool:
        """Repeat a call as a probe of an avoided side, or as a warm call to an idle
        standby. Returns whether a side is ill."""
        if self._forced is not None:
            return False
        now, policy, well = self.clock(), self._policy, True
        for side in (self._primary, self._standby):
            if side.health.mode is not Mode.WELL:
                well = False
                if side.health.trust(now) <= 0:
                    self._probe(side, ask, kind, policy.probe_alone_every)
        idle = now - self._standby.heard >= policy.warm_every / 2
        if well and idle and policy.warm > 0 and self._warmers.room():
            self.stats.warm += 1
            self._start_warm(ask, kind, self.deadline, None)
        return not well

    def _probe(self, side: Contender, ask: Ask[Any], kind: Hashable, pause: float) -> None:
        """Probe an avoided side, to see whether it has recovered. Probes are bounded by time, not
        by a share of the calls: with few calls, a side would stay avoided long after it has
        recovered."""
        if not side.health.probe_due(self.clock(), pause):
            return
        if self._probes.room():
            self.stats.probes += 1
            other = self._standby if side is self._primary else self._primary
            self._probes.start(shadow(side, other, ask, kind, self.clock, self.deadline))
        else:
            self.stats.shed += 1

    def _warm(self, ask: Ask[T], kind: Hashable, bound: float, call: Call[T]) -> None:
        """Call the standby, too, to keep it warm; sometimes compare its answer."""
        if not self._warmers.room() or not self._may_warm():
            self.stats.shed += 1
            return
        self.stats.warm += 1
        if self._rng() < self._policy.compare:
            call.comparison = Comparison(self.stats, partial(self._differs, ask, bound))
        self._start_warm(ask, kind, bound, call.comparison)

    def _start_warm(
        self, ask: Ask[T], kind: Hashable, bound: float, comparison: Comparison[T] | None
    ) -> None:
        standby, primary = self._standby, self._primary
        self._warmers.start(shadow(standby, primary, ask, kind, self.clock, bound, comparison))

    def _differs(self, ask: Ask[T], bound: float, wanted: T) -> None:
        """Handle a standby that answered a warm call differently from the primary: measure how far
        it is behind."""
        if self._lags.room():
            self._lags.start(
                catch_up(self._standby, ask, wanted, bound, self.clock, self.stats, self._may_warm)
            )

    def _may_warm(self) -> bool:
        return self._extra.spend(keep=KEPT_FROM_WARMING)
