"""Clients and their limits: which client is charged for a request, how much cost a client may
spend, and how many requests and operations of one client proceed at a time.

A client is a viewer or, for requests without a viewer, an address. The operations of an address
count together, too, of all its viewers, and so do all clients of an IPv6 network
(`gateway.http.peers`): an attacker can have many accounts, and many addresses of one network.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from gateway.cost.rate import Rate
from gateway.cost.refusals import Refusals
from gateway.http.peers import Proxies, Unit, around, site
from gateway.http.requests import Headers
from gateway.server.fairness.held_bytes import HeldBytes
from gateway.server.fairness.room import Room
from gateway.server.fairness.shares import A_BYTE, Shares, timed
from gateway.server.fairness.turns import Turns

T = TypeVar("T")
SIGN_UP = 3_600
"""The tokens that one account costs, in a bucket that gets as many tokens each second as accounts
are allowed in an hour."""


class Client:
    """The client of one request."""

    __slots__ = ("_address", "_clients", "_units", "most_running", "name", "rate")

    def __init__(self, clients: "Clients", name: str, address: str) -> None:
        """`address`: the client's `gateway.http.peers.site`; empty if a proxy hides it."""
        self._clients, self.name, self.rate = clients, name, clients.rate
        self._address = address
        self._units = (Unit(name, 1), *around(address))
        self.most_running = clients.most_running
        """How many operations may run at a time: of the client or, after `begin` refused one, of
        the client, its address or its network."""

    def begin(self) -> bool:
        """Begin an operation. Returns False if too many are already running."""
        running, most = self._clients.running, self._clients.most_running
        if most:
            for unit in self._units:
                if running.get(unit.name, 0) >= most * unit.times:
                    self.most_running = most * unit.times
                    return False
        for unit in self._units:
            running[unit.name] = running.get(unit.name, 0) + 1
        return True

    def end(self) -> None:
        """End an operation."""
        running = self._clients.running
        for unit in self._units:
            left = running[unit.name] - 1
            if left:
                running[unit.name] = left
            else:
                del running[unit.name]

    def enter(self, cost: int) -> bool:
        """Admit an operation with this cost, tolls excluded. Returns False if the caller must
        `wait`."""
        return self._clients.room.enter(self._units, cost)

    async def wait(self, cost: int) -> None:
        """Wait for other operations of this client and of its address, until an operation with this
        cost may run."""
        await self._clients.room.wait(self._units, cost)

    def leave(self, cost: int) -> None:
        """End an operation that was admitted."""
        self._clients.room.leave(self._units, cost)

    def spend(self, cost: int) -> bool:
        """Spend cost without waiting. Returns False if `take` must be called."""
        return self.rate is None or self.rate.spend(self.name, cost)

    async def take(self, cost: int) -> float:
        """Spend cost. Returns 0, or the seconds to wait."""
        return 0.0 if self.rate is None else await self.rate.take(self.name, cost)

    def worked(self, seconds: float) -> None:
        """Charge the request's address for time that a thread worked on the request."""
        if self._address:
            self._clients.shares.charge(self._address, seconds)

    def owe(self, cost: int) -> None:
        """Charge costs that the estimate did not include."""
        if self.rate is not None and cost:
            self.rate.owe(self.name, cost)


class Clients:
    """All clients of this gateway. Each may run `most_running` operations at a time, which may cost
    `most_running_cost` together; 0: no limit. All clients of an address may together run several
    times as many, and all clients of a network, too (`gateway.http.peers.around`)."""

    def __init__(
        self,
        proxies: Proxies,
        rate: Rate | None,
        most_running: int,
        most_running_cost: int = 0,
        sign_ups: Rate | None = None,
        refusals: Refusals | None = None,
        shares: Shares | None = None,
        most_answers: int = 0,
    ) -> None:
        """`sign_ups` are the buckets for accounts that an address creates, each of which costs
        `SIGN_UP`. `refusals` counts the refused accounts, and the answers that were not sent.
        `most_answers` limits the bytes of answers that wait to be read; 0: no limit."""
        self._sign_ups, self._refusals = sign_ups, refusals or Refusals()
        self._proxies, self.rate, self.most_running = proxies, rate, most_running
        self.running: dict[str, int] = {}
        self.room = Room(most_running_cost)
        self.shares = shares or Shares(0)
        self._turns = Turns(shares=self.shares)
        self._answers = HeldBytes(most_answers)

    def name(self, headers: Headers, peer: str) -> str:
        """The address whose turns and share of time the request takes. Empty for a trusted proxy's
        own requests, which come from many clients."""
        proxies = self._proxies
        return "" if proxies.hides(peer, headers) else site(proxies.client(peer, headers))

    async def in_turn(self, name: str, size: int, work: Coroutine[Any, Any, T]) -> T:
        """Do the work of a request with a body of this size when it is the client's turn, and
        charge its time to the client. An empty name has no turns and no share."""
        if not name:
            return await work
        try:
            if not self._turns.begin(name, size):
                await self._turns.wait(name, size)
        except BaseException:
            work.close()
            raise
        shares = self.shares
        begun = shares.begin(name)
        try:
            return await timed(work, shares.clock, partial(shares.charge, name))
        finally:
            shares.end(name, begun)

    def sent(self, name: str, size: int) -> None:
        """Charge the client for an answer of this size, which is sent outside the request's
        steps."""
        if name:
            self.shares.charge(name, size * A_BYTE)

    @contextmanager
    def holding_answer(self, name: str, size: int) -> Iterator[bool]:
        """Hold an answer of this size in the block: until the client has read it, or has gone.
        Yields False if too many bytes of answers wait already."""
        counted = min(size, self._answers.of_client)
        held = self._answers.hold(name, counted)
        self._refusals.unread += not held
        try:
            yield held
        finally:
            if held:
                self._answers.let_go(name, counted)

    @property
    def answers_held(self) -> int:
        """The bytes of answers that wait to be read."""
        return self._answers.held

    async def next_part(self, name: str) -> None:
        """Wait until the client may send the next part of a response."""
        if name and not self._turns.begin(name, 0):
            await self._turns.wait(name, 0)

    def signing_up(self, headers: Headers, peer: str) -> Callable[[], Awaitable[float]] | None:
        """A function that takes one account from the address's bucket, and returns 0 or the seconds
        to wait. None if accounts are not limited."""
        if self._sign_ups is None or self._proxies.hides(peer, headers):
            return None
        address = site(self._proxies.client(peer, headers))
        return partial(self._take_account, self._sign_ups, address)

    async def _take_account(self, rate: Rate, address: str) -> float:
        seconds = await rate.take(address, SIGN_UP)
        self._refusals.accounts += seconds > 0
        return seconds

    def of(self, viewer_id: int | None, headers: Headers, peer: str) -> Client | None:
        """The client of a request; None if nothing of it is limited."""
        if self.rate is None and not self.most_running and not self.room.most:
            return None
        address = self.name(headers, peer)
        if viewer_id is not None:
            return Client(self, f"v{viewer_id}", address)
        return Client(self, address or site(self._proxies.client(peer, headers)), address)
