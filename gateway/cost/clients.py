"""Clients and their limits: who is charged for a request, how much cost a client may spend, and how
many operations it may run at a time.

A client is a viewer; of requests without one, the address that they come from.
"""

from gateway.cost.rate import Rate
from gateway.peers import Proxies, site
from gateway.requests import Headers


class Client:
    """The client of one request."""

    __slots__ = ("_clients", "name", "rate")

    def __init__(self, clients: "Clients", name: str) -> None:
        self._clients, self.name, self.rate = clients, name, clients.rate

    @property
    def most_running(self) -> int:
        """How many of its operations may run at a time."""
        return self._clients.most_running

    def begin(self) -> bool:
        """Begin an operation; False where as many run as may."""
        clients = self._clients
        running = clients.running.get(self.name, 0)
        if 0 < clients.most_running <= running:
            return False
        clients.running[self.name] = running + 1
        return True

    def end(self) -> None:
        """The operation ended."""
        running = self._clients.running
        left = running[self.name] - 1
        if left:
            running[self.name] = left
        else:
            del running[self.name]

    def spend(self, cost: int) -> bool:
        """Spend cost without waiting; False where `take` must be asked."""
        return self.rate is None or self.rate.spend(self.name, cost)

    async def take(self, cost: int) -> float:
        """Spend cost; else the seconds to wait."""
        return 0.0 if self.rate is None else await self.rate.take(self.name, cost)

    def owe(self, cost: int) -> None:
        """Charge what was used beside the estimate."""
        if self.rate is not None and cost:
            self.rate.owe(self.name, cost)


class Clients:
    """All clients of this gateway. `most_running` operations at a time for each, 0: any number."""

    def __init__(self, proxies: Proxies, rate: Rate | None, most_running: int) -> None:
        self._proxies, self.rate, self.most_running = proxies, rate, most_running
        self.running: dict[str, int] = {}

    def of(self, viewer_id: int | None, headers: Headers, peer: str) -> Client | None:
        """The client of a request; None where nothing of it is bounded."""
        if self.rate is None and not self.most_running:
            return None
        if viewer_id is not None:
            return Client(self, f"v{viewer_id}")
        return Client(self, f"a{site(self._proxies.client(peer, headers))}")
