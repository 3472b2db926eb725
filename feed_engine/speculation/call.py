"""One call of a race, from its start to its answer; nothing of it is left when it ends."""

import asyncio
import logging
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from feed_engine.speculation.contender import Contender
from feed_engine.speculation.health import Mode
from feed_engine.speculation.stats import Side
from feed_engine.speculation.warming import Ask, Comparison, end, finish, run_on

if TYPE_CHECKING:
    from feed_engine.speculation.race import Race

T = TypeVar("T")

log = logging.getLogger("pinway.speculation")

LAG = 0.005  # seconds that a timer may be late before it tells of this process, not of the store


class Raced(NamedTuple, Generic[T]):
    """An answer and where it comes from; a standby's may lag behind."""

    value: T
    side: Side


class Call(Generic[T]):
    """The first side is awaited by the caller's own task, so that a call it answers in time costs
    a timer and no task. A second side that wins, and the deadline, interrupt it the way
    `asyncio.timeout` does: they cancel that task, and the one who catches that takes it back.
    """

    __slots__ = (
        "_ask",
        "_bound",
        "_caller",
        "_cancelling",
        "_cutoff",
        "_first",
        "_first_task",
        "_hedged",
        "_interrupted",
        "_late",
        "_loop",
        "_measured",
        "_patient",
        "_race",
        "_racing",
        "_second",
        "_second_task",
        "_started",
        "_timer",
        "comparison",
    )

    def __init__(
        self,
        race: "Race",
        ask: Ask[T],
        first: Contender,
        second: Contender | None,
        bound: float,
    ) -> None:
        """`second`: None if the first is to answer alone; `bound`: seconds for it all."""
        caller = asyncio.current_task()
        assert caller is not None
        self._race, self._ask, self._first, self._second = race, ask, first, second
        self._bound, self._caller, self._cancelling = bound, caller, caller.cancelling()
        self._loop = asyncio.get_running_loop()
        self._first_task: asyncio.Task[T] | None = None
        self._second_task: asyncio.Task[T] | None = None
        self._racing, self._interrupted, self._late, self._patient = True, False, False, True
        self._cutoff = first.cutoff.seconds if second is not None else bound
        self.comparison: Comparison[T] | None = None

    async def run(self, began: float, *, apart: bool, measured: bool = False) -> Raced[T]:
        """`began`: now, by the race's clock. `apart`: run the first side in a task of its own, so
        that it can run on when it loses; `measured`: and is drawn to be measured then."""
        self._measured = measured
        first, stats = self._first, self._race.stats
        self._started = self._loop.time()
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
                first.failed(late=self._late)
                return await self._failover(error)
            else:
                if self._interrupted:
                    self._taken_back()
                self._racing = False
                first.answered(began, late=self._late)
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

    async def _apart(self) -> T:
        self._first_task = self._loop.create_task(self._asking(self._first))
        await asyncio.wait((self._first_task,))
        return self._first_task.result()

    async def _asking(self, side: Contender) -> T:
        return await self._ask(side.store)

    def _interrupted_by(self, began: float) -> Raced[T]:
        """The first side was interrupted: by the second, or by the deadline."""
        task, second = self._second_task, self._second
        if task is None or second is None or not _answered(task):
            self._first.silent(self._bound, late=self._late)
            if task is not None and second is not None and not task.done():
                second.silent(self._loop.time() - self._hedged, late=False)
            raise StoreTimeout(f"no answer within {self._bound:g} s")
        self._first.beaten(late=self._late)
        loser, race = self._first_task, self._race
        if loser is not None and self._measured and race.run_ons.room():
            race.stats.run_ons += 1
            race.run_ons.start(run_on(loser, self._first, began, self._left()), loser)
            self._first_task = None
        elif loser is not None and self._finishes(loser):
            self._first_task = None
        return Raced(task.result(), second.side)

    def _finishes(self, loser: asyncio.Task[T]) -> bool:
        """Leave a loser to its end, if so many may."""
        finishers = self._race.finishers
        if loser.done() or not finishers.room():
            return False
        finishers.start(finish(loser, self._left()), loser)
        return True

    def _left(self) -> float:
        return self._started + self._bound - self._loop.time()

    def _cutoff_passed(self) -> None:
        """The first side is late, unless it is this process that was: then its answer may be here
        already, unread."""
        lag = self._loop.time() - self._started - self._cutoff
        if lag > LAG and self._patient:
            self._patient = False
            more = min(lag, self._cutoff, max(0.0, self._left()))
            self._timer = self._loop.call_later(more, self._cutoff_passed)
            return
        self._late = True
        self._race.stats.late += 1
        self._first.is_late()
        left = self._left()
        if left <= 0:
            self._interrupt()
            return
        self._timer = self._loop.call_later(left, self._interrupt)
        self._hedge(failed=False)

    def _hedge(self, *, failed: bool) -> asyncio.Task[T] | None:
        """Ask the second side, if it was not asked yet and may be."""
        second = self._second
        if self._second_task is None and second is not None:
            # Where both are ill, hedging what is late does not help; what failed has no other way.
            ill = self._first.health.suspect and not second.health.suspect
            if not self._race.may_hedge(ill=failed or ill):
                return None
            self._hedged = self._loop.time()
            self._second_task = self._loop.create_task(self._hedging(second))
            self._second_task.add_done_callback(self._second_ended)
        return self._second_task

    async def _hedging(self, second: Contender) -> T:
        began, cutoff = self._race.clock(), second.cutoff.seconds
        try:
            value = await self._ask(second.store)
        except StoreError:
            second.failed()
            raise
        late = self._race.clock() - began > cutoff
        if late:
            second.is_late()
        second.answered(began, late=late)
        return value

    async def _failover(self, error: StoreError) -> Raced[T]:
        """The second side's answer after the first failed; asks now if it wasn't asked yet. When
        the second is one that was left, the first is asked once more besides: it is all there is.
        """
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
        if second.health.mode is Mode.LEFT and self._race.may_hedge(ill=True):
            self._first_task = self._loop.create_task(self._hedging(first))
            asked[self._first_task] = first
        message = f"both sides failed: {first.side.value}: {error}"
        while asked:
            done, _ = await asyncio.wait(
                asked, timeout=max(0.0, self._left()), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                if task in asked:
                    second.silent(self._loop.time() - self._hedged, late=False)
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
        """The first side has ended: whether that was only because it was interrupted."""
        self._racing = False
        return self._interrupted and self._caller.uncancel() <= self._cancelling

    def _second_ended(self, task: asyncio.Task[T]) -> None:
        if _answered(task):
            self._interrupt()
        elif not task.cancelled():
            log.debug("a hedge failed: %s", task.exception())


def _answered(task: "asyncio.Task[T]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
