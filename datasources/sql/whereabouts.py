"""Finds shards that are being moved: on their master, or on the server to which they move.

During a move the topology names both servers, and a shard's fence says which of them has it. So a
gateway needs no new topology to follow: when a server refuses a shard, the gateway tries the other
server. During a hand-over both refuse, for some ten milliseconds.
"""

import asyncio
from collections.abc import Iterable

from datasources.sql.engine import NotOwned, Place, shard_at
from datasources.topology import Topology

PATIENCE = 4.0  # seconds that a call follows a shard; a hand-over that hangs is undone earlier
PAUSE = 0.01  # seconds between two calls while both servers refuse


class Whereabouts:
    """The servers on which shards of moves were last found, by shard."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}

    def use(self, topology: Topology) -> None:
        """Forget shards that are not being moved in this topology."""
        kept = {}
        for shard, server in self._found.items():
            moving = topology.moving_of(shard)
            if moving is not None and server in (moving.to, topology.master_of(shard)):
                kept[shard] = server
        self._found = kept

    def server_of(self, shard: int, topology: Topology) -> str:
        """The server of a shard. Raises KeyError for a shard that is not open."""
        return self._found.get(shard) or topology.master_of(shard)

    def learn(self, found: dict[int, str], topology: Topology) -> None:
        self._found.update((s, at) for s, at in found.items() if topology.moving_of(s) is not None)


class Search:
    """One call's search for shards of moves. Its results are remembered only when the call
    succeeds: a server that does not answer must not keep later calls from the server that has the
    shard."""

    def __init__(self) -> None:
        self.found: dict[int, str] = {}
        self._give_up: float | None = None

    def at(self, place: Place, topology: Topology) -> Place:
        """The next place to try for the shard of a place."""
        if not self.found:
            return place
        is_mod, shard = shard_at(place)
        server = None if is_mod else self.found.get(shard)
        if server is None or topology.moving_of(shard) is None:
            return place
        return place._replace(server=server)

    async def turn(self, refused: NotOwned, topology: Topology) -> bool:
        """Switch to the other servers of shards that were refused. Returns whether there are any,
        and there is time left. Waits if both servers refused a shard."""
        others = _others(refused.places, topology)
        if not others:
            return False
        now = asyncio.get_running_loop().time()
        if self._give_up is None:
            self._give_up = now + PATIENCE
        elif now >= self._give_up:
            return False
        if others.keys() & self.found.keys():
            await asyncio.sleep(PAUSE)
        self.found |= others
        return True


def _others(places: Iterable[Place], topology: Topology) -> dict[int, str]:
    found: dict[int, str] = {}
    for place in places:
        is_mod, shard = shard_at(place)
        moving = None if is_mod else topology.moving_of(shard)
        if moving is not None:
            master = topology.master_of(shard)
            found[shard] = moving.to if place.server == master else master
    return found
