"""The open streams of a process: how many there are, and how many one client may have."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from gateway.http.peers import units


class OpenStreams:
    """The open streams: sockets, and responses of server-sent events. A client (an address, or a
    viewer) may have `most_of_client` of them (0: any number); a network of clients has several
    times as many."""

    def __init__(self, most_of_client: int) -> None:
        self._most, self._of_unit = most_of_client, Counter[str]()
        self.open: Counter[str] = Counter()
        """Open streams and subscriptions, by kind."""
        self.events = 0
        """Events that were delivered."""
        self.refused = 0
        """Streams that were refused because their client had too many."""

    @contextmanager
    def opened(self, kind: str, client: str) -> Iterator[bool]:
        """Count a stream of a client in the block; an empty name has no limit. Yields False if the
        client has too many already."""
        of = units(client) if client else ()
        if self._most and any(self._of_unit[u.name] >= self._most * u.times for u in of):
            self.refused += 1
            yield False
            return
        for unit in of:
            self._of_unit[unit.name] += 1
        self.open[kind] += 1
        try:
            yield True
        finally:
            self.open[kind] -= 1
            for unit in of:
                self._of_unit[unit.name] -= 1
                if not self._of_unit[unit.name]:
                    del self._of_unit[unit.name]

    @contextmanager
    def subscribed(self) -> Iterator[None]:
        """Count a subscription in the block."""
        self.open["subscription"] += 1
        try:
            yield
        finally:
            self.open["subscription"] -= 1
