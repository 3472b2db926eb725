"""The engines that are compared, each opened by a URL: the index of this host, the index in
OpenSearch, and SQLite's FTS5."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from bench.search.fts5 import Fts5
from datasources.protocols import Document, SearchRequest, SearchStore
from tests.contract.search_stores import opened

TANTIVY, OPENSEARCH, FTS5 = "tantivy", "opensearch", "fts5"
BATCH = 1_000  # pins that are added at once
Add = Callable[[Sequence[Document]], Awaitable[None]]


class Engine(Protocol):
    """An engine with its index of pins."""

    async def build(self, documents: Sequence[Document]) -> None:
        """Make the index of these pins."""

    def writing(self) -> AbstractAsyncContextManager[Add]:
        """Adds pins until the end of the block, each time durably and for all readers."""

    async def search(self, text: str, limit: int, *, prefix: bool, typing_errors: bool) -> int:
        """The number of hits of a text, whose last word may be unfinished, or whose words may be
        mistyped."""

    async def size(self) -> int:
        """The bytes of the index on the disk."""

    async def close(self) -> None: ...


def engine_at(url: str) -> Engine:
    """Opens the engine of a URL: `tantivy:///PATH`, `opensearch://HOST:PORT/PREFIX` or
    `fts5:///PATH`."""
    parts = urlsplit(url)
    return Fts5(Path(parts.path)) if parts.scheme == FTS5 else _Store(opened(url))


class _Store:
    """A search store of the gateway. It always forgives typing errors."""

    def __init__(self, store: SearchStore) -> None:
        self._store = store

    async def build(self, documents: Sequence[Document]) -> None:
        async with self._store.rebuild(1) as new:
            for start in range(0, len(documents), BATCH):
                await new.index(documents[start : start + BATCH])

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Add]:
        at = 1

        async def add(documents: Sequence[Document]) -> None:
            nonlocal at
            await self._store.write(documents, since=at, read_to=at + 1)
            at += 1

        async with self._store.alone():
            yield add

    async def search(self, text: str, limit: int, *, prefix: bool, typing_errors: bool) -> int:
        return len(await self._store.search(SearchRequest(text, limit, prefix=prefix)))

    async def size(self) -> int:
        return (await self._store.status()).bytes

    async def close(self) -> None:
        await self._store.close()
