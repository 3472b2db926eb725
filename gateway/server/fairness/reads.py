"""How much of one client is read in a turn of the event loop, and which clients are read later.

A connection that sends much at once is read again when it is its turn: in each turn of the event
loop, one such connection of each client. Otherwise, a client that sends bodies on 240 connections
would have megabytes read between two steps of another client's request.

Connections of clients in debt (`gateway.server.fairness.shares`) are not read until the client may
continue. Endless headers, chunks of one byte, and connections that end at once take time before
there is a request. This time is charged to the address at the other end. Trusted proxies are always
read: they carry many clients, and their requests wait by the addresses that they name.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from gateway.http.peers import units
from gateway.server.fairness.lines import Lines
from gateway.server.fairness.shares import SOON, Shares

MUCH = 65_536
"""Bytes of one read after which a connection waits for its turn to be read again."""


class Connection(Protocol):
    """The part of an HTTP connection that this module uses."""

    def go_on(self) -> None:
        """Read again: the client's debt is worked off."""
        ...

    def next_part(self) -> None:
        """Read again: it is the connection's turn."""
        ...


class Reading:
    """The connections of one event loop that are not read at present."""

    def __init__(self, shares: Shares, client_of: Callable[[str], str]) -> None:
        """`client_of` returns the client at an address; empty for a trusted proxy."""
        self.shares, self._client_of = shares, client_of
        self._paused = Lines[Connection]()
        self._timer: asyncio.TimerHandle | None = None
        self._in_turn = Lines[Connection]()

    def client(self, peer: str) -> str:
        """The client that is charged for a connection from this address; empty for none."""
        return self._client_of(peer) if self.shares.share else ""

    def charge(self, client: str, seconds: float) -> bool:
        """Charge a client. Returns whether its connection may be read further; if not, `pause`
        it."""
        self.shares.charge(client, seconds)
        return client not in self._paused and not self.shares.wait(client)

    def pause(self, client: str, connection: Connection) -> None:
        """Read the connection again when its client may continue."""
        self._paused.append(client, connection)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON, self._look)

    def wait(self, client: str, connection: Connection) -> None:
        """Have the connection read again when it is its turn."""
        if not self._in_turn:
            asyncio.get_running_loop().call_soon(self._turn)
        self._in_turn.append(client, connection)

    def _turn(self) -> None:
        """Have one connection of each client read again, and of each network several."""
        read = Counter[str]()
        for clients in self._in_turn.turns():
            for client in clients:
                found = units(client)
                if any(read[unit.name] >= unit.times for unit in found):
                    continue
                read.update([unit.name for unit in found])
                self._in_turn.pop(client).next_part()
        if self._in_turn:
            asyncio.get_running_loop().call_soon(self._turn)

    def _look(self) -> None:
        """Read one connection again for each client that may continue."""
        self._timer, until = None, 1.0
        for clients in self._paused.turns():
            for client in clients:
                wait = self.shares.wait(client)
                if not wait:
                    self._paused.pop(client).go_on()
                    wait = SOON
                until = min(until, wait)
        if self._paused:
            self._timer = asyncio.get_running_loop().call_later(until, self._look)
