"""A dump that kills itself with SIGKILL at its n-th seam, for `test_killed_dumps.py`.

A seam is before and after each call that changes the dump's place. A dump that reaches its end
prints the number of seams.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from datasources.scans import ShardScans
from datasources.sqlite import SqliteShards
from datasources.topology import parse
from gateway.operate.dumps.dump import Dump, begin
from gateway.operate.dumps.places import DumpPlace, opened
from gateway.operate.imports.report import silent


class Dying:
    """A place that counts the seams of its changes."""

    def __init__(self, place: DumpPlace, last: int) -> None:
        self._place, self._last, self.seams = place, last, 0
        self.get, self.names = place.get, place.names

    async def put(self, name: str, content: bytes) -> None:
        self._seam()
        await self._place.put(name, content)
        self._seam()

    async def delete(self, names: Sequence[str]) -> None:
        self._seam()
        await self._place.delete(names)
        self._seam()

    def _seam(self) -> None:
        self.seams += 1
        if self.seams == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


async def _dump(topology: bytes, to: str, last: int) -> None:
    shards = SqliteShards(parse(topology))
    assert isinstance(shards, ShardScans)
    async with opened(to) as place:
        dying = Dying(place, last)
        manifest = await begin(dying, to, "day", source="test", replace=False)
        await Dump(shards, dying, manifest, silent, pause=0, clock=lambda: 0.0).write()
        print(dying.seams)
    await shards.close()


if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    asyncio.run(_dump(Path(order["topology"]).read_bytes(), order["to"], order["last"]))
