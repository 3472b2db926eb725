"""New connections: how many are taken and served in a turn of the event loop, and which come first.

uvloop's own server takes one connection in each turn, in the order of their arrival: a client that
opens connections as fast as it can puts thousands of its own before all other clients' connections.
asyncio's own server takes all waiting connections in one turn, which holds up the requests in
progress. This server takes many connections in a turn, closes each that its client has closed
already, and begins to serve a few. The connections of the clients with the fewest open ones come
first. Connections of a client in debt (`gateway.server.fairness.shares`) wait until it may go on.
"""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gateway.server.connections import Connections
from gateway.server.fairness.lines import LOOKED_AT, Lines
from gateway.server.fairness.shares import A_CONNECTION, SOON, Shares

log = logging.getLogger("pinway")

TAKEN = 8
"""Connections that are taken from the listener in a turn. Taking and closing one takes about 10
microseconds."""
SERVED, SERVED_BESIDE = 4, 1
"""Connections that the server begins to serve in a turn while no request is in progress, and while
one is: each takes about 100 microseconds, and lengthens each step of the request."""
OVER = 1 / 8
"""A connection that its client closed meanwhile counts as this part of a served one."""
A_CLOSED = A_CONNECTION / 4
"""Seconds that are charged for a connection that ends before it is served."""
SHORT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
RETRY_SECONDS = 1.0
"""How long the server takes no connections after the system had no descriptor for one."""
FULL = "the server has as many connections as it can serve: try again"


class Arrivals:
    """Connections that were taken and wait to be served, by client."""

    def __init__(
        self,
        connections: Connections,
        shares: Shares,
        serve: Callable[[socket.socket], object],
        refusal: Callable[[str], bytes],
        most: int,
    ) -> None:
        """`serve` begins to serve a connection. `refusal` makes the response to a refused one of
        the reason. `most` connections wait: beyond them, the client with the most waiting ones
        loses its oldest."""
        self._connections, self._shares, self._most = connections, shares, most
        self._serve, self._refusal = serve, refusal
        self._waiting = Lines[socket.socket]()
        """By client; the connections of trusted proxies under the empty name."""
        self._soon: asyncio.Handle | None = None
        self._later: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        """The connections that wait."""
        return len(self._waiting)

    def take(self, sock: socket.socket, peer: str) -> None:
        """A connection from this address was taken."""
        client = self._connections.client(peer)
        if client:
            if is_over(sock):
                self._close(sock, client)
                return
            if why_not := self._connections.full(client, self._waiting.counts):
                self._refuse(sock, client, why_not)
                return
        self._waiting.append(client, sock)
        if len(self._waiting) > self._most:
            self._make_room()
        self._arm()

    def serve_all(self) -> None:
        """Begin to serve all connections that wait: the server takes no more of them."""
        self._disarm()
        while self._waiting:
            for clients in self._waiting.turns():
                for client in clients:
                    self._serve_one(client)

    def close(self) -> None:
        """Close the connections that wait."""
        self._disarm()
        for sock in self._waiting.clear():
            sock.close()

    def _disarm(self) -> None:
        for handle in (self._soon, self._later):
            if handle is not None:
                handle.cancel()
        self._soon = self._later = None

    def _arm(self) -> None:
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Begin to serve the next connections."""
        self._soon = None
        may: list[str] = []
        until, looked_at = 1.0, 0
        for clients in self._waiting.turns(LOOKED_AT):
            looked_at += len(clients)
            for client in clients:
                if seconds := self._shares.wait(client) if client else 0.0:
                    until = min(until, seconds)
                else:
                    may.append(client)
            if looked_at >= LOOKED_AT:
                break
        may.sort(key=self._connections.open_of)
        served, most = 0.0, SERVED_BESIDE if self._shares.in_progress else SERVED
        while may and served < most:
            for client in may:
                served += 1 if self._serve_one(client) else OVER
                if served >= most:
                    break
            may = [client for client in may if client in self._waiting]
        if may:
            self._arm()
        elif self._waiting and self._later is None:
            seconds = until if looked_at < LOOKED_AT else SOON
            self._later = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """See whether clients that were in debt may go on."""
        self._later = None
        self._arm()

    def _serve_one(self, client: str) -> bool:
        """Serve the client's oldest connection; False if the client closed it meanwhile."""
        sock = self._waiting.pop(client)
        if client and is_over(sock):
            self._close(sock, client)
            return False
        self._serve(sock)
        return True

    def _make_room(self) -> None:
        """Refuse a connection of the client with the most waiting ones. Trusted proxies carry many
        clients: theirs stay."""
        client = self._waiting.longest()
        if client is not None:
            self._connections.refused["connections"] += 1
            self._refuse(self._waiting.pop(client), client, FULL)

    def _refuse(self, sock: socket.socket, client: str, why: str) -> None:
        with suppress(OSError):
            sock.send(self._refusal(why))
        self._close(sock, client)

    def _close(self, sock: socket.socket, client: str) -> None:
        sock.close()
        self._shares.charge(client, A_CLOSED)


class Accepting:
    """Takes the connections of a listener; to uvicorn, what an asyncio server is."""

    def __init__(
        self,
        listener: socket.socket,
        backlog: int,
        protocol: Callable[[], asyncio.Protocol],
        connections: Connections,
        shares: Shares,
        refusal: Callable[[str], bytes],
    ) -> None:
        """Begins to take connections. `protocol` makes the protocol of one."""
        self._listener, self._protocol = listener, protocol
        self._loop = asyncio.get_running_loop()
        self.arrivals = Arrivals(connections, shares, self._serve, refusal, backlog)
        self._beginning: set[asyncio.Task[Any]] = set()
        listener.setblocking(False)
        listener.listen(backlog)
        self._accepting = self._loop.create_task(self._accept())
        # only then, since the loop watches the descriptor until the task has ended
        self._accepting.add_done_callback(lambda _: listener.close())

    async def drain(self) -> None:
        """Take no more connections, and begin to serve all that were taken: each may have sent its
        request."""
        self._accepting.cancel()
        await self.wait_closed()
        self.arrivals.serve_all()
        if self._beginning:
            await asyncio.wait(self._beginning)

    def close(self) -> None:
        """Take no more connections, and close the listener. The ones that are served stay open."""
        self._accepting.cancel()
        self.arrivals.close()

    async def wait_closed(self) -> None:
        """Wait until no more are taken."""
        await asyncio.wait([self._accepting])

    async def _accept(self) -> None:
        while True:
            try:
                sock, address = await self._loop.sock_accept(self._listener)
                self.arrivals.take(sock, address[0])
                for _ in range(TAKEN - 1):
                    sock, address = self._listener.accept()
                    sock.setblocking(False)
                    self.arrivals.take(sock, address[0])
                await asyncio.sleep(0)
            except BlockingIOError:
                continue  # no more wait
            except OSError as error:
                if error.errno in SHORT_OF_DESCRIPTORS:
                    log.warning("no connections are taken for a second: %s", error.strerror)
                    await asyncio.sleep(RETRY_SECONDS)
                else:
                    await asyncio.sleep(0)  # an error of one connection

    def _serve(self, sock: socket.socket) -> None:
        task = self._loop.create_task(self._begin(sock))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _begin(self, sock: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, sock)
        except OSError:
            sock.close()  # its client closed it


def is_over(sock: socket.socket) -> bool:
    """Whether the client closed the connection, and sent nothing before."""
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
