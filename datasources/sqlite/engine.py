"""SQLite files as servers: batches of reads in a small pool of threads, one writer for each file.

A read of few parts of one file is first tried on the event loop: it takes 20 µs there, and
switching to a thread and back alone takes 65 µs. A long read, or a read that meets a lock,
continues in a thread. (As with RocksDB, a page of the file that is not in memory blocks the loop
for as long as the disk takes.)
"""

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from datasources.errors import StaleTopology, StoreConflict, StoreTimeout
from datasources.sql.dialect import SQLITE
from datasources.sql.engine import Observe, Part, Place, Row
from datasources.sqlite import schema
from datasources.sqlite.connections import Connections
from datasources.sqlite.copies import copy, pin
from datasources.sqlite.errors import Busy, translate
from datasources.sqlite.reads import read_file, read_quickly
from datasources.sqlite.scans import FileScan
from datasources.sqlite.session import SqliteSession
from datasources.together import together
from datasources.topology import Topology

T = TypeVar("T")
THREADS = 4
QUICK_PARTS = 8  # parts of one file that are tried on the event loop: a viewer's preferences have 6
MOST_IDLE = 128  # connections; each takes two or three file descriptors
_PAUSE = 0.01  # seconds between two attempts to read a locked file


class SqliteEngine:
    """See `datasources.sql.engine.Engine`. A server is a directory."""

    dialect = SQLITE

    def __init__(
        self, topology: Topology, synchronous: str, deadline: float, observe: Observe
    ) -> None:
        self._directories, self._paths = directories(topology), dict[Place, Path]()
        self._deadline, self._observe = deadline, observe
        self._connections = Connections(synchronous, MOST_IDLE)
        # Commits wait for the disk: reads must not queue behind them.
        self._readers = ThreadPoolExecutor(THREADS, "pinway-sqlite-read")
        self._writers = ThreadPoolExecutor(THREADS, "pinway-sqlite-write")
        self._turns: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._ending: set[asyncio.Task[None]] = set()

    def use(self, topology: Topology) -> None:
        self._directories, self._paths = directories(topology), {}

    def confirm_with(self, confirm: Callable[[], Awaitable[None]]) -> None:
        """Does nothing: files are always current."""

    async def read(self, operation: str, parts: Sequence[Part]) -> list[list[Row]]:
        quick = self._read_quickly(operation, parts)
        if quick is not None:
            await asyncio.sleep(0)  # a task with many reads gives way to other tasks
            return quick
        numbers: dict[str, list[int]] = {}
        for number, part in enumerate(parts):
            numbers.setdefault(part.place.server, []).append(number)
        answers: list[list[Row]] = [[] for _ in parts]
        read = await together(
            self._read_server(server, operation, [parts[n] for n in some])
            for server, some in numbers.items()
        )
        for some, rows in zip(numbers.values(), read, strict=True):
            for number, of_part in zip(some, rows, strict=True):
                answers[number] = of_part
        return answers

    @asynccontextmanager
    async def begin(self, place: Place, commit: str) -> AsyncIterator[SqliteSession]:
        path = self._path(place)
        turn = self._turns[path]
        try:
            async with asyncio.timeout(self._deadline):
                await turn.acquire()
        except TimeoutError:
            raise StoreConflict(f"{path}: still being written after {self._deadline} s") from None
        session = SqliteSession(
            place, path, self._connections, self._writers, self._deadline, self._observe
        )
        try:
            await session.begin()
            yield session
            await session.commit(commit)
        finally:
            await self._end(session, turn)

    async def create(self, place: Place, epoch: int) -> None:
        """Create a shard's file, tables and fence if they do not exist."""
        path = self._path(place)

        def make() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connections.open(path, create=True)
            try:
                schema.create(connection, path, place, epoch)
            finally:
                connection.close()

        await self._patiently(path, lambda: self._hop(make))

    async def snapshot(
        self,
        places: Sequence[Place],
        folder: Path,
        paused: Callable[[], Awaitable[None]],
        copied: Callable[[int, int], None],
    ) -> None:
        """See ShardSnapshots. Writers wait for milliseconds only: a read transaction on each file
        keeps its content for the copy, and the copies are made while writers continue."""
        paths = sorted({self._path(place) for place in places})
        async with AsyncExitStack() as held:
            for path in paths:  # always in this order; a writer holds only one lock
                await self._turns[path].acquire()
                held.callback(self._turns[path].release)
            pinned = await self._hop(lambda: [pin(self._connections, path) for path in paths])
            await paused()
        try:
            for done, (path, connection) in enumerate(zip(paths, pinned, strict=True), 1):
                await self._hop(partial(copy, connection, folder / path.name))
                copied(done, len(paths))
        finally:
            for connection in pinned:
                connection.close()

    @asynccontextmanager
    async def scan(self, place: Place) -> AsyncIterator[FileScan]:
        """The shard as it is now, for as long as the block takes."""
        path = self._path(place)
        pinned = await self._patiently(
            path, lambda: self._hop(lambda: pin(self._connections, path))
        )
        try:
            yield FileScan(place.server, path, pinned)
        finally:
            await self._hop(pinned.close)

    async def fences(self, databases: Collection[str]) -> dict[str, dict[str, int | None]]:
        """The fences of the databases that exist, by server."""

        def look() -> dict[str, dict[str, int | None]]:
            return {
                server: schema.fences(directory, databases)
                for server, directory in self._directories.items()
            }

        return await self._hop(look)

    async def close(self) -> None:
        if self._ending:
            await asyncio.wait(self._ending)
        self._connections.close()
        for threads in (self._readers, self._writers):
            await asyncio.get_running_loop().run_in_executor(None, threads.shutdown)

    def _path(self, place: Place) -> Path:
        path = self._paths.get(place)
        if path is None:
            path = self._paths[place] = schema.file_of(self._directory(place.server), place)
        return path

    def _directory(self, server: str) -> Path:
        if server not in self._directories:
            raise StaleTopology(f"{server}: this server left the topology")
        return self._directories[server]

    def _read_quickly(self, operation: str, parts: Sequence[Part]) -> list[list[Row]] | None:
        place = parts[0].place
        if len(parts) > QUICK_PARTS or any(part.place != place for part in parts):
            return None
        rows = read_quickly(self._connections, self._path(place), parts)
        if rows is not None:
            self._observe(place.server, operation)
        return rows

    async def _read_server(
        self, server: str, operation: str, parts: Sequence[Part]
    ) -> list[list[Row]]:
        directory = self._directory(server)
        self._observe(server, operation)
        try:
            async with asyncio.timeout(self._deadline):
                return await self._patiently(
                    directory, lambda: self._hop(lambda: self._read_parts(parts))
                )
        except TimeoutError:
            raise StoreTimeout(f"{directory}: no answer in {self._deadline} s") from None

    def _read_parts(self, parts: Sequence[Part]) -> list[list[Row]]:
        answers: list[list[Row]] = [[] for _ in parts]
        of_path: dict[Path, list[int]] = {}
        for number, part in enumerate(parts):
            of_path.setdefault(self._path(part.place), []).append(number)
        for path, numbers in of_path.items():
            read = read_file(self._connections, path, [parts[number] for number in numbers])
            for number, rows in zip(numbers, read, strict=True):
                answers[number] = rows
        return answers

    async def _hop(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    async def _patiently(self, path: Path, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Retry while a file is locked. Another process locks it briefly for its recovery, and when
        its last connection ends."""
        clock = asyncio.get_running_loop().time
        give_up = clock() + self._deadline
        while True:
            try:
                return await call()
            except sqlite3.Error as error:
                fault = translate(error, path)
                if not isinstance(fault, Busy) or clock() > give_up:
                    raise fault from error
            except Busy:
                if clock() > give_up:
                    raise
            await asyncio.sleep(_PAUSE)

    async def _end(self, session: SqliteSession, turn: asyncio.Lock) -> None:
        async def end() -> None:
            try:
                await session.end()
            finally:
                turn.release()

        if session.idle():
            await end()
            return
        # Even if the caller is cancelled again, the rollback comes before the next writer.
        task = asyncio.ensure_future(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        await asyncio.shield(task)


def directories(topology: Topology) -> dict[str, Path]:
    """The directory of each server whose URL is `sqlite:///directory`."""
    return {
        name: Path(unquote(urlsplit(url).path))
        for name, url in topology.servers.items()
        if url.startswith("sqlite:")
    }
