"""Embedded stores for the model that answer at once: the stores' own code, without threads, disks,
caches in another process, or a queue.

A call of SQLite or RocksDB runs where it is submitted, and is atomic there, as in its thread. Its
caller continues in the event loop's next turn. The schedules add their own pauses
(`tests.jitter`).
"""

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from datasources.protocols import Cell, Sides, Stores, Table, WideColumnStore
from datasources.rocksdb import store as rocksdb
from datasources.sqlite import engine as sqlite
from datasources.valkey import ValkeyServer
from tests.embedded_stores import embedded_config, embedded_stores

MEMORY = next((path for path in (Path("/dev/shm"),) if path.is_dir()), None)


class Inline(Executor):
    """Runs each call where it is submitted."""

    def __init__(self, *_: Any) -> None: ...

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


class Forgotten:
    """Replaces the mapping cache and the queue: drops everything that is written. Jobs are read
    from the outbox, and lists from their shards."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return self.nothing if name in {"enqueue", "drop", "move"} else getattr(self._store, name)

    async def nothing(self, *_: Any, **__: Any) -> None: ...


class Apart:
    """A side that several models share. The rows of each model begin with its prefix."""

    def __init__(self, store: WideColumnStore, prefix: bytes) -> None:
        self._store, self._prefix = store, prefix

    async def put(
        self, table: Table, rows: Mapping[bytes, Mapping[bytes, bytes]], stamp: int
    ) -> None:
        await self._store.put(table, {self._prefix + row: rows[row] for row in rows}, stamp)

    async def delete(self, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int) -> None:
        await self._store.delete(table, {self._prefix + row: rows[row] for row in rows}, stamp)

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        return await self._store.read(table, self._prefix + row, after=after, limit=limit)

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        return await self._store.get(table, self._prefix + row, columns)

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        await self._store.trim(table, self._prefix + row, keep)


def apart(sides: Sides, prefix: bytes) -> Sides:
    """The sides, for a model with rows of its own."""
    return Sides(*(cast(WideColumnStore, Apart(side, prefix)) for side in sides))


@asynccontextmanager
async def quick_stores() -> AsyncIterator[Stores]:
    """New stores, in memory if the machine has a file system in memory."""
    with (
        tempfile.TemporaryDirectory(dir=MEMORY) as directory,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(rocksdb, "ThreadPoolExecutor", Inline)
        patch.setattr(sqlite, "ThreadPoolExecutor", Inline)
        async with (
            ValkeyServer(Path(directory)) as valkey,
            embedded_stores(embedded_config(Path(directory), valkey)) as stores,
        ):
            forgotten: Any = Forgotten(stores.queue)
            no_cache: Any = Forgotten(stores.mapping_cache)
            yield stores._replace(queue=forgotten, mapping_cache=no_cache)
