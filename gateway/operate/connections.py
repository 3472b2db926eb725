"""The connections that gateways may open to the shards' servers, compared with the servers'
limits."""

import logging
from collections.abc import Mapping

from datasources.errors import StoreError
from datasources.protocols import Stores
from gateway.settings import Settings

log = logging.getLogger("pinway.stores")

OTHERS = 16
"""Connections to a server that are kept free for other uses: its slaves, moves, backups,
monitoring, and operators' `pinway` commands."""


def wanted(settings: Settings) -> int:
    """The most connections that all processes together open to one server. In addition to its
    pools, a process needs one connection to ask a silent server whether it answers again."""
    return (settings.mysql.processes or settings.http.workers) * (settings.mysql.connections + 1)


def shortages(settings: Settings, allowed: Mapping[str, int]) -> dict[str, str]:
    """A line for each server that allows fewer connections than may be opened. `allowed`: each
    server's `max_connections`, by name."""
    processes = settings.mysql.processes or settings.http.workers
    counted = "1 process" if processes == 1 else f"{processes:,} processes"
    need = wanted(settings) + OTHERS
    return {
        server: f"{counted} with up to {settings.mysql.connections:,} connections, "
        f"and {OTHERS} of others, need {need:,}; max_connections is {most:,}"
        for server, most in allowed.items()
        if need > most
    }


def advice(settings: Settings) -> str:
    """How to make the connections fit."""
    return (
        f"raise max_connections on the server, or lower mysql.connections "
        f"({settings.mysql.connections}) for all processes"
    )


async def warn_of_shortages(settings: Settings, stores: Stores) -> None:
    """Log a line if servers allow too few connections. Servers that can't be asked are left out."""
    try:
        found = shortages(settings, await stores.shards.connection_limits())
    except StoreError:
        return
    if found:
        server, told = next(iter(found.items()))
        others = f" (and {len(found) - 1:,} other servers)" if len(found) > 1 else ""
        log.warning("shard server %s%s: %s: %s", server, others, told, advice(settings))
