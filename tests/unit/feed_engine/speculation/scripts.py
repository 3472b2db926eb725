"""A store whose every call is controlled by a function, in virtual time."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import replace
from typing import NamedTuple, Protocol, cast

from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import Sides, WideColumnStore
from feed_engine.speculation import ADAPTIVE, Policy, Race, Raced

NEVER = float("inf")
Act = Callable[[float], float | StoreError]
"""Takes the loop's time. Returns the duration of the call, or the error that it raises at once."""

QUIET = replace(ADAPTIVE, warm=0.0, run_on=0.0)


class Store:
    def __init__(self, act: Act, name: str = "") -> None:
        self.act, self.name = act, name
        self.asked, self.running = 0, 0

    async def ask(self, times: float = 1.0) -> str:
        """`times`: how many times longer than an ordinary call this call takes."""
        loop = asyncio.get_running_loop()
        self.asked += 1
        self.running += 1
        try:
            outcome = self.act(loop.time())
            if isinstance(outcome, StoreError):
                raise outcome
            if outcome == NEVER:
                await loop.create_future()
            await asyncio.sleep(outcome * times)
            return self.name
        finally:
            self.running -= 1


def down(_: float) -> StoreError:
    return StoreUnavailable("down")


def takes(seconds: float) -> Act:
    return lambda _: seconds


async def ask(store: WideColumnStore) -> str:
    return await cast(Store, store).ask()


def race(
    primary: Store, standby: Store, policy: Policy = QUIET, *, seed: int = 1, deadline: float = 1.0
) -> Race:
    """A race with the event loop's own clock. Must be called inside the loop."""
    return Race(
        Sides(cast(WideColumnStore, primary), cast(WideColumnStore, standby)),
        cutoff=0.05,
        deadline=deadline,
        policy=policy,
        clock=asyncio.get_running_loop().time,
        rng=random.Random(seed).random,
    )


class Asked(NamedTuple):
    """A call of a load: its time, how many times longer than an ordinary call it takes, and its
    kind."""

    at: float
    times: float = 1.0
    kind: Hashable = None


class Rule(Protocol):
    """A race, or another rule that chooses the side that answers."""

    def __call__(
        self, ask: Callable[[WideColumnStore], Awaitable[str]], *, kind: Hashable = None
    ) -> Awaitable[Raced[str]]: ...


async def load(
    race: Rule, *, rate: float, seconds: float
) -> list[tuple[float, float, Raced[str] | StoreError]]:
    """Open-loop load: a call every 1/rate s, without waiting for earlier calls. Returns (start,
    duration, answer) for each."""
    return await make(race, (Asked(call / rate) for call in range(int(rate * seconds))))


async def make(
    race: Rule, calls: Iterable[Asked]
) -> list[tuple[float, float, Raced[str] | StoreError]]:
    """Make each call at its time, without waiting for earlier calls. Returns (start, duration,
    answer) for each."""
    loop, seen = asyncio.get_running_loop(), []

    async def one(call: Asked) -> None:
        began = loop.time()
        answer: Raced[str] | StoreError

        async def ask(store: WideColumnStore) -> str:
            return await cast(Store, store).ask(call.times)

        try:
            answer = await race(ask, kind=call.kind)
        except StoreError as error:
            answer = error
        seen.append((began, loop.time() - began, answer))

    async with asyncio.TaskGroup() as group:
        start = loop.time()
        for call in calls:
            await asyncio.sleep(max(0.0, start + call.at - loop.time()))
            group.create_task(one(call))
    return seen
