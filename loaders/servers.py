"""Groups a batch's keys by server, so that a server that fails fails only its own keys."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from datasources.topology import Topology

K = TypeVar("K")
V = TypeVar("V")


def by_server(topology: Topology, shard: int) -> str | None:
    """The server that holds a shard, None for one that is not open."""
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
    """Ask each server for its keys, all at once; a failure becomes the value of that server's
    keys. Keys on shards that are not open are absent."""
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
