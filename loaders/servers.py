"""Groups a batch's keys by server, so that a failing server affects only its own keys."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from datasources.topology import Topology

K = TypeVar("K")
V = TypeVar("V")


def by_server(topology: Topology, shard: int) -> str | None:
    """The server that has a shard; None if the shard is not open."""
    try:
        return topology.master_of(shard)
    except KeyError:
        return None


async def per_server(
    topology: Topology,
    keys: Sequence[K],
    shard_of: Callable[[K], int],
    ask: Callable[[list[K]], Awaitable[dict[K, V]]],
) -> dict[K, V | BaseException]:
    """Load each server's keys with one call of `ask`, all servers concurrently. If a call fails,
    its exception is the value of each of its keys. Keys on shards that are not open are left
    out."""
    groups: dict[str, list[K]] = defaultdict(list)
    for key in keys:
        if server := by_server(topology, shard_of(key)):
            groups[server].append(key)
    answers = await asyncio.gather(*map(ask, groups.values()), return_exceptions=True)
    found: dict[K, V | BaseException] = {}
    for group, answer in zip(groups.values(), answers, strict=True):
        if isinstance(answer, BaseException):
            found.update(dict.fromkeys(group, answer))
        else:
            found.update(answer)
    return found
