"""A WideColumnStore in one RocksDB directory, with a column family for each table.

Reads run on the event loop: a page of 50 cells takes 35 µs there, and switching to a thread and
back alone takes 65 µs. A long read (many cells, or many deleted cells) and all scans run in a
thread. Writes always run in one thread: RocksDB may delay a writer (slow compaction, a slow disk),
and in one thread, the check of a cell and its replacement are one step.
"""

import asyncio
import functools
import itertools
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rocksdict import Checkpoint, ColumnFamily, Rdict, ReadOptions, WriteBatch, WriteOptions

from datasources.errors import StoreUnavailable
from datasources.protocols import Cell, Table
from datasources.rocksdb import layout
from datasources.rocksdb.directory import faults, open_directory

T = TypeVar("T")

_INLINE_KEYS = 1_000  # keys that a read on the event loop visits, at most: 0.5 ms
_SCAN_KEYS = 4_000  # a scan's step ends with the row in which it passed this many keys
# fewer keys are deleted one by one, because each range slows later reads a little
_RANGE_DELETE = 100


class _Open(NamedTuple):
    cells: Rdict
    handle: ColumnFamily


class _TooLong(Exception):
    """A read on the event loop met too many keys."""


class RocksWideColumns:
    """A feed store in the directory `path`, which is created if missing. Only one process may have
    it open.

    Raises StoreUnavailable if the directory can't be used, and StoreCorrupt if it is damaged.

    Each write goes through RocksDB's log to the operating system before it is acknowledged, so it
    survives SIGKILL of this process. `sync=True` also waits for the disk, for hosts that lose
    power. It is off by default, because the standby side and the outbox can rebuild a feed's last
    seconds, and an fsync costs each write milliseconds on an ordinary disk.
    """

    def __init__(
        self, path: str | Path, *, sync: bool = False, cache_bytes: int = 64 << 20
    ) -> None:
        self._path = Path(path)
        self._db, self._names, self._options = open_directory(self._path, cache_bytes)
        self._tables: dict[str, _Open] = {}
        self._write_options = WriteOptions()
        self._write_options.sync = sync
        self._writer = ThreadPoolExecutor(1, f"rocksdb-write-{self._path.name}")
        self._readers = ThreadPoolExecutor(2, f"rocksdb-read-{self._path.name}")
        self._closed = False

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        prefix = layout.row_prefix(row)
        start = prefix if after is None else layout.successor(prefix + after)
        with faults(self._path):
            cells = self._table(table).cells
            try:
                return _page(cells, prefix, start, limit, _INLINE_KEYS)
            except _TooLong:
                return await self._in(self._readers, lambda: _page(cells, prefix, start, limit))

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        prefix = layout.row_prefix(row)
        names = list(columns)
        keys: list[Any] = [layout.cell_key(prefix, column) for column in names]
        if not names:
            return {}
        with faults(self._path):
            cells = self._table(table).cells

            def look() -> dict[bytes, Cell]:
                values = cells.get(keys)
                assert values is not None
                return {
                    column: _cell(column, value)
                    for column, value in zip(names, values, strict=True)
                    if value is not None and not layout.is_deleted(value)
                }

            return look() if len(names) <= _INLINE_KEYS else await self._in(self._readers, look)

    async def put(
        self, table: Table, rows: Mapping[bytes, Mapping[bytes, bytes]], stamp: int
    ) -> None:
        head = layout.head(stamp, deleted=False)
        found: dict[bytes, bytes] = {}
        # every delivery runs this loop: no function call for each cell
        for row, cells in rows.items():
            prefix = layout.row_prefix(row)
            for column, value in cells.items():
                found[prefix + column if column else layout.cell_key(prefix, column)] = head + value
        await self._write(table, found)

    async def delete(self, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int) -> None:
        head = layout.head(stamp, deleted=True)
        await self._write(
            table,
            {
                layout.cell_key(prefix, column): head
                for prefix, row in ((layout.row_prefix(row), names) for row, names in rows.items())
                for column in row
            },
        )

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        prefix = layout.row_prefix(row)
        with faults(self._path):
            opened = self._table(table)

            def cut() -> None:
                kept = _page(opened.cells, prefix, prefix, keep)
                start = layout.successor(prefix + kept[-1].column) if kept else prefix
                batch = _removal(opened, prefix, start)
                self._db.write(batch, self._write_options)

            await self._in(self._writer, cut)

    async def scan(
        self, table: Table, *, start: bytes = b""
    ) -> AsyncIterator[tuple[bytes, list[Cell]]]:
        key: bytes | None = layout.row_prefix(start) if start else b""
        while key is not None:
            with faults(self._path):
                cells, begin = self._table(table).cells, key
                rows, key = await self._in(self._readers, functools.partial(_rows, cells, begin))
            for found in rows:
                yield found

    async def create(self, tables: Sequence[Table]) -> None:
        def make() -> None:
            for table in tables:
                if table.name not in self._names:
                    self._db.create_column_family(table.name, self._options)
                    self._names.add(table.name)

        with faults(self._path):
            await self._in(self._writer, make)

    async def tables(self) -> set[str]:
        return set(self._names)

    async def snapshot(self, folder: Path) -> None:
        """See FeedSnapshots. Makes hard links if the file system allows it, between two writes."""
        with faults(self._path):
            self._check_open()
            await self._in(
                self._writer, lambda: Checkpoint(self._db).create_checkpoint(str(folder))
            )

    async def ping(self) -> None:
        with faults(self._path):
            self._check_open()
            self._db.get(b"")

    async def close(self) -> None:
        """Wait for running calls, then release the directory. May be called twice."""
        if self._closed:
            return
        self._closed = True
        for executor in (self._writer, self._readers):
            await asyncio.to_thread(executor.shutdown)
        self._tables.clear()  # the directory's lock is held as long as a handle lives
        with faults(self._path):
            self._db.close()

    async def _write(self, table: Table, cells: Mapping[bytes, bytes]) -> None:
        if not cells:
            return
        with faults(self._path):
            opened = self._table(table)

            def write() -> None:
                old = opened.cells.get(list(cells))
                assert old is not None
                batch = WriteBatch(raw_mode=True)
                for (key, value), before in zip(cells.items(), old, strict=True):
                    if before is None or before[: layout.HEAD] <= value[: layout.HEAD]:
                        batch.put(key, value, opened.handle)
                self._db.write(batch, self._write_options)

            await self._in(self._writer, write)

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(executor, work)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self._path} is closed")

    def _table(self, table: Table) -> _Open:
        self._check_open()
        opened = self._tables.get(table.name)
        if opened is None:
            if table.name not in self._names:
                raise StoreUnavailable(f"{self._path} has no table {table.name}: create it first")
            cells = self._db.get_column_family(table.name)
            opened = _Open(cells, self._db.get_column_family_handle(table.name))
            self._tables[table.name] = opened
        return opened


def _cell(column: bytes, value: bytes) -> Cell:
    return Cell(column, value[layout.HEAD :], layout.unpack_head(value)[0] >> 1)


def _walk(cells: Rdict, start: bytes, end: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values from `start` until before `end`, as of now.

    RocksDB reads `end` in Python's memory as long as the iterator lives, and rocksdict holds no
    reference to it; this frame does.
    """
    options = ReadOptions()
    if end is not None:
        options.set_iterate_upper_bound(end)
    iterator = cells.iter(options)
    iterator.seek(start)
    valid, key, value, step = iterator.valid, iterator.key, iterator.value, iterator.next
    while valid():
        yield key(), value()
        step()
    iterator.status()  # a damaged block also ends the iteration; this raises


def _page(
    cells: Rdict, prefix: bytes, start: bytes, limit: int, most: int = sys.maxsize
) -> list[Cell]:
    """Up to `limit` visible cells of a row. Raises _TooLong after `most` keys."""
    page: list[Cell] = []
    if limit <= 0:
        return page
    skip, unpack_head = len(prefix), layout.unpack_head
    for seen, (key, value) in enumerate(_walk(cells, start, layout.row_end(prefix))):
        if seen >= most:
            raise _TooLong
        (head,) = unpack_head(value)
        if not head & 1:
            page.append(Cell(key[skip:], value[layout.HEAD :], head >> 1))
            if len(page) == limit:
                break
    return page


def _rows(cells: Rdict, start: bytes) -> tuple[list[tuple[bytes, list[Cell]]], bytes | None]:
    """Whole rows from a key on, and the key from which to continue (None: no more rows)."""
    rows: list[tuple[bytes, list[Cell]]] = []
    row, prefix = b"", b""
    for seen, (key, value) in enumerate(_walk(cells, start, None)):
        if not prefix or not key.startswith(prefix):
            if seen >= _SCAN_KEYS:
                return rows, key
            row, _ = layout.split(key)
            prefix = layout.row_prefix(row)
        if not layout.is_deleted(value):
            if not rows or rows[-1][0] != row:
                rows.append((row, []))
            rows[-1][1].append(_cell(key[len(prefix) :], value))
    return rows, None


def _removal(opened: _Open, prefix: bytes, start: bytes) -> WriteBatch:
    """The batch that deletes a row's keys from `start` on; empty if no key is visible."""
    batch, end = WriteBatch(raw_mode=True), layout.row_end(prefix)
    found = list(itertools.islice(_walk(opened.cells, start, end), _RANGE_DELETE + 1))
    if len(found) > _RANGE_DELETE:
        batch.delete_range(start, end, opened.handle)
    elif not all(layout.is_deleted(value) for _, value in found):
        for key, _ in found:
            batch.delete(key, opened.handle)
    return batch
