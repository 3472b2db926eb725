"""A dump of embedded shards, or an increment of shards on MariaDB, that kills itself with SIGKILL
at its n-th seam.

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
from gateway.operate.dumps.earlier import named, read_earlier
from gateway.operate.dumps.places import DumpPlace, opened
from gateway.operate.dumps.sources import all_rows, changed_rows
from gateway.operate.imports.report import silent
from tests.dumps.logged_shards import opened_shards


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


async def _dump(topology: bytes, to: str, last: int, since: str) -> None:
    at = parse(topology)
    shards = opened_shards(at) if since else SqliteShards(at)
    assert isinstance(shards, ShardScans)
    rows_of, follows = all_rows, None
    if since:
        earlier = await read_earlier(since, "test", "day")
        rows_of, follows = changed_rows(shards, earlier, since), named(since, earlier)
    async with opened(to) as place:
        dying = Dying(place, last)
        manifest = await begin(dying, to, "day", source="test", replace=False, since=follows)
        dump = Dump(shards, dying, manifest, silent, rows_of=rows_of, pause=0, clock=lambda: 0.0)
        await dump.write()
        print(dying.seams)
    await shards.close()


if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    asyncio.run(
        _dump(Path(order["topology"]).read_bytes(), order["to"], order["last"], order["since"])
    )
