"""Limits how many requests of one client begin in one turn of the event loop.

A request that is refused, or reads little, is answered in the turn in which it begins. Without a
limit, a client that sends on 256 connections has 256 requests answered in each turn, and each await
of another client's operation takes as long as all of them. With a limit the turns stay short,
whatever the client sends: its further requests begin in the next turns, in order. A client that
took more than its share of the loop's time waits longer (`shares`).
"""

import asyncio

from gateway.http.peers import units
from gateway.server.fairness.lines import Lines
from gateway.server.fairness.shares import Shares

BEGUN = 1
"""Requests of one client that begin in a turn."""
HEAVY_BYTES = 65_536
"""A body counts as one more request for each HEAVY_BYTES bytes."""


class Turns:
    """The turns of one event loop. `most` requests of a client begin in a turn, and a network
    (`gateway.http.peers.units`) has several times as many."""

    def __init__(self, most: int = BEGUN, shares: Shares | None = None) -> None:
        self._most, self._shares = most, shares or Shares(0)
        self._begun: dict[str, int] = {}
        self._waiting = Lines[tuple[int, asyncio.Future[None]]]()
        self._armed = False
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, client: str, size: int) -> bool:
        """Whether a request with a body of `size` bytes may begin now. If not, call `wait`."""
        if client in self._waiting or self._shares.wait(client):
            return False
        weight = 1 + size // HEAVY_BYTES
        if not self._fits(client, weight):
            return False
        self._begin(client, weight)
        if not self._armed:
            self._arm()
        return True

    async def wait(self, client: str, size: int) -> None:
        """Wait until the request may begin. If the caller is cancelled, it never begins."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append(client, (1 + size // HEAVY_BYTES, future))
        if not self._armed:
            self._arm()
        await future

    def _fits(self, client: str, weight: int) -> bool:
        for unit in units(client):
            begun = self._begun.get(unit.name, 0)
            if begun and begun + weight > self._most * unit.times:
                return False
        return True

    def _begin(self, client: str, weight: int) -> None:
        for unit in units(client):
            self._begun[unit.name] = self._begun.get(unit.name, 0) + weight

    def _arm(self) -> None:
        self._armed = True
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        """The next turn: let each client's next requests begin."""
        self._armed = False
        self._begun.clear()
        until = 0.0
        for clients in self._waiting.turns():
            for client in clients:
                while first := self._waiting.first(client):
                    weight, future = first
                    if not future.done():  # it was not cancelled
                        if not self._fits(client, weight):
                            break
                        if seconds := self._shares.wait(client):
                            until = min(until or seconds, seconds)
                            break
                        future.set_result(None)
                        self._begin(client, weight)
                    self._waiting.pop(client)
        # Without a debt, the lines that were not looked at have their turn next.
        if self._begun or (self._waiting and not until):
            self._arm()
        if until and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(until, self._look)

    def _look(self) -> None:
        """Check whether clients that were in debt may begin."""
        self._timer = None
        if not self._armed:
            self._next()
