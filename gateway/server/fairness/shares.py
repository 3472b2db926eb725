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
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Generator, Sequence
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

from gateway.http.peers import SIZES, units

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
OF_A_NETWORK = 0.5
"""The part of a core that a network of many clients may take, however many times a client's share
it has."""
CLIENTS = 20_000
"""The number of accounts. Beyond it, accounts of clients without a request in progress are closed,
the oldest first."""
LOOKED_AT = 256
"""Accounts that are looked at in a window, to close the ones that were not seen for a while; of
more accounts, this part more."""


class _Account:
    """A client's or a network's debt in seconds, its requests in progress, the usual time of a
    request, the time of its requests since one last ended, and when it was last seen."""

    __slots__ = (
        *("chain", "debt", "ranks", "running", "seen", "smaller", "spent", "times", "usual"),
        "worked",
    )

    def __init__(self, now: float, times: float, ranks: Sequence[int], worked: float) -> None:
        self.debt = self.usual = self.spent = 0.0
        self.running, self.seen = 0, now
        self.times = times
        """How many times a client's share it has."""
        self.chain: tuple[_Account, ...] = (self,)
        """A client's account, and the accounts of its networks."""
        self.smaller = 0
        """The number of chains in which a network's account is."""
        self.ranks = ranks
        """The sizes of units (`gateway.http.peers.SIZES`) among which it counts as one."""
        self.worked = worked
        """The value of `Shares._worked` up to which the debt is worked off."""


class Begun(NamedTuple):
    """A request in progress: its start, and the seconds that were charged in advance to the
    accounts of its client's chain."""

    at: float
    advances: tuple[float, ...]


class Shares:
    """The accounts of the clients of one event loop.

    An IPv6 client has an account for each of its networks, too (`gateway.http.peers.units`). A
    network has several times the share of a client, but never more than half of a core: otherwise
    it would have all of the process's time.
    """

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
        self._accounts: OrderedDict[str, _Account] = OrderedDict()
        """In the order in which `_forget` looks at them."""
        self._units: dict[int, int] = dict.fromkeys(SIZES, 0)
        """The number of units of each size: a client without a larger network is one of each."""
        self._running = 0
        self._charged = 0.0
        """Seconds charged in this window, before the multiplication."""
        self._factor = 1.0
        self._rate = share
        """The seconds of debt that are worked off in a second: from `share` up to 1."""
        self._worked = 0.0
        """The seconds of debt that an account could have worked off until now."""
        self._most_times = max(1.0, OF_A_NETWORK / share) if share else 1.0
        self._began, self._used_before = clock(), used()

    def begin(self, client: str) -> Begun:
        """Begin a request of the client. Its usual time is charged in advance; otherwise many
        requests would begin before the first is charged."""
        chain, now = self._chain(client), self.clock()
        self._running += 1
        for account in chain:
            self._touch(account, now)
            account.running += 1
            account.debt = min(account.debt + account.usual, MOST_DEBT)
        return Begun(now, tuple([account.usual for account in chain]))

    def end(self, client: str, begun: Begun) -> None:
        """End a request of the client. The unused part of its advance is returned."""
        self._running -= 1
        now = self.clock()
        worked = (now - begun.at) * self._rate
        for account, advance in zip(self._chain(client), begun.advances, strict=True):
            self._touch(account, now)
            account.running -= 1
            account.debt = max(account.debt - max(advance - worked, 0.0), 0.0)
            account.usual += (account.spent - account.usual) / 8
            account.spent = 0.0

    def charge(self, client: str, seconds: float) -> None:
        """Charge the loop's time to the client and its networks."""
        charged, now = seconds * self._factor, self.clock()
        for account in self._chain(client):
            self._touch(account, now)
            part = charged / account.times
            account.debt = min(account.debt + part, MOST_DEBT)
            account.spent += part
        self._charged += seconds

    @property
    def in_progress(self) -> int:
        """The number of requests in progress."""
        return self._running

    def wait(self, client: str) -> float:
        """The seconds after which to check again whether the client may continue; 0 if it may
        now."""
        if not self.share:
            return 0.0
        self._renew()
        if not self._running:
            return 0.0
        known = self._accounts.get(client)
        longest = 0.0
        for account in known.chain if known is not None else self._networks(client):
            if account.worked != self._worked:
                self._work_off(account)
            over = account.debt - BURST
            if over > 0 and self._units[account.ranks[0]] > 1:
                seconds = min(max(over / self._rate, SOON), LATER if account.running else SOON)
                longest = max(longest, seconds)
        return longest

    def _networks(self, client: str) -> list[_Account]:
        """The accounts of a new client's networks, if they have some."""
        found = [self._accounts.get(unit.name) for unit in units(client)[1:]]
        return [account for account in found if account is not None]

    def _chain(self, client: str) -> tuple[_Account, ...]:
        account = self._accounts.get(client)
        return account.chain if account is not None else self._open(client)

    def _open(self, client: str) -> tuple[_Account, ...]:
        """Open a new client's account, and accounts of its networks where they have none."""
        chain, found, now = list[_Account](), units(client), self.clock()
        for unit in found:
            account = self._accounts.get(unit.name)
            if account is None:
                is_largest = unit is found[-1]
                ranks = [size for size in SIZES if size == unit.times or is_largest]
                ranks = [size for size in ranks if size >= unit.times]
                times = min(unit.times, self._most_times)
                account = _Account(now, times, ranks, self._worked)
                self._accounts[unit.name] = account
                for size in ranks:
                    self._units[size] += 1
            chain.append(account)
        for network in chain[1:]:
            network.smaller += 1
        chain[0].chain = tuple(chain)
        if len(self._accounts) > CLIENTS:
            chain[0].running += 1  # it is not forgotten itself
            self._forget(now, len(self._accounts) - CLIENTS)
            chain[0].running -= 1
        return chain[0].chain

    def _touch(self, account: _Account, now: float) -> None:
        account.seen = now
        if account.worked != self._worked:
            self._work_off(account)

    def _work_off(self, account: _Account) -> None:
        """Reduce the debt by the time since it was last reduced."""
        account.debt = max(account.debt - (self._worked - account.worked), 0.0)
        account.worked = self._worked

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
        self._worked += elapsed * self._rate
        self._forget(now)

    def _forget(self, now: float, too_many: int = 0) -> None:
        """Close the accounts of clients that were not seen for a while, and `too_many` others. Only
        a part of the accounts is looked at, in turn: all of them would take milliseconds."""
        accounts = self._accounts
        for _ in range(LOOKED_AT + len(accounts) // LOOKED_AT):
            if not accounts:
                return
            name, account = next(iter(accounts.items()))
            is_needed = account.running or account.smaller
            if is_needed or (too_many <= 0 and now - account.seen <= ALONE):
                accounts.move_to_end(name)
                continue
            del accounts[name]
            too_many -= 1
            for network in account.chain[1:]:
                network.smaller -= 1
            account.chain = ()  # it refers to the account itself
            for size in account.ranks:
                self._units[size] -= 1


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
