"""A store whose every call is decided by a function, in virtual time."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import Sides, WideColumnStore
from feed_engine.speculation import ADAPTIVE, Policy, Race, Raced

NEVER = float("inf")
Act = Callable[[float], float | StoreError]
"""From the loop's time to how long the call takes, or what it raises at once."""

QUIET = replace(ADAPTIVE, warm=0.0, run_on=0.0)


class Store:
    def __init__(self, act: Act, name: str = "") -> None:
        self.act, self.name = act, name
        self.asked, self.running = 0, 0

    async def ask(self) -> str:
        loop = asyncio.get_running_loop()
        self.asked += 1
        self.running += 1
        try:
            outcome = self.act(loop.time())
            if isinstance(outcome, StoreError):
                raise outcome
            if outcome == NEVER:
                await loop.create_future()
            await asyncio.sleep(outcome)
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
    """Measured by the loop's own clock. To be made inside the loop."""
    return Race(
        Sides(cast(WideColumnStore, primary), cast(WideColumnStore, standby)),
        cutoff=0.05,
        deadline=deadline,
        policy=policy,
        clock=asyncio.get_running_loop().time,
        rng=random.Random(seed).random,
    )


async def load(
    race: Race, *, rate: float, seconds: float
) -> list[tuple[float, float, Raced[str] | StoreError]]:
    """Open loop: a call each 1/rate s whatever became of those before. Began, took, answer."""
    loop, seen = asyncio.get_running_loop(), []

    async def one() -> None:
        began = loop.time()
        answer: Raced[str] | StoreError
        try:
            answer = await race(ask)
        except StoreError as error:
            answer = error
        seen.append((began, loop.time() - began, answer))

    async with asyncio.TaskGroup() as group:
        start = loop.time()
        for call in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, start + call / rate - loop.time()))
            group.create_task(one())
    return seen
