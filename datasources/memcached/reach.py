"""Reaches a memcached server before it comes into the list of servers."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable

from datasources.cache_lists import host_and_port
from datasources.errors import ConfigError, StoreTimeout, StoreUnavailable
from datasources.memcached.connection import Connection
from datasources.memcached.items import ProtocolError

SECONDS = 1.0
Resolve = Callable[[str, int], Awaitable[Iterable[str]]]


async def addresses_at(host: str, port: int) -> Iterable[str]:
    """The IP addresses of a host. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def reach(server: str, *, resolve: Resolve = addresses_at) -> str:
    """The mark of a server (host:port), which no other server has. Raises StoreError if it does not
    answer. Raises ConfigError for a name at which several servers answer: gateways would remove
    entries from one and read another. One server with several addresses, such as an IPv4 and an
    IPv6 address, is no fault."""
    host, port = host_and_port(server)
    runs: dict[str, str] = {}
    failure: Exception | None = None
    try:
        async with asyncio.timeout(SECONDS):
            found = list(dict.fromkeys(await resolve(host, port)))
    except (OSError, TimeoutError) as error:
        raise StoreUnavailable(f"object cache {server}: {error or 'no answer'}") from error
    for address in found:
        try:
            async with asyncio.timeout(SECONDS):
                connection = await Connection.open(address, port)
        except (OSError, TimeoutError, ProtocolError) as error:
            failure = error
        else:
            runs[address] = connection.run
            connection.close()
    if not runs and isinstance(failure, TimeoutError):
        raise StoreTimeout(f"object cache {server}: no answer within {SECONDS:g} s") from failure
    if not runs:
        raise StoreUnavailable(f"object cache {server}: {failure}") from failure
    if len({*runs.values()}) > 1:
        raise ConfigError(
            f"object cache {server}: different servers answer at its addresses "
            f"{', '.join(sorted(runs))}: give each a name of its own"
        )
    return next(iter(runs.values()))
