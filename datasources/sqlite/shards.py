"""The sharded database on one machine: `datasources.protocols.ShardStore` over SQLite files."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from datasources.clocks import now_ms
from datasources.errors import StoreError
from datasources.scans import Scan
from datasources.sql.creation import check_new, unfenced
from datasources.sql.engine import Observe, Part, Place, object_place
from datasources.sql.router import places
from datasources.sql.shards import Progress, SqlShards
from datasources.sqlite.engine import SqliteEngine, directories
from datasources.sqlite.schema import file_of
from datasources.topology import Topology

DEADLINE = 5.0  # seconds


class SqliteShards(SqlShards):
    """Shards as files `DIR/db00003.sqlite` and `DIR/mod00001.sqlite` of servers `sqlite:///DIR`.

    `synchronous` is SQLite's setting: FULL makes a commit durable, OFF is for tests. `deadline` is
    in seconds, for each read and each step of a transaction. `observe` is called for each read and
    each step of a transaction.
    """

    def __init__(
        self,
        topology: Topology,
        synchronous: str = "FULL",
        *,
        deadline: float = DEADLINE,
        clock: Callable[[], int] = now_ms,
        observe: Observe = lambda server, operation: None,
    ) -> None:
        self._engine = SqliteEngine(topology, synchronous, deadline, observe)
        super().__init__(self._engine, topology, clock)

    async def create(self, progress: Progress = lambda done, total: None) -> None:
        topology = self.objects.topology()
        all_places = places(topology)
        fences = await self._engine.fences({place.database for place in all_places})
        check_new(unfenced(all_places, fences), fences, {}, topology.epoch)
        for done, place in enumerate(all_places, 1):
            await self._engine.create(place, topology.epoch)
            progress(done, len(all_places))

    async def absent(self) -> dict[str, list[str]]:
        topology = self.objects.topology()
        folders, found = directories(topology), dict[str, list[str]]()
        for place in places(topology):
            file = file_of(folders[place.server], place)
            if not file.exists() or file.stat().st_size == 0:
                found.setdefault(place.server, []).append(place.database)
        return found

    async def ping(self) -> dict[str, str | None]:
        faults: dict[str, str | None] = {}
        for place in places(self.objects.topology()):
            if faults.get(place.server) is None:
                faults[place.server] = await self._fault(place)
        return faults

    async def snapshot(
        self, folder: Path, paused: Callable[[], Awaitable[None]], copied: Progress
    ) -> None:
        all_places = places(self.objects.topology())
        await self._engine.snapshot(all_places, folder, paused, copied)

    def scanned_together(self) -> list[list[int]]:
        return [[shard] for shard in self.objects.topology().open_shards]

    def scan(self, shards: Sequence[int]) -> AbstractAsyncContextManager[Scan]:
        [shard] = shards
        return self._engine.scan(object_place(self.objects.topology().master_of(shard), shard))

    async def close(self) -> None:
        await self._engine.close()

    async def _fault(self, place: Place) -> str | None:
        try:
            await self._engine.read("ping", [Part(place, "id", "FROM {db}.fence", ())])
        except StoreError as error:
            return str(error)
        return None
