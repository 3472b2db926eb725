"""One call of a race, from its start to its answer: which side is called when, and what ends the
loser.

When a call ends, nothing of it is left, except losers that may run on.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, Protocol, TypeVar

from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from feed_engine.speculation.contender import Contender
from feed_engine.speculation.cutoff import Cutoff
from feed_engine.speculation.health import Mode
from feed_engine.speculation.shadow_calls import Ask, Comparison, Shadows, end, finish, run_on
from feed_engine.speculation.stats import Side, Stats

T = TypeVar("T")

log = logging.getLogger("pinway.speculation")

REFUSED = 3  # cutoffs after which a late call whose hedge was refused is checked again
LAG = 0.005  # seconds; a timer that is later shows a busy process, not a slow store


class Raced(NamedTuple, Generic[T]):
    """An answer and the side that gave it. A standby's answer may be behind."""

    value: T
    side: Side


class Terms(Protocol):
    """The race of a call, as the call sees it: `race.Race`."""

    stats: Stats
    clock: Callable[[], float]
    run_ons: Shadows
    finishers: Shadows

    def may_hedge(self, *, ill: bool, again: bool = False) -> bool:
        """Whether the budget allows a call to the second side."""


class Call(Generic[T]):
    """The caller's own task awaits the first side, so a call that is answered in time costs a timer
    and no task. A second side that wins, and the deadline, interrupt the caller as
    `asyncio.timeout` does: they cancel its task, and the code that catches the cancellation removes
    it (`Task.uncancel`)."""

    __slots__ = (
        "_ask",
        "_began",
        "_bound",
        "_caller",
        "_cancelling",
        "_cutoff",
        "_first",
        "_first_cutoff",
        "_first_task",
        "_hedged",
        "_interrupted",
        "_kind",
        "_late",
        "_loop",
        "_measured",
        "_patient",
        "_race",
        "_racing",
        "_second",
        "_second_late",
        "_second_task",
        "_started",
        "_timer",
        "comparison",
    )

    def __init__(
        self,
        race: Terms,
        ask: Ask[T],
        first: Contender,
        second: Contender | None,
        bound: float,
        kind: Hashable,
    ) -> None:
        """`second`: None if only the first side may answer. `bound`: seconds for the whole call."""
        caller = asyncio.current_task()
        assert caller is not None
        self._race, self._ask, self._first, self._second = race, ask, first, second
        self._bound, self._caller, self._cancelling = bound, caller, caller.cancelling()
        self._loop = asyncio.get_running_loop()
        self._first_task: asyncio.Task[T] | None = None
        self._second_task: asyncio.Task[T] | None = None
        self._racing, self._interrupted, self._late, self._patient = True, False, False, True
        self._kind, self._first_cutoff = kind, first.cutoffs.of(kind)
        self._second_late = False
        self._cutoff = self._first_cutoff.seconds if second is not None else bound
        self.comparison: Comparison[T] | None = None

    async def run(self, began: float, *, apart: bool, measured: bool = False) -> Raced[T]:
        """`began`: now, on the race's clock. `apart`: run the first side in a task of its own, so
        that it can run on when it loses. `measured`: measure its latency in that case."""
        self._measured = measured
        first, stats = self._first, self._race.stats
        self._began, self._started = began, self._loop.time()
        if self._cutoff < self._bound:
            self._timer = self._loop.call_later(self._cutoff, self._cutoff_passed)
        else:
            self._timer = self._loop.call_later(self._bound, self._interrupt)
        try:
            try:
                value = await (self._apart() if apart else self._ask(first.store))
            except asyncio.CancelledError:
                if not self._taken_back():
                    raise
            except StoreError as error:
                self._taken_back()
                first.failed()
                return await self._failover(error)
            else:
                if self._interrupted:
                    self._taken_back()
                self._racing = False
                if self._late:
                    hedged = self._second_task is not None
                    first.answered_late(
                        self._first_cutoff,
                        began,
                        self._comparable(),
                        hedged=hedged,
                        both_late=hedged and self._second_was_late(),
                    )
                else:
                    first.answered(self._first_cutoff, began, self._comparable())
                if self._second_task is not None and self._finishes(self._second_task):
                    self._second_task = None
                if self.comparison is not None:
                    self.comparison.add(first.side, value)
                return Raced(value, first.side)
            return self._interrupted_by(began)
        except StoreError:
            stats.failed += 1
            raise
        finally:
            self._racing = False
            self._timer.cancel()
            if self._first_task is not None or self._second_task is not None:
                await end(*(t for t in (self._first_task, self._second_task) if t is not None))

    def _comparable(self) -> Cutoff | None:
        """The second side's latencies. None if requests had left that side, because its latencies
        are out of date."""
        second = self._second
        if second is None or second.health.mode is Mode.AVOIDED:
            return None
        return second.cutoffs.of(self._kind)

    async def _apart(self) -> T:
        self._first_task = self._loop.create_task(self._asking(self._first))
        await asyncio.wait((self._first_task,))
        return self._first_task.result()

    async def _asking(self, side: Contender) -> T:
        return await self._ask(side.store)

    def _interrupted_by(self, began: float) -> Raced[T]:
        """The result after the first side was interrupted, by the second side or by the
        deadline."""
        task, second = self._second_task, self._second
        if task is None or second is None or not _answered(task):
            both = task is not None and not task.done()
            self._first.silent(self._first_cutoff, self._bound, both=both)
            if both and second is not None:
                self._second_silent(second, both=True)
            raise StoreTimeout(f"no answer within {self._bound:g} s")
        self._first.beaten(self._first_cutoff, both_late=self._second_late)
        loser = self._first_task
        if loser is not None and (self._runs_on(loser, began) or self._finishes(loser)):
            self._first_task = None
        return Raced(task.result(), second.side)

    def _runs_on(self, loser: asyncio.Task[T], began: float) -> bool:
        """Let a loser that was drawn run on and measure it, if not too many are running on. Returns
        whether it runs on."""
        if not self._measured:
            return False
        race, cutoff = self._race, self._first_cutoff
        if not race.run_ons.room():
            cutoff.no_room()
            return False
        race.stats.run_ons += 1
        measuring = run_on(loser, self._first, cutoff, cutoff.runs_on(), began, self._left())
        race.run_ons.start(measuring, loser)
        return True

    def _finishes(self, loser: asyncio.Task[T]) -> bool:
        """Let a loser finish, if not too many do. Returns whether it does."""
        finishers = self._race.finishers
        if loser.done() or not finishers.room():
            return False
        finishers.start(finish(loser, self._left()), loser)
        return True

    def _left(self) -> float:
        return self._started + self._bound - self._loop.time()

    def _cutoff_passed(self) -> None:
        """Handle a late first side. If this process was late instead, the answer may already have
        arrived, unread."""
        lag = self._loop.time() - self._started - self._cutoff
        if lag > LAG and self._patient:
            self._patient = False
            more = min(lag, self._cutoff, max(0.0, self._left()))
            self._timer = self._loop.call_later(more, self._cutoff_passed)
            return
        self._late = True
        self._race.stats.late += 1
        left = self._left()
        if left <= 0:
            self._interrupt()
            return
        if self._hedge(failed=False) is None:
            pause = min(REFUSED * self._cutoff, left / 4)
            self._timer = self._loop.call_later(pause, self._still_late)
        else:
            self._timer = self._loop.call_later(left, self._interrupt)

    def _still_late(self) -> None:
        """Hedge from the other budget, long after the hedge of this call was refused. The first
        side may hang: it has answered no call since this call began, and only a hedge can tell."""
        self._timer = self._loop.call_later(max(0.0, self._left()), self._interrupt)
        second = self._second
        if self._first.spoke < self._began and second is not None and not second.health.suspect:
            self._hedge(failed=False, again=True)

    def _hedge(self, *, failed: bool, again: bool = False) -> asyncio.Task[T] | None:
        """Call the second side, if it was not called yet and the budget allows it."""
        second = self._second
        if self._second_task is None and second is not None:
            # If both sides are ill, a hedge does not help a late call. A failed call has no other
            # way.
            ill = self._first.health.suspect and not second.health.suspect
            if not self._race.may_hedge(ill=failed or ill or again, again=again):
                return None
            self._hedged = self._loop.time()
            self._second_task = self._loop.create_task(self._hedging(second))
            self._second_task.add_done_callback(self._second_ended)
        return self._second_task

    async def _hedging(self, second: Contender) -> T:
        other = self._first if second is self._second else self._second
        assert other is not None
        began, late_after = self._race.clock(), second.late_after(self._kind, other)
        try:
            value = await self._ask(second.store)
        except StoreError:
            second.failed()
            raise
        late = self._race.clock() - began > late_after
        self._second_late = late and second is self._second
        second.answered_apart(second.cutoffs.of(self._kind), began, late=late)
        return value

    def _second_was_late(self) -> bool:
        """Whether the second side, called and still silent, is past its cutoff, too."""
        second = self._second
        assert second is not None
        return self._loop.time() - self._hedged > second.late_after(self._kind, self._first)

    def _second_silent(self, second: Contender, *, both: bool) -> None:
        waited = self._loop.time() - self._hedged
        second.silent(second.cutoffs.of(self._kind), waited, both=both)

    async def _failover(self, error: StoreError) -> Raced[T]:
        """The second side's answer after the first failed. Calls the second side now if it was not
        called yet. If requests have left the second side, too, the first side is called again: no
        other side is available."""
        self._timer.cancel()
        first, second, left = self._first, self._second, self._left()
        if second is None:
            raise error
        if left <= 0:
            raise StoreTimeout(f"no time left to ask the {second.side.value}") from error
        task = self._hedge(failed=True)
        if task is None:
            message = (
                f"the {first.side.value} failed, and the {second.side.value} may not be asked "
                f"now: {error}"
            )
            raise StoreUnavailable(message) from error
        asked = {task: second}
        if second.health.mode is Mode.AVOIDED and self._race.may_hedge(ill=True):
            self._first_task = self._loop.create_task(self._hedging(first))
            asked[self._first_task] = first
        message = f"both sides failed: {first.side.value}: {error}"
        while asked:
            done, _ = await asyncio.wait(
                asked, timeout=max(0.0, self._left()), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                if task in asked:
                    self._second_silent(second, both=first in asked.values())
                raise StoreTimeout(f"no answer within {self._bound:g} s") from error
            for one in done:
                side = asked.pop(one)
                try:
                    return Raced(one.result(), side.side)
                except StoreError as other:
                    message += f"; {side.side.value}: {other}"
        raise StoreUnavailable(message) from error

    def _interrupt(self) -> None:
        if self._racing:
            self._racing, self._interrupted = False, True
            self._caller.cancel()

    def _taken_back(self) -> bool:
        """Whether the first side ended only because it was interrupted. Removes the
        interruption."""
        self._racing = False
        return self._interrupted and self._caller.uncancel() <= self._cancelling

    def _second_ended(self, task: asyncio.Task[T]) -> None:
        if _answered(task):
            self._interrupt()
        elif not task.cancelled():
            log.debug("a hedge failed: %s", task.exception())


def _answered(task: "asyncio.Task[T]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
