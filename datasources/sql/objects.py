"""Objects by id and transactions: `datasources.protocols.ObjectStore` over SQL."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from datasources import ids as id_parts
from datasources.ids import Kind
from datasources.protocols import ShardTx
from datasources.sql.dialect import marks
from datasources.sql.engine import Part, Session
from datasources.sql.router import Router
from datasources.sql.schema import OBJECT_TABLES
from datasources.sql.tx import SqlTx
from datasources.topology import Topology

T = TypeVar("T")
Found = list[tuple[int, bytes]]

IDS_A_PART = 500
MOST_SHARDS_AT_A_TIME = 256
MOST_ROWS_AT_A_TIME = 16_384


class SqlObjects:
    """See ObjectStore."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def topology(self) -> Topology:
        return self._router.topology

    async def get(self, ids: Sequence[int]) -> dict[int, bytes]:
        locals_of: dict[int, list[int]] = {}  # by the id's bits of shard and type
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
        first = max(after_id, 0) >> id_parts.LOCAL_BITS  # shard and type of the id
        shard = first >> id_parts.KIND_BITS
        if first & ((1 << id_parts.KIND_BITS) - 1) > kind:
            shard += 1
        waiting = [s for s in self._router.topology.open_shards if s >= shard]
        found: list[tuple[int, bytes]] = []
        # Most shards have enough, or nearly all are empty: begin with few, then take many.
        at, width = 0, 1
        while at < len(waiting) and len(found) < limit:
            some = waiting[at : at + width]
            found += await self._list(kind, after_id, limit - len(found), some)
            at += len(some)
            most = MOST_ROWS_AT_A_TIME // (limit - len(found) or 1)
            width = max(1, min(width * 4, MOST_SHARDS_AT_A_TIME, most))
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
        """None for a shard that is not open and for a type that there is not."""
        shard, kind = divmod(prefix, 1 << id_parts.KIND_BITS)
        try:
            place, table = self._router.place(shard), OBJECT_TABLES[Kind(kind)]
        except (KeyError, ValueError):
            return None
        rest = f"FROM {{db}}.{table} WHERE local_id IN ({marks(len(numbers))})"
        return Part(place, "local_id, data", rest, tuple(numbers))

    async def _list(self, kind: Kind, after_id: int, limit: int, shards: Sequence[int]) -> Found:
        rest = f"FROM {{db}}.{OBJECT_TABLES[kind]} WHERE local_id > ? ORDER BY local_id LIMIT ?"
        lowest = [id_parts.compose(shard, kind, 1) - 1 for shard in shards]
        parts = [
            Part(
                self._router.place(shard),
                "local_id, data",
                rest,
                (max(after_id - low, 0), limit),
            )
            for shard, low in zip(shards, lowest, strict=True)
        ]
        answers = await self._router.read("objects.list", parts)
        return [
            (low + local, data)
            for low, rows in zip(lowest, answers, strict=True)
            for local, data in rows
        ]
