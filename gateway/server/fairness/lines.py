"""The order in which waiting things of many clients get their turn: each client has a line, and the
clients of one network stand behind one another.

With one line for each client alone, an owner of a large IPv6 network would have thousands of lines,
all of which would have to be looked at in each turn of the event loop.
"""

from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import Generic, TypeVar

from gateway.http.peers import units

T = TypeVar("T")
LOOKED_AT = 64
"""Clients of one network that are looked at in a turn. The next turn begins with others."""


class Lines(Generic[T]):
    """Waiting things, by client and in their order. A client whose line is empty is forgotten."""

    def __init__(self) -> None:
        self._networks: dict[str, dict[str, deque[T]]] = {}
        """The lines of the clients of each largest network (`gateway.http.peers.units`)."""
        self._count = 0
        self.counts = Counter[str]()
        """The number of waiting things of each unit: of each client, and of its networks."""

    def __len__(self) -> int:
        """The number of waiting things."""
        return self._count

    def __contains__(self, client: str) -> bool:
        return client in self._networks.get(units(client)[-1].name, ())

    def append(self, client: str, thing: T) -> None:
        """Put a thing at the end of the client's line."""
        network = self._networks.setdefault(units(client)[-1].name, {})
        network.setdefault(client, deque()).append(thing)
        self._count += 1
        for unit in units(client):
            self.counts[unit.name] += 1

    def first(self, client: str) -> T | None:
        """The first thing of the client's line; None if nothing waits."""
        line = self._networks.get(units(client)[-1].name, {}).get(client)
        return line[0] if line else None

    def pop(self, client: str) -> T:
        """Take the first thing of the client's line."""
        name = units(client)[-1].name
        network = self._networks[name]
        line = network[client]
        thing = line.popleft()
        self._count -= 1
        for unit in units(client):
            self.counts[unit.name] -= 1
            if not self.counts[unit.name]:
                del self.counts[unit.name]
        if not line:
            del network[client]
            if not network:
                del self._networks[name]
        return thing

    def turns(self, most: int | None = None) -> Iterator[list[str]]:
        """For each network (or for `most` of them), some of its clients, whose turn it is. The
        lines may change meanwhile; the next call begins with other networks and clients."""
        for name in list(islice(self._networks, most)):
            network = self._networks.get(name)
            if network is None:
                continue
            clients = list(islice(network, LOOKED_AT))
            if most is not None:
                self._networks[name] = self._networks.pop(name)
            if len(clients) > 1:
                for client in clients:
                    network[client] = network.pop(client)
            yield clients

    def longest(self) -> str | None:
        """The client with the longest line, in the network with the most things; the empty name
        does not count."""
        names = [name for name in self._networks if name]
        if not names:
            return None
        network = self._networks[max(names, key=self.counts.__getitem__)]
        return max(network, key=self.counts.__getitem__)

    def clear(self) -> list[T]:
        """Take all things."""
        found = [
            thing
            for network in self._networks.values()
            for line in network.values()
            for thing in line
        ]
        self._networks.clear()
        self.counts.clear()
        self._count = 0
        return found
