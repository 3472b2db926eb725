"""Shadow calls, whose results are dropped: warm calls to the standby, probes of a side that
requests have left, and losers that run on to be measured. Change here how such a call is made,
bounded and ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from copy import copy
from typing import Any, Generic, TypeVar

from datasources.errors import StoreError
from datasources.protocols import WideColumnStore
from datasources.recording import unrecorded
from feed_engine.speculation.contender import Contender
from feed_engine.speculation.cutoff import Cutoff, RunOn
from feed_engine.speculation.stats import Side, Stats

T = TypeVar("T")
Ask = Callable[[WideColumnStore], Awaitable[T]]

log = logging.getLogger("pinway.speculation")

FIRST_PAUSE = 0.02  # seconds before a standby with a different answer is called again


class Shadows:
    """Tasks that nobody waits for: at most `most` at a time. Each ends in bounded time, and none is
    left after `close`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._tasks: set[asyncio.Task[None]] = set()
        self._losers: set[asyncio.Task[Any]] = set()

    def room(self) -> bool:
        return len(self._tasks) < self._most

    def start(
        self, shadow: Coroutine[Any, Any, None], loser: asyncio.Task[Any] | None = None
    ) -> None:
        """`loser`: the call that the shadow follows to its end."""
        if loser is not None:
            self._losers.add(loser)
            loser.add_done_callback(self._losers.discard)
        task = asyncio.get_running_loop().create_task(shadow, context=unrecorded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel all shadows and losers, and wait until they have ended."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        await end(*self._losers)  # losers whose shadows were cancelled before they began


class Comparison(Generic[T]):
    """Compares the primary's answer with the standby's, whichever arrives first. `differs` is
    called with the primary's answer if they differ."""

    def __init__(self, stats: Stats, differs: Callable[[T], None]) -> None:
        self._stats, self._differs = stats, differs
        self._answers: dict[Side, T] = {}

    def add(self, side: Side, answer: T) -> None:
        # A shallow copy: the caller may consume its list; cells and rows don't change.
        self._answers[side] = copy(answer)
        if len(self._answers) == 2:
            self._stats.compared += 1
            if self._answers[Side.PRIMARY] != self._answers[Side.STANDBY]:
                self._stats.differing += 1
                self._differs(self._answers[Side.PRIMARY])


async def shadow(
    side: Contender,
    other: Contender,
    ask: Ask[T],
    kind: Hashable,
    clock: Callable[[], float],
    deadline: float,
    comparison: Comparison[T] | None = None,
) -> None:
    """Call one side, record the outcome, and drop the answer."""
    began, late_after, cutoff = clock(), side.late_after(kind, other), side.cutoffs.of(kind)
    try:
        async with asyncio.timeout(deadline) as limit:
            answer = await ask(side.store)
    except TimeoutError as error:
        if limit.expired():
            side.silent(cutoff, deadline)
        else:
            log.debug("a shadow call to the %s went wrong", side.side.value, exc_info=error)
    except StoreError as error:
        log.debug("a shadow call to the %s failed: %s", side.side.value, error)
        side.failed()
    except Exception as error:
        log.debug("a shadow call to the %s went wrong", side.side.value, exc_info=error)
    else:
        side.answered_apart(cutoff, began, late=clock() - began > late_after)
        if comparison is not None:
            comparison.add(side.side, answer)


async def catch_up(
    side: Contender,
    ask: Ask[T],
    wanted: T,
    seconds: float,
    clock: Callable[[], float],
    stats: Stats,
    may_ask: Callable[[], bool],
) -> None:
    """Call a side again, with growing pauses, until it gives the other side's answer, and record
    how long that took: its lag. If it never gives that answer, because both sides have changed
    since, it counts as not caught up."""
    began, pause = clock(), FIRST_PAUSE
    while clock() - began + pause <= seconds:
        await asyncio.sleep(pause)
        pause *= 2
        if not may_ask():
            return
        try:
            async with asyncio.timeout(seconds):
                answer = await ask(side.store)
        except Exception as error:
            log.debug("the lag of the %s is not known: %s", side.side.value, error)
            return
        if answer == wanted:
            stats.caught_up += 1
            stats.lag_seconds += clock() - began
            return
    stats.left_behind += 1


async def run_on(
    task: asyncio.Task[Any],
    side: Contender,
    cutoff: Cutoff,
    loser: RunOn,
    began: float,
    left: float,
) -> None:
    """Let a loser run on for the `left` seconds, measure it, and drop its answer."""
    try:
        await asyncio.wait((task,), timeout=left)
        failed = task.done() and (task.cancelled() or task.exception() is not None)
        side.ran_on(cutoff, began, ended=not failed, weight=loser.weight)
    finally:
        cutoff.ended(loser)
        await end(task)


async def finish(task: asyncio.Task[Any], left: float) -> None:
    """Let a loser finish within the `left` seconds, and drop its answer."""
    try:
        await asyncio.wait((task,), timeout=left)
    finally:
        await end(task)


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until they have ended. A cancellation of the caller in the meantime is
    raised afterwards."""
    interrupt = None
    for task in tasks:
        task.cancel()
    for task in tasks:
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError as error:
                interrupt = error
        if not task.cancelled():
            task.exception()  # otherwise asyncio logs that the exception was never retrieved
    if interrupt is not None:
        raise interrupt
