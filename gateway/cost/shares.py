"""Shares of the event loop's time: a client that takes more than its share waits for other clients.

Without shares, a flood of requests on 32 connections takes turns with every step of another
client's request, which then takes 32 times as long. Here the time of each step is charged to its
client, and each client works its debt off at the rate `share`, in seconds for each second. A client
in debt has one request in progress at a time. The request begins only while no other client's
request is in progress, or when the debt is worked off. A client without competitors is never in
debt. While the process is partly idle, debts are worked off faster, so that no time is lost.

The idea is deficit round robin (Shreedhar and Varghese, 1995), with time in place of bytes. The
process also works outside the measured steps: in threads, in the kernel, in callbacks. So each
charge is multiplied by the processor time divided by the charged time of the last window.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
BURST = 0.05
"""Seconds that a client may take at once before it is in debt."""
MOST_DEBT = 0.5
"""The highest debt in seconds: with a share of a quarter, a client waits two seconds."""
WINDOW = 0.1
"""Seconds between two updates of the debts."""
BUSY = 0.5
"""The part of its time for which the process may be busy while debts are worked off faster than
`share`."""
FASTER, SLOWER = 1.1, 0.8
"""The factors by which the rate changes after each window: if the process was partly idle, or
busy."""
ALONE = 10.0
"""Seconds without another client's request after which a client has no competitors."""
MOST_FACTOR = 3.0
"""The largest factor by which a charge is multiplied."""
SOON, LATER = 0.002, 0.05
"""The shortest and the longest time in seconds between two checks of whether a client may begin."""
A_CONNECTION = 0.0002
"""Seconds charged for a new connection: the kernel's and the server's work."""
A_BYTE = 1e-9
"""Seconds charged for each byte received or sent: the kernel copies it twice."""


class _Account:
    """A client's debt in seconds, its requests in progress, the usual time of a request, the time
    of its requests since one last ended, and when it was last seen."""

    __slots__ = ("debt", "running", "seen", "spent", "usual")

    def __init__(self, seen: float) -> None:
        self.debt = self.usual = self.spent = 0.0
        self.running, self.seen = 0, seen


class Begun(NamedTuple):
    """A request in progress: its start, and the seconds that were charged in advance."""

    at: float
    advance: float


class Shares:
    """The accounts of the clients of one event loop."""

    def __init__(
        self,
        share: float,
        *,
        clock: Callable[[], float] = perf_counter,
        used: Callable[[], float] = process_time,
    ) -> None:
        """`share` is a part of one core, from 0 to 1; 0: no limit. `used` returns the processor
        time of the process in seconds."""
        self.share, self.clock, self._used = share, clock, used
        self._accounts: dict[str, _Account] = {}
        self._running = 0
        self._charged = 0.0
        """Seconds charged in this window, before the multiplication."""
        self._factor = 1.0
        self._rate = share
        """The seconds of debt that are worked off in a second: from `share` up to 1."""
        self._began, self._used_before = clock(), used()

    def begin(self, client: str) -> Begun:
        """Begin a request of the client. Its usual time is charged in advance; otherwise many
        requests would begin before the first is charged."""
        account = self._account(client)
        account.running += 1
        self._running += 1
        account.debt = min(account.debt + account.usual, MOST_DEBT)
        return Begun(account.seen, account.usual)

    def end(self, client: str, begun: Begun) -> None:
        """End a request of the client. The unused part of its advance is returned."""
        account = self._account(client)
        account.running -= 1
        self._running -= 1
        left = begun.advance - (account.seen - begun.at) * self._rate
        account.debt = max(account.debt - max(left, 0.0), 0.0)
        account.usual += (account.spent - account.usual) / 8
        account.spent = 0.0

    def charge(self, client: str, seconds: float) -> None:
        """Charge the loop's time to the client."""
        account = self._account(client)
        charged = seconds * self._factor
        account.debt = min(account.debt + charged, MOST_DEBT)
        account.spent += charged
        self._charged += seconds

    @property
    def in_progress(self) -> int:
        """The number of requests in progress."""
        return self._running

    def wait(self, client: str) -> float:
        """The seconds after which to check again whether the client may continue; 0 if it may
        now."""
        account = self._accounts.get(client) if self.share else None
        if account is None:
            return 0.0
        self._renew()
        over = account.debt - BURST
        is_alone = len(self._accounts) == 1
        if over <= 0 or is_alone or not self._running:
            return 0.0
        return min(max(over / self._rate, SOON), LATER if account.running else SOON)

    def _account(self, client: str) -> _Account:
        now = self.clock()
        account = self._accounts.get(client)
        if account is None:
            account = self._accounts[client] = _Account(now)
        account.seen = now
        return account

    def _renew(self) -> None:
        """Begin a new window when the last one is over: work debts off, and forget clients."""
        now = self.clock()
        elapsed = now - self._began
        if elapsed < WINDOW:
            return
        used = self._used()
        if self._charged > 0:
            factor = (used - self._used_before) / self._charged
            self._factor = min(max(factor, 1.0), MOST_FACTOR)
        is_busy = used - self._used_before > BUSY * elapsed
        rate = self._rate * (SLOWER if is_busy else FASTER)
        self._rate = min(max(rate, self.share), 1.0)
        self._began, self._used_before, self._charged = now, used, 0.0
        for client, account in list(self._accounts.items()):
            account.debt = max(account.debt - elapsed * self._rate, 0.0)
            if not account.running and now - account.seen > ALONE:
                del self._accounts[client]


@types.coroutine
def timed(
    coroutine: Coroutine[Any, Any, T], clock: Callable[[], float], charge: Callable[[float], None]
) -> Generator[Any, Any, T]:
    """Run a coroutine, and charge the seconds of each of its steps."""
    step: Callable[[Any], Any] = coroutine.send
    value: Any = None
    while True:
        began = clock()
        try:
            awaited = step(value)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            charge(clock() - began)
        try:
            step, value = coroutine.send, (yield awaited)
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            step, value = coroutine.throw, error
