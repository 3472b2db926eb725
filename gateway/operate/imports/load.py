"""The state that all stages of the import's second pass share."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from datasources import records
from datasources.errors import StoreTimeout, StoreUnavailable
from datasources.ids import Kind
from datasources.mappings import Edge, ListKey, Mapping
from datasources.protocols import ShardTx, Stores
from datasources.records import Record
from feed_engine.feeds.settings import DEFAULTS, FeedSettings
from feed_engine.related.walks import Walks
from gateway.operate.imports.report import (
    Complaints,
    ImportOptions,
    ImportReport,
    OnProgress,
    Progress,
)
from gateway.operate.imports.spool import Spool

T = TypeVar("T")
Row = tuple[Any, ...]
Edges = list[tuple[Mapping, Edge]]


_DROPPED = 500  # cache entries that are dropped at once: caches have short deadlines
_BATCHES = 4  # batches that are written at the same time
_PAUSES = (0.1, 0.3, 1.0, 3.0, 10.0)  # seconds


@dataclass
class Load:
    """One import on its way from the spool into the stores."""

    stores: Stores
    spool: Spool
    options: ImportOptions
    report: ImportReport
    complaints: Complaints
    progress: OnProgress
    walks: Walks | None = None
    limits: FeedSettings = DEFAULTS

    def step(self, stage: str, done: int, total: int | None, unit: str) -> None:
        self.progress(Progress(stage, done, total, unit))

    async def insert(
        self, shard: int, kind: Kind, made: Sequence[Record], parents: Sequence[object]
    ) -> "Inserted":
        """Store new objects in one transaction, each with its parent. An object that has the same
        key and parent in the stores stays unchanged."""
        own = [self.key(one.key or "") for one in made]
        data = [records.encode(replace(one, key=key)) for one, key in zip(made, own, strict=True)]
        keys = [identity(parent, key) for parent, key in zip(parents, own, strict=True)]

        async def work(tx: ShardTx) -> tuple[list[int], int]:
            known = await tx.known_keys(kind, keys)
            return await tx.insert_many(kind, data, keys), len({*keys} - known)

        ids, new = await self.transact(shard, work)
        self.count_new(kind.name.lower(), new)
        return Inserted(ids, new == len({*keys}))

    def key(self, key: str) -> str:
        """The key with which an object of the file is stored."""
        return stored_key(self.options.source, key)

    def count_new(self, what: str, count: int) -> None:
        """Count lines that were not in the stores before."""
        self.report.new[what] = self.report.new.get(what, 0) + count

    async def transact(self, shard: int, work: Callable[[ShardTx], Awaitable[T]]) -> T:
        return await patiently(lambda: self.stores.shards.objects.transact(shard, work))

    async def rows(self, edges: Edges) -> None:
        """Write mapping rows, and drop their lists from the caches. Raises StoreConflict if another
        pin has the same place on a board."""
        if edges:
            await patiently(lambda: self.stores.shards.mappings.load(edges))
            await self.forget_lists(edges)

    async def forget_lists(self, edges: Edges) -> None:
        lists = list(dict.fromkeys(ListKey(mapping, edge.from_id) for mapping, edge in edges))
        for start in range(0, len(lists), _DROPPED):
            some = lists[start : start + _DROPPED]
            await patiently(partial(self.stores.mapping_cache.drop, some))

    async def forget_objects(self, ids: Sequence[int]) -> None:
        for start in range(0, len(ids), _DROPPED):
            some = ids[start : start + _DROPPED]
            await patiently(partial(self.stores.object_cache.drop, some))


class Inserted(NamedTuple):
    """The ids of objects that were to be stored, and whether the stores had none of them before."""

    ids: list[int]
    all_new: bool


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Call again, with growing pauses, while a store does not answer. All writes of an import may
    be repeated, and a short outage should not end an import that has run for hours."""
    for pause in _PAUSES:
        try:
            return await call()
        except (StoreTimeout, StoreUnavailable):
            await asyncio.sleep(pause)
    return await call()


async def concurrently(
    batches: Iterable[tuple[int, list[Row]]], work: Callable[[int, list[Row]], Awaitable[None]]
) -> None:
    """Do the work of each batch, a few batches at a time, because most of the time is spent waiting
    for stores. Raises the first error after all running batches have ended."""
    running: set[asyncio.Future[None]] = set()
    try:
        for shard, rows in batches:
            running.add(asyncio.ensure_future(work(shard, rows)))
            if len(running) == _BATCHES:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        for task in asyncio.as_completed(running):
            await task
    finally:
        for left in running:
            left.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def stored_key(source: str, key: str) -> str:
    """The key with which an object is stored: the file's own key, after the name of its source.
    Without a name, objects of all files share their keys."""
    return f"{source}:{key}" if source else key


def identity(parent: object, key: str) -> str:
    """The identity of an object across imports: the stored key together with the parent's (a user's
    name, a board's owner, ...), because other files may use the same keys."""
    return hashlib.blake2b(f"{parent}/{key}".encode(), digest_size=16).hexdigest()


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


def batches_by(
    rows: Iterable[Row], shard: Callable[[Row], int], size: int
) -> Iterator[tuple[int, list[Row]]]:
    """Up to `size` successive rows of one shard. The rows must be sorted by shard."""
    batch: list[Row] = []
    current = -1
    for row in rows:
        here = shard(row)
        if batch and (here != current or len(batch) >= size):
            yield current, batch
            batch = []
        current = here
        batch.append(row)
    if batch:
        yield current, batch
