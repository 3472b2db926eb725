"""The turns in which the shards of all servers are read, when all of them at once would be many.

A read of the outboxes of 512 shards takes 30 to 40 ms of their server's time, and each shard adds
to it. So a turn reads a bounded number of shards of each server, and a few turns read all of them.
"""

from datasources.topology import Topology

SHARDS = 256
"""The shards of a server in one turn."""


def of_turn(topology: Topology, turn: int) -> list[int]:
    """The shards of a turn. A server with up to SHARDS shards has all of them in each turn; another
    one has the next SHARDS of them in the next turn."""
    found = list[int]()
    for shards in topology.shards_of_masters.values():
        at = turn % -(-len(shards) // SHARDS) * SHARDS
        found += shards[at : at + SHARDS]
    return found
