"""Routes of the feeds: the side of a feed store that all running gateways read, if an operator sets
one.

They are stored among the switches beside the topology. Every gateway learns of a change within a
second.
"""

import logging
from collections.abc import Mapping

from datasources.protocols import Switches
from feed_engine.speculation import Race, Side

AUTO = "auto"  # each gateway decides for each call
STORES = ("pools", "feeds")

log = logging.getLogger("pinway")


async def route(switches: Switches, stores: tuple[str, ...], side: Side | None) -> dict[str, str]:
    """Force a side of these feed stores, or stop forcing one (None). Returns all routes. Raises
    StoreError."""
    value = None if side is None else side.value
    return routes(await switches.change({_name(store): value for store in stores}))


def routes(switched: Mapping[str, str]) -> dict[str, str]:
    """The route of each store: `primary`, `standby` or `auto`."""
    return {store: switched.get(_name(store), AUTO) for store in STORES}


async def follow_routes(switches: Switches, races: Mapping[str, Race]) -> None:
    """Apply the routes to the races, until cancelled."""
    now = dict.fromkeys(races, AUTO)
    async for switched in switches.watch():
        for store, wanted in routes(switched).items():
            if wanted == now[store]:
                continue
            try:
                side = None if wanted == AUTO else Side(wanted)
            except ValueError:
                log.warning("the feeds' route %r of %s is unknown: ignored", wanted, store)
                continue
            now[store] = wanted
            races[store].force(side)
            log.warning("the feeds' route of %s is %s now", store, wanted)


def _name(store: str) -> str:
    return f"route.{store}"
