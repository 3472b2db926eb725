"""The open connections of a process: limits in total and for each client, the connections that a
new connection replaces, and how many bytes of requests' bodies are held.

When all places are taken, a waiting connection is closed for a new connection, so idle connections
can't keep an honest client out. Connections that have not sent a request yet are closed first, the
oldest first; then connections between two requests. A connection whose request is being answered
stays.
"""

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from gateway.peers import site

CLIENTS_SHARE = 4
"""A client may hold 1/CLIENTS_SHARE of the bytes of bodies; the rest is left to other clients."""
_LOOKED_AT = 64
"""Connections that are checked to find one that may be closed. It limits the work for each new
connection."""


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
    for a client (see `gateway.peers.site`). `trusts` recognizes the proxies, which have no such
    limit. `most_bytes` limits the bodies' bytes."""

    def __init__(
        self,
        most: int,
        most_of_client: int,
        trusts: Callable[[str], bool] = lambda peer: False,
        *,
        most_bytes: int = 64 * 1024**2,
    ) -> None:
        self.most, self._most_of_client, self._trusts = most, most_of_client, trusts
        self._most_bytes = most_bytes
        self._bytes: Counter[str] = Counter()
        """The bytes of bodies that are held, by client. All trusted proxies together have the empty
        name."""
        self._new: dict[Connection, None] = {}
        self._used: dict[Connection, None] = {}
        self._of_site: Counter[str] = Counter()
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
            self._of_site[client] += 1
        return None

    def full(self, client: str, waiting: int = 0) -> str | None:
        """Why the client may have no further connection, if `waiting` more of its
        connections wait; None if it may."""
        if self.open_of(client) + waiting < self._most_of_client:
            return None
        self.refused["connections of the client"] += 1
        return f"a client may have {self._most_of_client} connections open"

    def open_of(self, client: str) -> int:
        """The client's open connections; 0 for trusted proxies."""
        return self._of_site.get(client, 0)

    def used(self, connection: Connection) -> None:
        """Record that the connection has sent its first request."""
        if connection in self._new:
            del self._new[connection]
            self._used[connection] = None

    def leave(self, connection: Connection) -> None:
        """Record that the connection was closed, or was never admitted."""
        for group in (self._new, self._used):
            if connection in group:
                del group[connection]
                break
        else:
            return
        if client := self.client(connection.peer):
            self._of_site[client] -= 1
            if self._of_site[client] <= 0:
                del self._of_site[client]

    def hold(self, peer: str, more: int) -> bool:
        """Hold `more` bytes of a body from a client. Returns False if that is too many."""
        client = self.client(peer)
        held = self._bytes[client] + more
        most = self._most_bytes // CLIENTS_SHARE if client else self._most_bytes
        if held > most or self._bytes.total() + more > self._most_bytes:
            return False
        self._bytes[client] = held
        return True

    def let_go(self, peer: str, held: int) -> None:
        """Release the bytes of a body that is no longer needed."""
        client = self.client(peer)
        self._bytes[client] -= held
        if self._bytes[client] <= 0:
            del self._bytes[client]

    @property
    def held(self) -> int:
        """The bytes of bodies that are held now."""
        return self._bytes.total()

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
