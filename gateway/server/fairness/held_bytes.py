"""Limits how many bytes of bodies or of answers a process holds for its clients."""

from collections import Counter

from gateway.http.peers import units

CLIENTS_SHARE = 4
"""A client may hold 1/CLIENTS_SHARE of the bytes; the rest is left to other clients."""
NETWORKS_SHARE = 2
"""A network of several clients has 1/NETWORKS_SHARE of the bytes at most, however many times a
client's share it has."""


class HeldBytes:
    """The bytes that are held for each client (`gateway.http.peers.site`) and its networks. `most`
    is the limit for all; 0: no limit. An empty name stands for many clients, which have no limit of
    their own."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.of_client = most // CLIENTS_SHARE
        """The bytes that one client may hold."""
        self._of_unit: Counter[str] = Counter()
        self.held = 0
        """The bytes that are held now."""

    def hold(self, client: str, more: int) -> bool:
        """Hold `more` bytes for the client. Returns False if that is too many."""
        if not self._most:
            return True
        if self.held + more > self._most:
            return False
        found = units(client)
        for unit in found:
            most = self.of_client if unit.times == 1 else self._most // NETWORKS_SHARE
            if unit.name and self._of_unit[unit.name] + more > most:
                return False
        for unit in found:
            self._of_unit[unit.name] += more
        self.held += more
        return True

    def let_go(self, client: str, held: int) -> None:
        """Hold `held` bytes less for the client."""
        if not self._most:
            return
        reduce(self._of_unit, client, held)
        self.held -= held


def reduce(counts: Counter[str], client: str, by: int) -> None:
    """Reduce the counts of the client's units, and forget the ones that are zero."""
    for unit in units(client):
        counts[unit.name] -= by
        if counts[unit.name] <= 0:
            del counts[unit.name]
