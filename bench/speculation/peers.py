"""Other projects' rules for hedged calls, as their documentation describes them, in virtual time.

These rules never leave a side: they always ask the primary first. Each is written in a few lines
from its public documentation, so that all can be compared with the race on the same seeded
latencies.

- Finagle, `BackupRequestFilter(maxExtraLoad)`: a backup request after the latency quantile 1 -
  maxExtraLoad of a sliding window, at least 1 ms; a retry budget of the same share limits them.
- Cassandra, `speculative_retry = MIN(99p, 50ms)`: another replica after the 99th percentile, or 50
  ms if that is less; nothing limits the load.
- gRPC, `hedgingPolicy` with a `hedgingDelay` of 50 ms and `retryThrottling` (10 tokens, ratio 0.1):
  a failure takes a token, a success gives a tenth; no hedge while half of the tokens are gone.

A call that fails is sent to the other side at once, under each rule's own limit.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import cast

from datasources.errors import StoreError, StoreTimeout
from datasources.protocols import WideColumnStore
from feed_engine.speculation import Raced, Side
from feed_engine.speculation.budget import Budget
from feed_engine.speculation.shadow_calls import end
from tests.unit.feed_engine.speculation.scripts import Store

DEADLINE = 2.0
Ask = Callable[[WideColumnStore], Awaitable[str]]


class Peer:
    """Asks the primary; after `delay`, or when the primary fails, asks the standby if
    `may_hedge`."""

    name = ""

    def __init__(self, primary: Store, standby: Store) -> None:
        self._sides = {
            Side.PRIMARY: cast(WideColumnStore, primary),
            Side.STANDBY: cast(WideColumnStore, standby),
        }
        self.hedges = 0

    def delay(self) -> float:
        raise NotImplementedError

    def may_hedge(self) -> bool:
        return True

    def ended(self, took: float, *, failed: bool) -> None:
        """Record the whole latency of a call, hedged or not, or a failed attempt."""

    async def __call__(self, ask: Ask, *, kind: Hashable = None) -> Raced[str]:
        loop = asyncio.get_running_loop()
        began, delay = loop.time(), self.delay()
        tasks = {asyncio.ensure_future(ask(self._sides[Side.PRIMARY])): Side.PRIMARY}
        hedged, error = False, StoreTimeout(f"no answer within {DEADLINE:g} s")
        try:
            while tasks:
                until = began + (DEADLINE if hedged else min(delay, DEADLINE))
                done, _ = await asyncio.wait(
                    tasks,
                    timeout=max(0.0, until - loop.time()),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    side = tasks.pop(task)
                    try:
                        answer = Raced(task.result(), side)
                    except StoreError:
                        self.ended(loop.time() - began, failed=True)
                        continue
                    self.ended(loop.time() - began, failed=False)
                    return answer
                if loop.time() >= began + DEADLINE:
                    break
                if not hedged:
                    hedged = True
                    if self.may_hedge():
                        self.hedges += 1
                        hedge = asyncio.ensure_future(ask(self._sides[Side.STANDBY]))
                        tasks[hedge] = Side.STANDBY
            self.ended(loop.time() - began, failed=True)
            raise error
        finally:
            await end(*tasks)


class Window:
    """Latencies of the last 30 s, sorted again every half second."""

    def __init__(self, share: float) -> None:
        self._share, self._seen = share, deque[tuple[float, float]]()
        self._next, self._value = 0.0, 0.0

    def add(self, took: float) -> None:
        self._seen.append((asyncio.get_running_loop().time(), took))

    def quantile(self, otherwise: float) -> float:
        now = asyncio.get_running_loop().time()
        if now >= self._next:
            self._next = now + 0.5
            while self._seen and self._seen[0][0] < now - 30:
                self._seen.popleft()
            took = sorted(one for _, one in self._seen)
            self._value = took[int(self._share * len(took))] if len(took) >= 100 else otherwise
        return self._value


class Finagle(Peer):
    name = "Finagle"

    def __init__(self, primary: Store, standby: Store, extra: float = 0.03) -> None:
        super().__init__(primary, standby)
        self._window, self._budget = Window(1 - extra), Budget(extra, 20)

    def delay(self) -> float:
        self._budget.earn()
        return max(0.001, self._window.quantile(otherwise=0.05))

    def may_hedge(self) -> bool:
        return self._budget.spend()

    def ended(self, took: float, *, failed: bool) -> None:
        self._window.add(took)


class Cassandra(Peer):
    name = "Cassandra"

    def __init__(self, primary: Store, standby: Store) -> None:
        super().__init__(primary, standby)
        self._window = Window(0.99)

    def delay(self) -> float:
        return min(0.05, self._window.quantile(otherwise=0.05))

    def ended(self, took: float, *, failed: bool) -> None:
        self._window.add(took)


class Grpc(Peer):
    name = "gRPC"
    TOKENS, RATIO = 10.0, 0.1

    def __init__(self, primary: Store, standby: Store) -> None:
        super().__init__(primary, standby)
        self._tokens = self.TOKENS

    def delay(self) -> float:
        return 0.05

    def may_hedge(self) -> bool:
        return self._tokens > self.TOKENS / 2

    def ended(self, took: float, *, failed: bool) -> None:
        change = -1.0 if failed else self.RATIO
        self._tokens = min(self.TOKENS, max(0.0, self._tokens + change))


PEERS: tuple[type[Peer], ...] = (Finagle, Cassandra, Grpc)
