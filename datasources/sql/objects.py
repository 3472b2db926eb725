"""Objects by id and transactions: `datasources.protocols.ObjectStore` over SQL."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from datasources import ids as id_parts
from datasources.errors import StoreError
from datasources.ids import MAX_LOCAL, Kind
from datasources.protocols import Listed, ShardTx
from datasources.sql.dialect import marks
from datasources.sql.engine import Part, Session
from datasources.sql.flights import Flights
from datasources.sql.router import Router
from datasources.sql.schema import OBJECT_TABLES
from datasources.sql.tx import SqlTx
from datasources.topology import Topology

T = TypeVar("T")
Found = list[Listed]  # inside the class, `list` is a method

IDS_A_PART = 500
MOST_SHARDS_AT_A_TIME = 256
MOST_ROWS_AT_A_TIME = 16_384


class SqlObjects:
    """See ObjectStore."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._flights = Flights()

    def topology(self) -> Topology:
        return self._router.topology

    async def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        key = tuple(ids)
        return dict(await self._flights.read(key, lambda: self._get(key)))

    async def _get(self, ids: Sequence[int]) -> dict[int, bytes]:
        locals_of: dict[int, list[int]] = {}  # by the shard and type bits of the id
        for id in dict.fromkeys(ids):
            locals_of.setdefault(id >> id_parts.LOCAL_BITS, []).append(id_parts.local_of(id))
        parts, prefixes = [], []
        for prefix, numbers in locals_of.items():
            for at in range(0, len(numbers), IDS_A_PART):
                part = self._part(prefix, numbers[at : at + IDS_A_PART])
                if part is not None:
                    parts.append(part)
                    prefixes.append(prefix << id_parts.LOCAL_BITS)
        answers = await self._router.read("objects.get", parts)
        return {
            prefix | local: data
            for prefix, rows in zip(prefixes, answers, strict=True)
            for local, data in rows
        }

    async def list(self, kind: Kind, after_id: int, limit: int) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        for id, data in await self.list_reachable(kind, after_id, limit):
            if isinstance(data, StoreError):
                raise data
            found.append((id, data))
        return found

    async def list_reachable(self, kind: Kind, after_id: int, limit: int) -> Sequence[Listed]:
        waiting = self._shards_behind(kind, after_id)
        found: Found = []
        lost: dict[str, StoreError] = {}  # failed servers, which are not asked again
        # Either most shards have enough objects, or nearly all are empty: begin with few, then take
        # many.
        at, width = 0, 1
        while at < len(waiting) and len(found) < limit:
            some = waiting[at : at + width]
            for entry in await self._list(kind, after_id, limit - len(found), some, lost):
                if found and _is_lost(found[-1]) and _is_lost(entry):
                    found.pop()
                found.append(entry)
            at += len(some)
            most = MOST_ROWS_AT_A_TIME // (limit - len(found) or 1)
            width = max(1, min(width * 4, MOST_SHARDS_AT_A_TIME, most))
        # An error takes one place of a page, in place of all its server's objects there.
        while found and _is_lost(found[-1]) and at < len(waiting):
            if self._router.place(waiting[at]).server not in lost:
                break
            found[-1] = (id_parts.compose(waiting[at], kind, MAX_LOCAL), found[-1][1])
            at += 1
        return found[:limit]

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[T]]) -> T:
        router = self._router

        async def run(session: Session) -> T:
            tx = SqlTx(shard, session, router.engine.dialect, router.clock)
            answer = await work(tx)
            tx.finish()
            return answer

        return await router.write(shard, "tx", run)

    def _part(self, prefix: int, numbers: Sequence[int]) -> Part | None:
        """The part that reads local ids; None for a shard that is not open, or an unknown type."""
        shard, kind = divmod(prefix, 1 << id_parts.KIND_BITS)
        try:
            place, table = self._router.place(shard), OBJECT_TABLES[Kind(kind)]
        except (KeyError, ValueError):
            return None
        rest = f"FROM {{db}}.{table} WHERE local_id IN ({marks(len(numbers))})"
        return Part(place, "local_id, data", rest, tuple(numbers))

    def _shards_behind(self, kind: Kind, after_id: int) -> Sequence[int]:
        """The open shards that may have objects of a kind with higher ids."""
        first = max(after_id, 0) >> id_parts.LOCAL_BITS  # shard and type of the id
        shard, before = divmod(first, 1 << id_parts.KIND_BITS)
        if before > kind or (before == kind and id_parts.local_of(after_id) == MAX_LOCAL):
            shard += 1
        return [s for s in self._router.topology.open_shards if s >= shard]

    async def _list(
        self,
        kind: Kind,
        after_id: int,
        limit: int,
        shards: Sequence[int],
        lost: dict[str, StoreError],
    ) -> Found:
        """Each shard's objects; for a failed server the last id with its error, which is added to
        `lost`."""
        servers = {shard: self._router.place(shard).server for shard in shards}
        asked: dict[str, list[int]] = {}
        for shard, server in servers.items():
            if server not in lost:
                asked.setdefault(server, []).append(shard)
        answers = await asyncio.gather(
            *(self._list_shards(kind, after_id, limit, some) for some in asked.values()),
            return_exceptions=True,
        )
        rows: dict[int, Found] = {}
        for server, answer in zip(asked, answers, strict=True):
            if isinstance(answer, StoreError):
                lost[server] = answer
            elif isinstance(answer, BaseException):
                raise answer
            else:
                rows |= answer
        found: Found = []
        for shard, server in servers.items():
            last = id_parts.compose(shard, kind, MAX_LOCAL)
            found += rows[shard] if shard in rows else [(last, lost[server])]
        return found

    async def _list_shards(
        self, kind: Kind, after_id: int, limit: int, shards: Sequence[int]
    ) -> dict[int, Found]:
        rest = f"FROM {{db}}.{OBJECT_TABLES[kind]} WHERE local_id > ? ORDER BY local_id LIMIT ?"
        lowest = [id_parts.compose(shard, kind, 1) - 1 for shard in shards]
        parts = [
            Part(self._router.place(shard), "local_id, data", rest, (max(after_id - low, 0), limit))
            for shard, low in zip(shards, lowest, strict=True)
        ]
        answers = await self._router.read("objects.list", parts)
        return {
            shard: [(low + local, data) for local, data in rows]
            for shard, low, rows in zip(shards, lowest, answers, strict=True)
        }


def _is_lost(entry: Listed) -> bool:
    return isinstance(entry[1], StoreError)
