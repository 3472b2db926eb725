"""The backends of the wide-column suite, and a model of the contract in a dozen lines of Python."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from hypothesis import strategies as st

from datasources.hbase import HBaseWideColumns
from datasources.hbase.thrift import Connection
from datasources.protocols import Cell, Table, WideColumnStore

# Names on which an escape, a separator or a filter's quotes could fail, and any other names.
PIECES = [
    b"\0",
    b"\0\x01",
    b"\0\x02",
    b"\xff",
    b"'",
    b"''",
    b"a",
    b":",
    b"f:",
    b"(",
    b",",
    b" AND ",
]
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map(b"".join)
NAMES |= st.binary(min_size=1, max_size=8)
FEW_ROWS = st.sampled_from([b"r", b"r\0", b"r\0\x01a"])
FEW_COLUMNS = st.sampled_from([b"a", b"a\0", b"b'", b"\0", b"\xff"])
STAMPS = st.integers(1, 4)
OPERATIONS = st.one_of(
    st.tuples(
        st.just("put"),
        st.dictionaries(
            FEW_ROWS, st.dictionaries(FEW_COLUMNS, st.binary(max_size=5), max_size=5), max_size=3
        ),
        STAMPS,
    ),
    st.tuples(
        st.just("delete"),
        st.dictionaries(FEW_ROWS, st.lists(FEW_COLUMNS, max_size=4), max_size=3),
        STAMPS,
    ),
    st.tuples(st.just("trim"), FEW_ROWS, st.integers(0, 4)),
    st.tuples(st.just("read"), FEW_ROWS, st.none() | FEW_COLUMNS, st.integers(0, 5)),
    st.tuples(st.just("get"), FEW_ROWS, st.lists(FEW_COLUMNS, max_size=4)),
)


@dataclass(frozen=True)
class Kit:
    """A store, a table in it that other tests may use too, and rows that no other test uses."""

    store: WideColumnStore
    table: Table
    prefix: bytes = field(default_factory=lambda: uuid.uuid4().bytes + b"/")

    def row(self, name: bytes = b"row") -> bytes:
        return self.prefix + name

    def fresh(self) -> "Kit":
        """The same store with other rows."""
        return Kit(self.store, self.table)

    async def scan(self, start: bytes = b"") -> AsyncIterator[tuple[bytes, list[Cell]]]:
        """The rows of this kit, starting at a row, by their names."""
        async for row, cells in self.store.scan(self.table, start=self.row(start)):
            if not row.startswith(self.prefix):
                return
            yield row[len(self.prefix) :], cells

    async def columns(self, name: bytes = b"row", limit: int = 10_000) -> list[bytes]:
        cells = await self.store.read(self.table, self.row(name), limit=limit)
        return [cell.column for cell in cells]


@dataclass
class Model:
    """A model of a store's visible state: for each column the winning write, put or delete."""

    rows: dict[bytes, dict[bytes, tuple[int, bool, bytes]]] = field(default_factory=dict)

    def write(self, row: bytes, column: bytes, stamp: int, value: bytes | None) -> None:
        """Write a value; None deletes. The write with the higher stamp wins; with equal stamps a
        delete wins, then the later call."""
        cells = self.rows.setdefault(row, {})
        new = (stamp, value is None, value or b"")
        if column not in cells or cells[column][:2] <= new[:2]:
            cells[column] = new

    def trim(self, row: bytes, keep: int) -> None:
        kept = [cell.column for cell in self.visible(row)[:keep]]
        self.rows[row] = {column: self.rows[row][column] for column in kept}

    def visible(self, row: bytes, after: bytes = b"") -> list[Cell]:
        return [
            Cell(column, value, stamp)
            for column, (stamp, deleted, value) in sorted(self.rows.get(row, {}).items())
            if not deleted and column > after
        ]


def host_and_port(url: str) -> tuple[str, int]:
    """The host and the port of `hbase://host:port`."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def hbase(
    url: str, pool_size: int = 8, *, deadline: float = 60.0, prefix: str = ""
) -> HBaseWideColumns:
    return HBaseWideColumns(*host_and_port(url), pool_size, deadline=deadline, prefix=prefix)


async def drop_tables(url: str, tables: Sequence[Table]) -> None:
    """Drop tables of an HBase cluster that other tests use too."""
    connection = await Connection.open(*host_and_port(url))
    for table in tables:
        name = table.name.encode()
        await connection.call("disableTable", tableName=name)
        await connection.call("deleteTable", tableName=name)
    connection.abort()


class Relay:
    """A TCP relay in front of a server, which can produce network faults."""

    def __init__(self, url: str) -> None:
        self._target = host_and_port(url)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.port = 0
        self.opened = 0
        self.piece = 1 << 16  # bytes passed on at a time

    async def start(self) -> None:
        """Listen. After `stop`, it listens on the same port again."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Refuse new connections and break the old ones."""
        assert self._server is not None
        self._server.close()
        self._flowing.set()
        for writer in list(self._writers):
            writer.transport.abort()

    def stall(self) -> None:
        """Keep connections open, and forward nothing."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    async def until_open(self, most: int) -> None:
        """Wait, without a deadline, until at most this many connections are open."""
        while len(self._writers) > 2 * most:  # noqa: ASYNC110 the network takes a moment
            await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        other_reader, other_writer = await asyncio.open_connection(*self._target)
        self._writers |= {writer, other_writer}
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pass_on(reader, other_writer))
            group.create_task(self._pass_on(other_reader, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(self.piece):
                await self._flowing.wait()
                if writer.is_closing():  # uvloop's transports refuse to write then
                    break
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
