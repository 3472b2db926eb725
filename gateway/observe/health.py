"""Readiness: every store's state and the consequences of its loss, for load balancers and people.

A process is unready only when it can't answer any request: when no shard server answers. If one of
several servers is down, only its own users are affected; if balancers then removed every gateway,
all users would be.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

from datasources.circuit import Mode, circuits
from datasources.errors import StoreError, StoreUnavailable
from datasources.protocols import GenerationState, Reading, SearchStore, Stores
from datasources.waits import waiting_for

WELL = "well"
PATIENCE = 1.0
"""Seconds for a store other than the shards to answer. A store that hangs delays no probe and no
scrape, which have timeouts of their own."""

COSTS = {
    "object_cache": "each object is read from its shard: slower answers, more load on the shards; "
    "writes whose entries can't be removed are kept, but answer UNAVAILABLE",
    "mapping_cache": "each list is read from its shard: slower answers, more load on the shards; "
    "writes whose entries can't be removed are kept, but answer UNAVAILABLE",
    "queue": "feeds and counts fall behind until it is back; the outbox keeps the work",
    "pools_primary": "new pins come from the standby, some hundred milliseconds older",
    "pools_standby": "late or failed answers of the primary can't be replaced",
    "feeds_primary": "feeds come from the standby, some hundred milliseconds older",
    "feeds_standby": "late or failed answers of the primary can't be replaced",
    "search": "`search` and `suggest` answer UNAVAILABLE; the index catches up when it is back",
    "topology": "shards that move or open are not noticed; known shards are served",
}


PASSED_BY = "is passed by, and is being tried"
"""The state of a cache whose server answers this time, but not yet reliably."""
NOT_READ = "is not read"
"""The state of a cache with a server that this process may not read, although it answers."""


async def readiness(
    stores: Stores, patience: float = PATIENCE, *, search: SearchStore | None = None
) -> dict[str, dict[str, Any]]:
    """The state of all stores, with the search index if it is given. `stores`: each store's `state`
    (well, or its fault) and, for a fault, its consequences (`costs`). A store other than the shards
    has `patience` seconds to answer. `required`: the faults because of which this process can't
    answer any request."""
    pings: dict[str, Callable[[], Awaitable[None]]] = {
        "object_cache": stores.object_cache.ping,
        "mapping_cache": stores.mapping_cache.ping,
        "queue": stores.queue.ping,
        "pools_primary": stores.pools.primary.ping,
        "pools_standby": stores.pools.standby.ping,
        "feeds_primary": stores.feeds.primary.ping,
        "feeds_standby": stores.feeds.standby.ping,
    }
    if search is not None:
        pings["search"] = partial(_look, search)
    shards, lags, faults = await asyncio.gather(
        stores.shards.ping(),
        _lags(stores, patience),
        asyncio.gather(*(_fault(name, ping, patience) for name, ping in pings.items())),
    )
    states = {f"shards {name}": _shards(stores, name, fault) for name, fault in shards.items()}
    states |= _slaves(stores, shards, lags)
    passed = {
        cache: f"{one.server} {PASSED_BY}; its last failure: {one.reason}"
        for cache, one in circuits(stores)
        if one.mode is not Mode.WELL and one.server not in _unread(stores)
    }
    left = passed | not_read(stores)
    states |= {
        name: _state(fault or left.get(name), COSTS[name])
        for name, fault in zip(pings, faults, strict=True)
    }
    states["topology"] = _state(stores.topology.fault, COSTS["topology"])
    dead = {name: fault for name, fault in shards.items() if fault}
    return {"required": dead if len(dead) == len(shards) else {}, "stores": states}


async def _look(search: SearchStore) -> None:
    """Look at the search index. Raises StoreUnavailable if there is none."""
    if await search.times() is None:
        raise StoreUnavailable("there is no search index that can be used: it is being built")


def not_read(stores: Stores) -> dict[str, str]:
    """By cache: the servers that this process may not read (`datasources.protocols.Generations`),
    and why."""
    found: dict[str, str] = {}
    for one in () if stores.generations is None else stores.generations.states():
        cache, _, server = one.server.partition("-")
        if one.reading is not Reading.LEASED and server not in _unread(stores):
            told = f"{server or 'its server'} {NOT_READ}: {_why(one)}"
            found[cache] = f"{found[cache]}; {told}" if cache in found else told
    return found


def _unread(stores: Stores) -> Collection[str]:
    """The memcached servers that a change of their list brings, or that leave: their state costs
    no reads."""
    return getattr(stores.object_cache, "unread", ())


def _why(state: GenerationState) -> str:
    if state.shuts:
        return "it is shut for all processes, because this process can't remove entries from it"
    if state.reading is Reading.SHUT:
        return "it is shut for all processes, because another process can't remove entries from it"
    if state.reading is Reading.OPENING:
        return "it was shut, and opens within seconds"
    return "ZooKeeper does not renew this process's lease on it"


def _shards(stores: Stores, server: str, fault: str | None) -> dict[str, str]:
    topology = stores.shards.objects.topology()
    whose = [
        f"{name} {low} to {high}"
        for name, ranges in (
            ("shards", topology.shards),
            ("mod shards (names)", topology.mod.ranges),
        )
        for low, high in (r.range for r in ranges if r.master == server)
    ]
    slaves = sorted({r.slave for r in topology.shards if r.master == server and r.slave})
    lost = (
        f"writes to {' and '.join(whose)} fail, reads go to the slave {', '.join(slaves)}"
        if slaves
        else f"reads and writes of {' and '.join(whose)} fail"
    )
    return _state(fault, f"{lost}; all other shards go on")


def _slaves(
    stores: Stores, masters: Mapping[str, str | None], lags: Mapping[str, float | None] | None
) -> dict[str, dict[str, str]]:
    """The states of the slaves whose masters answer; nothing if their lags are not known."""
    topology = stores.shards.objects.topology()
    pairs = {r.slave: r.master for r in (*topology.shards, *topology.mod.ranges) if r.slave}
    if lags is None:
        return {}
    states = {}
    for slave, master in sorted(pairs.items()):
        if masters.get(master) is None:
            fault = "it does not answer" if slave not in lags else "it does not replicate"
            states[f"slave {slave}"] = _state(
                None if lags.get(slave) is not None else fault,
                f"writes to {master} wait for it and answer TIMEOUT, until it is back or "
                f"`pinway shards detach {slave}`; reads go on",
            )
    return states


async def _lags(stores: Stores, patience: float) -> dict[str, float | None] | None:
    try:
        async with asyncio.timeout(patience):
            return await stores.shards.replication()
    except (StoreError, TimeoutError):
        return None


def _state(fault: str | None, costs: str) -> dict[str, str]:
    return {"state": WELL} if fault is None else {"state": fault, "costs": costs}


async def _fault(name: str, ping: Callable[[], Awaitable[None]], patience: float) -> str | None:
    try:
        with waiting_for(name):
            async with asyncio.timeout(patience):
                await ping()
    except StoreError as error:
        return str(error) or type(error).__name__
    except TimeoutError:
        return f"no answer within {patience:g} s"
    return None
