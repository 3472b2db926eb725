"""Whether the stores answer, for load balancers and people."""

import asyncio
from collections.abc import Awaitable, Callable

from datasources.errors import StoreError
from datasources.protocols import Stores


async def readiness(stores: Stores) -> dict[str, dict[str, str]]:
    """The faults by store: of those without which nothing can be answered, and of the others."""
    pings: dict[str, Callable[[], Awaitable[None]]] = {
        "object_cache": stores.objects.ping,
        "mapping_cache": stores.lists.ping,
        "queue": stores.queue.ping,
        "pools_primary": stores.pools.primary.ping,
        "pools_standby": stores.pools.standby.ping,
        "feeds_primary": stores.feeds.primary.ping,
        "feeds_standby": stores.feeds.standby.ping,
    }
    shards, faults = await asyncio.gather(
        stores.shards.ping(), asyncio.gather(*map(_fault, pings.values()))
    )
    return {
        "required": {name: fault for name, fault in shards.items() if fault},
        "optional": {name: fault for name, fault in zip(pings, faults, strict=True) if fault},
    }


async def _fault(ping: Callable[[], Awaitable[None]]) -> str | None:
    try:
        await ping()
    except StoreError as error:
        return str(error) or type(error).__name__
    return None
