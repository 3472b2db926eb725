"""Finds shards that are being moved: on their master or on the server that they move to.

The topology names both servers during a move. A shard's fence says which of the two has it, so a
gateway needs no new topology to follow: a server that refuses a shard sends it to the other one.
While a hand-over is under way both refuse, for some ten milliseconds.
"""

import asyncio
from collections.abc import Iterable

from datasources.sql.engine import NotOwned, Place, shard_at
from datasources.topology import Topology

PATIENCE = 4.0  # seconds that a call follows a shard; a hand-over that is stuck is undone before
PAUSE = 0.01  # seconds between two calls while both servers refuse


class Whereabouts:
    """The servers that shards of moves were last found on, by shard."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}

    def use(self, topology: Topology) -> None:
        """Forget the shards that the topology does not move."""
        kept = {}
        for shard, server in self._found.items():
            moving = topology.moving_of(shard)
            if moving is not None and server in (moving.to, topology.master_of(shard)):
                kept[shard] = server
        self._found = kept

    def server_of(self, shard: int, topology: Topology) -> str:
        """Raises KeyError for a shard that is not open."""
        return self._found.get(shard) or topology.master_of(shard)

    def learn(self, found: dict[int, str], topology: Topology) -> None:
        self._found.update((s, at) for s, at in found.items() if topology.moving_of(s) is not None)


class Search:
    """One call's search for shards of moves. What it found is learned when the call succeeds: a
    server that does not answer must not keep later calls from the one that has the shard."""

    def __init__(self) -> None:
        self.found: dict[int, str] = {}
        self._give_up: float | None = None

    def at(self, place: Place, topology: Topology) -> Place:
        """The place to try next for the shard of a place."""
        if not self.found:
            return place
        is_mod, shard = shard_at(place)
        server = None if is_mod else self.found.get(shard)
        if server is None or topology.moving_of(shard) is None:
            return place
        return place._replace(server=server)

    async def turn(self, refused: NotOwned, topology: Topology) -> bool:
        """Go to the other servers of shards that were refused; whether there are any, and there is
        time left. A shard that both refused is waited for."""
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
