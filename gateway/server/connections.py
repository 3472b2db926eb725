"""The open connections of a process: limits in total and for each client, the connections that a
new connection replaces, and how many bytes of requests' bodies are held.

When all places are taken, a waiting connection is closed for a new connection, so idle connections
can't keep an honest client out. Connections that have not sent a request yet are closed first, the
oldest first; then connections between two requests. A connection whose request is being answered
stays.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

from gateway.http.peers import site, units
from gateway.server.fairness.held_bytes import NETWORKS_SHARE, HeldBytes, reduce

_LOOKED_AT = 64
"""Connections that are checked to find one that may be closed. It limits the work for each new
connection."""
_NONE: Mapping[str, int] = {}


class Connection(Protocol):
    """The part of an HTTP connection that this module uses."""

    peer: str

    @property
    def waits(self) -> bool:
        """Whether no request is being read or answered."""
        ...

    def give_way(self) -> None:
        """Close, so that another connection can be opened."""
        ...


class Connections:
    """The open connections of one process. `most` is the limit for all, `most_of_client` the limit
    for a client (see `gateway.http.peers.site`); a network of clients has several times as many
    (`gateway.http.peers.units`), but 1/NETWORKS_SHARE of all at most. `trusts` recognizes the
    proxies, which have no such limit. `most_bytes` limits the bodies' bytes."""

    def __init__(
        self,
        most: int,
        most_of_client: int,
        trusts: Callable[[str], bool] = lambda peer: False,
        *,
        most_bytes: int = 64 * 1024**2,
    ) -> None:
        self.most, self._most_of_client, self._trusts = most, most_of_client, trusts
        self._bodies = HeldBytes(most_bytes)
        self._new: dict[Connection, None] = {}
        self._used: dict[Connection, None] = {}
        self._of_unit: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        """Connections and requests that were refused before the application received them, by
        reason."""

    @property
    def open(self) -> int:
        """The number of open connections."""
        return len(self._new) + len(self._used)

    def admit(self, connection: Connection) -> str | None:
        """Admit a new connection. Returns None, or the reason of a refusal."""
        client = self.client(connection.peer)
        if client and (why_not := self.full(client)):
            return why_not
        if self.open >= self.most and not self._make_room():
            self.refused["connections"] += 1
            return "the server has as many connections as it can serve: try again"
        self._new[connection] = None
        if client:
            for unit in units(client):
                self._of_unit[unit.name] += 1
        return None

    def full(self, client: str, waiting: Mapping[str, int] = _NONE) -> str | None:
        """Why the client may have no further connection, if more connections of its units
        are `waiting`; None if it may."""
        for unit in units(client):
            most = self._most_of_client
            if unit.times > 1:
                most = max(most, min(most * unit.times, self.most // NETWORKS_SHARE))
            if self._of_unit[unit.name] + waiting.get(unit.name, 0) >= most:
                self.refused["connections of the client"] += 1
                who = "a client" if unit.times == 1 else f"the network {unit.name}"
                return f"{who} may have {most} connections open"
        return None

    def open_of(self, client: str) -> float:
        """The connections that are open, in shares of one client: the most of the client and of
        its networks; 0 for trusted proxies."""
        if not client:
            return 0
        return max([self._of_unit[unit.name] / unit.times for unit in units(client)])

    def used(self, connection: Connection) -> None:
        """Record that the connection has sent its first request."""
        if connection in self._new:
            del self._new[connection]
            self._used[connection] = None

    def replace(self, connection: Connection, by: Connection) -> None:
        """Give the place of a connection to another one of the same peer."""
        for group in (self._new, self._used):
            if connection in group:
                del group[connection]
                self._used[by] = None
                return

    def leave(self, connection: Connection) -> None:
        """Record that the connection was closed, or was never admitted."""
        for group in (self._new, self._used):
            if connection in group:
                del group[connection]
                break
        else:
            return
        if client := self.client(connection.peer):
            reduce(self._of_unit, client, 1)

    def hold(self, peer: str, more: int) -> bool:
        """Hold `more` bytes of a body from a client. Returns False if that is too many."""
        return self._bodies.hold(self.client(peer), more)

    def let_go(self, peer: str, held: int) -> None:
        """Release the bytes of a body that is no longer needed."""
        self._bodies.let_go(self.client(peer), held)

    @property
    def held(self) -> int:
        """The bytes of bodies that are held now."""
        return self._bodies.held

    def client(self, peer: str) -> str:
        """The client to which a connection from this address belongs; empty for a trusted proxy and
        for a connection without an address."""
        return site(peer) if peer and not self._trusts(peer) else ""

    def _make_room(self) -> bool:
        """Close a waiting connection, if there is one among the checked connections."""
        for group in (self._new, self._used):
            for _ in range(min(len(group), _LOOKED_AT)):
                connection = next(iter(group))
                if connection.waits:
                    self.leave(connection)
                    self.refused["gave way"] += 1
                    connection.give_way()
                    return True
                del group[connection]  # it comes last now, and the next check begins after it
                group[connection] = None
        return False
