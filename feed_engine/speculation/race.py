"""The race: which side is asked first, what else is asked besides, and what all of it counts."""

import asyncio
import random
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from datasources.errors import StoreTimeout
from datasources.protocols import Sides
from feed_engine.speculation import deadline as request
from feed_engine.speculation.budget import Budget
from feed_engine.speculation.call import Call, Raced
from feed_engine.speculation.contender import Contender
from feed_engine.speculation.health import Mode
from feed_engine.speculation.policy import FIXED, Policy
from feed_engine.speculation.stats import Report, Side, Stats
from feed_engine.speculation.warming import Ask, Comparison, Shadows, catch_up, shadow

__all__ = ["Race", "Raced"]

T = TypeVar("T")

KEPT_FROM_WARMING = 0.5  # share of the burst that only hedges may use up


class Race:
    """Asks the two sides of a feed store. One race serves any number of calls at once.

    `cutoff` (seconds) is where it starts, `deadline` bounds each call. `clock` measures latencies
    in seconds, `rng` draws in [0, 1). With a policy that has shadow calls, `close` at the end.
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
            Contender(side, store, cutoff, policy, self.stats, clock)
            for side, store in ((Side.PRIMARY, sides.primary), (Side.STANDBY, sides.standby))
        )
        self._extra = Budget(policy.extra, policy.burst)
        self._extra_when_ill = Budget(policy.extra_when_ill, policy.burst)
        self._forced: Side | None = None
        self._unlikely = policy.run_on + policy.warm  # both are drawn at once
        self.run_ons, self.finishers = Shadows(policy.run_on_most), Shadows(policy.finish_most)
        self._probes, self._warmers = Shadows(policy.probe_most), Shadows(policy.warm_most)
        self._lags = Shadows(1)

    async def __call__(self, ask: Ask[T], *, only: Side | None = None) -> Raced[T]:
        """The first good answer; the loser is cancelled and gone when this returns. `only`: of this
        side alone, for what is known to be there.

        `ask` may be cancelled anywhere, and may be called again for a side, then to be measured or
        compared and dropped: it must not lean on what changes after this returned. Raises
        StoreTimeout past the deadline (of the race or of the request, whichever is first),
        StoreUnavailable when both sides failed, or one did and the budget is spent. What `ask`
        raises other than a StoreError is its own mistake and passes through.
        """
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
            raced = await Call(self, ask, asked, None, bound).run(began, apart=False)
        else:
            if first.health.mode is not Mode.WELL and self._leaves_primary(began):
                first, second = second, first
                self._probe(second, ask, bound, began)
            elif second.health.mode is not Mode.WELL and second.health.trust(began) <= 0:
                # Else it would stay distrusted until the primary fails, and be no help then.
                self._probe(second, ask, bound, began)
            call = Call(self, ask, first, second, bound)
            draw = self._rng() if self._unlikely else 1.0
            if draw < self._policy.warm and first is self._primary:
                self._warm(call, ask, bound)
            measured = self._policy.warm <= draw < self._unlikely
            apart = measured or self._policy.finish_most > 0
            raced = await call.run(began, apart=apart, measured=measured)
        if raced.side is Side.PRIMARY:
            self.stats.primary_answers += 1
        else:
            self.stats.standby_answers += 1
        return raced

    def force(self, side: Side | None) -> None:
        """Ask this side alone from now on; None: decide by call again."""
        self._forced = side

    def report(self) -> Report:
        """The counts, and everything else as it is now."""
        health = self._primary.health
        self.stats.cutoff = self._primary.cutoff.seconds
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
        """End every shadow call. No call may be made any more."""
        for shadows in (self.run_ons, self.finishers, self._probes, self._warmers, self._lags):
            await shadows.close()

    def may_hedge(self, *, ill: bool) -> bool:
        """Charge a call to the second side to the budget that is for it."""
        granted = (self._extra_when_ill if ill else self._extra).spend()
        if granted:
            self.stats.hedges += 1
        else:
            self.stats.refused += 1
        return granted

    def _leaves_primary(self, now: float) -> bool:
        """Whether this call asks the standby first. Of two that were left, the better one is."""
        primary, standby = self._primary.health, self._standby.health
        trust = primary.trust(now)
        if trust < 1 and standby.trust(now) <= 0:
            return standby.suspicion < primary.suspicion
        return trust <= 0 or (trust < 1 and self._rng() >= trust)

    def _probe(self, side: Contender, ask: Ask[T], bound: float, now: float) -> None:
        """Ask a side that was left, to see whether it is back."""
        if not side.health.probe_due(now):
            return
        if self._probes.room() and self._extra_when_ill.spend():
            self.stats.probes += 1
            self._probes.start(shadow(side, ask, self.clock, bound))
        else:
            self.stats.shed += 1

    def _warm(self, call: Call[T], ask: Ask[T], bound: float) -> None:
        """Ask the standby as well, to keep it warm; compare its answer now and then."""
        if not self._warmers.room() or not self._may_warm():
            self.stats.shed += 1
            return
        self.stats.warm += 1
        if self._rng() < self._policy.compare:
            call.comparison = Comparison(self.stats, partial(self._differs, ask, bound))
        self._warmers.start(shadow(self._standby, ask, self.clock, bound, call.comparison))

    def _differs(self, ask: Ask[T], bound: float, wanted: T) -> None:
        """The standby answered a warm call otherwise than the primary: see how far it is behind."""
        if self._lags.room():
            self._lags.start(
                catch_up(self._standby, ask, wanted, bound, self.clock, self.stats, self._may_warm)
            )

    def _may_warm(self) -> bool:
        return self._extra.spend(keep=KEPT_FROM_WARMING)
