"""Speculative execution: the primary is raced by its standby when it fails or is late.

After "The Tail at Scale" (Dean and Barroso, 2013) and Pinterest's account of its home feed: ask
the primary; when it fails, or has not answered within the cutoff, ask the standby too; the first
good answer wins.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from datasources.errors import StoreError, StoreTimeout, StoreUnavailable
from datasources.protocols import Sides, WideColumnStore

T = TypeVar("T")
Ask = Callable[[WideColumnStore], Awaitable[T]]


class Side(Enum):
    """Which of a feed store's two sides answered."""

    PRIMARY = "primary"
    STANDBY = "standby"


class Raced(NamedTuple, Generic[T]):
    """An answer and where it comes from; a standby's may lag behind."""

    value: T
    side: Side


@dataclass(frozen=True)
class Policy:
    """When the standby is asked, and when all ends; seconds from the start of a call."""

    cutoff: float
    deadline: float


class Race:
    """Asks the two sides of a feed store. One race serves any number of calls at once."""

    def __init__(self, sides: Sides, *, cutoff: float, deadline: float) -> None:
        self._sides = sides
        self._policy = Policy(cutoff, deadline)

    async def __call__(self, ask: Ask[T]) -> Raced[T]:
        """The first good answer; the loser is cancelled and gone when this returns.

        `ask` is called once a side at most, and may be cancelled anywhere. Raises StoreTimeout
        past the deadline, StoreUnavailable when both sides failed. What `ask` raises other than a
        StoreError is its own mistake and passes through.
        """
        policy = self._policy
        try:
            async with asyncio.timeout(policy.deadline) as limit:
                return await self._run(ask, policy.cutoff)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise StoreTimeout(f"neither side answered within {policy.deadline:g} s") from error

    async def _run(self, ask: Ask[T], cutoff: float) -> Raced[T]:
        hedge = _Hedge(ask, self._sides.standby)
        timer = asyncio.get_running_loop().call_later(cutoff, hedge.start)
        try:
            try:
                value = await ask(self._sides.primary)
            except asyncio.CancelledError:
                if not hedge.won():
                    raise
            except StoreError as error:
                timer.cancel()
                return Raced(await hedge.answer(error), Side.STANDBY)
            else:
                hedge.won()
                return Raced(value, Side.PRIMARY)
            return Raced(hedge.value(), Side.STANDBY)
        finally:
            timer.cancel()
            await hedge.stop()


class _Hedge(Generic[T]):
    """The standby's part in one call.

    The primary is awaited by the caller's own task, so that a call it answers in time costs a
    timer and no task. A standby that wins interrupts it the way `asyncio.timeout` does: it
    cancels that task, and the one who catches that takes it back.
    """

    __slots__ = ("_ask", "_caller", "_cancelling", "_interrupted", "_racing", "_store", "_task")

    def __init__(self, ask: Ask[T], store: WideColumnStore) -> None:
        caller = asyncio.current_task()
        assert caller is not None
        self._ask, self._store, self._caller = ask, store, caller
        self._cancelling = caller.cancelling()
        self._task: asyncio.Task[T] | None = None
        self._racing, self._interrupted = True, False

    def start(self) -> asyncio.Task[T]:
        """Ask the standby."""
        self._task = asyncio.get_running_loop().create_task(self._asking())
        self._task.add_done_callback(self._finished)
        return self._task

    def won(self) -> bool:
        """The primary has ended: whether that was only because the standby was first."""
        self._racing = False
        return self._interrupted and self._caller.uncancel() <= self._cancelling

    def value(self) -> T:
        """The answer of a standby that won."""
        assert self._task is not None
        return self._task.result()

    async def answer(self, primary: StoreError) -> T:
        """The standby's answer after the primary failed; asks now if it wasn't asked yet."""
        self.won()
        task = self._task or self.start()
        try:
            await asyncio.wait((task,))
            return task.result()
        except StoreError as standby:
            message = f"both sides failed: primary: {primary}; standby: {standby}"
            raise StoreUnavailable(message) from primary

    async def stop(self) -> None:
        """Leave nothing behind. A cancellation meanwhile is passed on when that is done."""
        self._racing = False
        task, interrupt = self._task, None
        if task is None or task.done():
            return
        task.cancel()
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    async def _asking(self) -> T:
        return await self._ask(self._store)

    def _finished(self, task: asyncio.Task[T]) -> None:
        # Looking at the exception also tells asyncio that somebody did.
        if not task.cancelled() and task.exception() is None and self._racing:
            self._interrupted = True
            self._caller.cancel()
