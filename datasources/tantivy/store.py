"""The search store over tantivy: readers, the writer, and the building of a new index.

All of the engine's work is done in two threads, one for reads and one for writes, so that the event
loop waits for no file.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from tantivy import Index, IndexWriter, Searcher

from datasources.errors import StoreConflict, StoreCorrupt, StoreUnavailable
from datasources.protocols import (
    Document,
    Hit,
    IndexState,
    IndexStatus,
    IndexTimes,
    NewIndex,
    SearchRequest,
)
from datasources.tantivy import folder
from datasources.tantivy.failures import store_errors
from datasources.tantivy.fields import VERSION, open_index, stored
from datasources.tantivy.folder import META, Current, Folder, Stamp
from datasources.tantivy.queries import in_group, one_of, query_of
from datasources.tantivy.words import roots_of

T = TypeVar("T")
WRITER_BYTES, BUILDER_BYTES = 15_000_000, 60_000_000
"""The memory for new documents before they are written to a file."""


class TantivySearch:
    """The index in a folder, which the processes of one host share."""

    def __init__(self, path: str) -> None:
        self._folder = Folder(Path(path))
        self._reader, self._writer = _Reader(self._folder), _Writer(self._folder)
        self._reads = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="search-writer")

    async def search(self, request: SearchRequest) -> list[Hit]:
        return await _in(self._reads, lambda: self._reader.search(request))

    async def group_sizes(
        self, groups: Sequence[int], *, but: Sequence[int] = ()
    ) -> dict[int, int]:
        return await _in(self._reads, lambda: self._reader.group_sizes(groups, but))

    def roots(self, given: Sequence[str]) -> list[frozenset[str]]:
        return roots_of(given)

    async def times(self) -> IndexTimes | None:
        return await _in(self._reads, lambda: _times(self._folder))

    async def status(self) -> IndexStatus:
        return await _in(self._writes, lambda: _status(self._folder))

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        with self._locked("writer", "another process of this host writes the search index"):
            try:
                yield
            finally:
                await _in(self._writes, self._writer.close)

    async def write(
        self,
        documents: Sequence[Document],
        *,
        delete: Sequence[int] = (),
        delete_boards: Sequence[int] = (),
        since: int,
        read_to: int,
    ) -> None:
        def write() -> None:
            self._writer.write(documents, delete, delete_boards, since, read_to)

        await _in(self._writes, write)

    @asynccontextmanager
    async def rebuild(self, built: int) -> AsyncIterator[NewIndex]:
        with self._locked("build", "another process of this host builds the search index"):
            thread = ThreadPoolExecutor(1, thread_name_prefix="search-builder")
            try:
                new = await _in(thread, lambda: _NewIndex(self._folder, thread))
                yield new
                await _in(thread, lambda: new.finish(built))
            finally:
                thread.shutdown(wait=False)

    async def close(self) -> None:
        await _in(self._writes, self._writer.close)
        for thread in (self._reads, self._writes):
            await asyncio.to_thread(thread.shutdown)

    def _locked(self, name: str, told: str) -> ExitStack:
        """Hold a lock until the stack is closed."""
        with store_errors("locking"):
            held = ExitStack()
            held.enter_context(self._folder.locked(name, told))
            return held


class _Reader:
    """The index in use, opened again when it was replaced, and read again when it was written."""

    def __init__(self, files: Folder) -> None:
        self._files = files
        self._pointer: Stamp | None = None
        self._current: Current | None = None
        self._index: Index | None = None
        self._meta: Stamp | None = None
        self._searcher: Searcher | None = None

    def search(self, request: SearchRequest) -> list[Hit]:
        query = query_of(request)
        if query is None:
            return []

        def read(searcher: Searcher) -> list[Hit]:
            found = searcher.search(
                query, limit=request.limit, count=False, weight_by_field="weight"
            ).hits
            places = [place for _, place in found]
            ids = searcher.fast_field_values("id", places)
            groups = searcher.fast_field_values("group", places)
            return [
                Hit(int(id or 0), int(group or 0), float(score))
                for (score, _), id, group in zip(found, ids, groups, strict=True)
            ]

        return self._read(read)

    def group_sizes(self, groups: Sequence[int], but: Sequence[int]) -> dict[int, int]:
        def read(searcher: Searcher) -> dict[int, int]:
            sizes: dict[int, int] = {}
            for group in groups:
                found = searcher.search(in_group(group, but), limit=1, count=True)
                sizes[group] = int(found.count)  # type: ignore[attr-defined] # the stub lacks it
            return sizes

        return self._read(read)

    def _read(self, act: Callable[[Searcher], T]) -> T:
        try:
            with store_errors("reading"):
                return act(self._newest())
        except StoreCorrupt:
            current, self._pointer, self._index = self._current, None, None
            if current is None:
                raise
            with store_errors("reading"):
                if self._files.current() == current:
                    self._files.mark_damaged(current)
                    raise
                return act(self._newest())  # it was replaced, and its files were removed

    def _newest(self) -> Searcher:
        pointer = folder.stamp(self._files.path / folder.CURRENT)
        if pointer is None or pointer != self._pointer or self._index is None:
            self._open(pointer)
        assert self._current is not None
        assert self._index is not None
        meta = folder.stamp(self._files.of(self._current) / META)
        if meta != self._meta or self._searcher is None:
            self._index.reload()
            self._searcher, self._meta = self._index.searcher(), meta
        return self._searcher

    def _open(self, pointer: Stamp | None) -> None:
        self._index = self._searcher = self._meta = None
        self._current = _usable(self._files)
        index = open_index(str(self._files.of(self._current)))
        index.config_reader("manual")
        self._index, self._pointer = index, pointer


class _Writer:
    """Writes the index in use. It keeps the engine's writer open between writes."""

    def __init__(self, files: Folder) -> None:
        self._files = files
        self._name = ""
        self._writer: IndexWriter | None = None

    def write(
        self,
        documents: Sequence[Document],
        delete: Sequence[int],
        delete_boards: Sequence[int],
        since: int,
        read_to: int,
    ) -> None:
        with store_errors("writing"):
            current = _usable(self._files)
            path = self._files.of(current)
            if folder.read_to(path) != since:
                raise StoreConflict("the search index was replaced in the meantime")
            if documents or delete or delete_boards:
                try:
                    self._commit(self._opened(current), documents, delete, delete_boards)
                except BaseException:
                    self.close()
                    raise
            folder.set_read_to(path, read_to)

    def close(self) -> None:
        self._name, self._writer = "", None

    def _opened(self, current: Current) -> IndexWriter:
        if self._writer is None or self._name != current.name:
            self.close()
            index = open_index(str(self._files.of(current)))
            self._writer, self._name = index.writer(WRITER_BYTES, 1), current.name
        return self._writer

    @staticmethod
    def _commit(
        writer: IndexWriter,
        documents: Sequence[Document],
        delete: Sequence[int],
        delete_boards: Sequence[int],
    ) -> None:
        # The engine's deletion by term takes every number for a signed one, and deletes nothing.
        if delete_boards:
            writer.delete_documents_by_query(one_of("board", delete_boards))
        writer.delete_documents_by_query(one_of("id", [*delete, *(it.id for it in documents)]))
        for document in documents:
            writer.add_document(stored(document))
        writer.commit()


class _NewIndex:
    """An index that is being built in a subfolder of its own."""

    def __init__(self, files: Folder, thread: ThreadPoolExecutor) -> None:
        self._files, self._thread = files, thread
        with store_errors("building"):
            try:
                current = files.current()
            except StoreCorrupt:
                current = None
            files.remove_others(current.name if current is not None else "")
            self._path = files.new()
            self._writer = open_index(str(self._path)).writer(BUILDER_BYTES, 1)

    async def index(self, documents: Sequence[Document]) -> None:
        def add() -> None:
            with store_errors("building"):
                for document in documents:
                    self._writer.add_document(stored(document))

        await _in(self._thread, add)

    def finish(self, built: int) -> None:
        """Make the index durable, and bring it into use."""
        with store_errors("building"):
            self._writer.commit()
            self._writer.wait_merging_threads()
            folder.set_read_to(self._path, built)
            self._files.use(self._path.name, built)


def _usable(files: Folder) -> Current:
    """The index in use. Raises StoreUnavailable if there is none that this version reads."""
    current = files.current()
    if current is None:
        raise StoreUnavailable("there is no search index yet: it is being built")
    if current.version != VERSION:
        raise StoreUnavailable("the search index is of another version: it is being built again")
    return current


def _times(files: Folder) -> IndexTimes | None:
    with store_errors("reading"):
        current = files.current()
        if current is None or current.version != VERSION:
            return None
        if files.is_marked(current):
            return None
        return IndexTimes(current.built, folder.read_to(files.of(current)))


def _status(files: Folder) -> IndexStatus:
    try:
        with store_errors("reading"):
            current = files.current()
            if current is None:
                return IndexStatus(IndexState.ABSENT)
            if current.version != VERSION:
                fault = f"it has version {current.version}; this program reads {VERSION}"
                return IndexStatus(IndexState.OLD, fault, built=current.built)
            path = files.of(current)
            folder.check_files(path)
            if files.is_marked(current):
                return IndexStatus(IndexState.DAMAGED, "a process could not read it")
            searcher = open_index(str(path)).searcher()
            return IndexStatus(
                IndexState.OK,
                documents=searcher.num_docs,
                built=current.built,
                read_to=folder.read_to(path),
                bytes=folder.size(path),
            )
    except (StoreCorrupt, StoreUnavailable) as error:
        return IndexStatus(IndexState.DAMAGED, str(error))


async def _in(thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, work)
