"""A WideColumnStore in an HBase cluster. A table has one column family, "f", with one version.

One version is enough: a delete always covers all lower stamps, so only the put with the highest
stamp can ever be visible.
"""

import asyncio
import functools
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from datasources.errors import StoreUnavailable
from datasources.hbase import filters
from datasources.hbase.pool import Pool
from datasources.hbase.thrift import Connection, Request, idl
from datasources.places import PoolState
from datasources.protocols import Cell, Table
from datasources.together import together

_FAMILY = b"f:"
_PAGE = 1_000  # cells in one answer
_BATCH = 1_000  # cells in one write
_TOGETHER = 100  # writes that are sent together, if each has its own stamp
_SCAN_ROWS = 50  # rows in one answer of a scan, each with up to _PAGE cells
_CREATE_DEADLINE = 60.0  # seconds; HBase needs about one second to create a table
_CREATE_POLL = 0.05


class HBaseWideColumns:
    """A feed store in the HBase cluster behind a Thrift 1 server. Connects on first use.

    `deadline` (seconds) bounds each read, each write of up to 1,000 cells and each step of a scan.
    If the server is down, calls raise StoreUnavailable at once, or after a quarter of the deadline;
    when it is back, the next call succeeds. `prefix` is the first part of its tables' names.
    """

    def __init__(
        self,
        host: str,
        port: int,
        pool_size: int = 8,
        *,
        deadline: float = 2.0,
        prefix: str = "",
    ) -> None:
        self._pool = Pool(host, port, pool_size, deadline)
        self._prefix = prefix

    async def read(
        self, table: Table, row: bytes, *, after: bytes | None = None, limit: int
    ) -> list[Cell]:
        page: list[Cell] = []
        while len(page) < limit:
            wanted = min(limit - len(page), _PAGE)
            cells = await self._page(table, row, wanted, after and filters.after(after))
            page += cells
            if len(cells) < wanted:
                break
            after = cells[-1].column
        return page

    async def get(self, table: Table, row: bytes, columns: Sequence[bytes]) -> dict[bytes, Cell]:
        _check_row(row)
        names = [_qualified(column) for column in columns]
        found: dict[bytes, Cell] = {}
        for start in range(0, len(names), _PAGE):
            part = names[start : start + _PAGE]
            request = Request(
                "getRowWithColumns",
                tableName=self._named(table),
                row=row,
                columns=part,
                attributes={},
            )
            (results,) = await self._pool.run(functools.partial(_send, requests=[request]))
            for result in results:
                found.update((cell.column, cell) for cell in _cells(result))
        return found

    async def put(
        self, table: Table, rows: Mapping[bytes, Mapping[bytes, bytes]], stamp: int
    ) -> None:
        await self._mutate(
            table,
            {
                row: [
                    idl.Mutation(isDelete=False, column=_qualified(column), value=value)
                    for column, value in cells.items()
                ]
                for row, cells in rows.items()
            },
            stamp,
        )

    async def delete(self, table: Table, rows: Mapping[bytes, Sequence[bytes]], stamp: int) -> None:
        await self._mutate(
            table,
            {
                row: [
                    idl.Mutation(isDelete=True, column=_qualified(c)) for c in dict.fromkeys(names)
                ]
                for row, names in rows.items()
            },
            stamp,
        )

    async def trim(self, table: Table, row: bytes, keep: int) -> None:
        """Deletes each cell at its own stamp, so a column returns only with a higher stamp."""
        while True:
            extra = await self._page(table, row, _PAGE, filters.skip(keep, _PAGE))
            stamps: defaultdict[int, list[Any]] = defaultdict(list)
            for cell in extra:
                mutation = idl.Mutation(isDelete=True, column=_qualified(cell.column))
                stamps[cell.stamp].append(mutation)
            writes = [
                _write(self._named(table), [idl.BatchMutation(row=row, mutations=mutations)], stamp)
                for stamp, mutations in stamps.items()
            ]
            for start in range(0, len(writes), _TOGETHER):
                part = writes[start : start + _TOGETHER]
                await self._pool.run(functools.partial(_send, requests=part))
            if len(extra) < _PAGE:
                return

    async def scan(
        self, table: Table, *, start: bytes = b""
    ) -> AsyncIterator[tuple[bytes, list[Cell]]]:
        while True:
            results = await self._fetch(table, {"startRow": start}, _SCAN_ROWS, _PAGE)
            rows: dict[bytes, list[Cell]] = {}
            for result in results:
                rows.setdefault(result.row, []).extend(_cells(result))
            last = results[-1].row if results else b""
            for row, cells in rows.items():
                if row == last and len(results) == _SCAN_ROWS:  # the row may have more cells
                    cells += await self._rest(table, row, cells[-1].column)
                yield row, cells
            if len(results) < _SCAN_ROWS:
                return
            start = last + b"\x00"

    async def create(self, tables: Sequence[Table]) -> None:
        names = list(dict.fromkeys(self._named(table) for table in tables))
        there = set(await self._pool.run(lambda c: c.call("getTableNames"), _CREATE_DEADLINE))
        # Creating a table is mostly waiting.
        await together(self._create(name) for name in names if name not in there)
        try:
            async with asyncio.timeout(_CREATE_DEADLINE):
                for name in names:
                    while not await self._enabled(name):  # noqa: ASYNC110 another is making it
                        await asyncio.sleep(_CREATE_POLL)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self._pool.name}: the tables don't become ready") from error

    async def tables(self) -> set[str]:
        names = await self._pool.run(lambda c: c.call("getTableNames"))
        own = self._prefix.encode()
        return {name.removeprefix(own).decode() for name in names if name.startswith(own)}

    async def ping(self) -> None:
        """Read a missing row from a region server, through the Thrift server."""
        await self._pool.run(
            lambda c: c.call(
                "getRowWithColumns",
                tableName=b"hbase:meta",
                row=b"ping",
                columns=[b"info:ping"],
                attributes={},
            )
        )

    def pools(self) -> list[PoolState]:
        """The state of the pool of connections."""
        return [self._pool.state()]

    async def close(self) -> None:
        self._pool.close()

    def _named(self, table: Table) -> bytes:
        return (self._prefix + table.name).encode()

    async def _page(
        self, table: Table, row: bytes, limit: int, filter_string: bytes | None
    ) -> list[Cell]:
        """The first cells of a row that a filter passes."""
        _check_row(row)
        where: dict[str, Any] = {"startRow": row, "stopRow": row + b"\x00"}
        if filter_string is not None:
            where["filterString"] = filter_string
        return [
            cell for result in await self._fetch(table, where, 1, limit) for cell in _cells(result)
        ]

    async def _fetch(
        self, table: Table, where: Mapping[str, Any], results: int, cells: int
    ) -> list[Any]:
        """The first results of a scan, each with up to `cells` cells of one row.

        It takes two round trips, because the scanner's number must be known before the scanner can
        be asked. The last question and the close are sent together.
        """
        name = self._named(table)

        async def ask(connection: Connection) -> list[Any]:
            scan = idl.TScan(caching=results, batchSize=cells, **where)
            number = await connection.call(
                "scannerOpenWithScan", tableName=name, scan=scan, attributes={}
            )
            found, _ = await connection.send(
                Request("scannerGetList", id=number, nbRows=results),
                Request("scannerClose", id=number),
            )
            return list(found)

        return await self._pool.run(ask)

    async def _rest(self, table: Table, row: bytes, after: bytes) -> list[Cell]:
        cells: list[Cell] = []
        while page := await self.read(table, row, after=after, limit=_PAGE):
            cells += page
            after = page[-1].column
        return cells

    async def _mutate(self, table: Table, rows: Mapping[bytes, list[Any]], stamp: int) -> None:
        if not 0 < stamp < 2**63:
            raise ValueError(f"a stamp must be positive and below 2**63, not {stamp}")
        for batch in _batches(rows):
            write = _write(self._named(table), batch, stamp)
            await self._pool.run(functools.partial(_send, requests=[write]))

    async def _create(self, name: bytes) -> None:
        family = idl.ColumnDescriptor(
            name=_FAMILY,
            maxVersions=1,
            bloomFilterType="ROW",
            blockCacheEnabled=True,  # Thrift 1 would turn it off
            # the cache's default order (entries used twice or more first) suits feeds
            inMemory=False,
            timeToLive=2**31 - 1,
        )
        try:
            await self._pool.run(
                lambda c: c.call("createTable", tableName=name, columnFamilies=[family]),
                _CREATE_DEADLINE,
            )
        except StoreUnavailable as error:
            cause = error.__cause__
            if not isinstance(cause, idl.AlreadyExists) and "TableExists" not in str(error):
                raise

    async def _enabled(self, name: bytes) -> bool:
        enabled = await self._pool.run(
            lambda c: c.call("isTableEnabled", tableName=name), _CREATE_DEADLINE
        )
        return bool(enabled)


async def _send(connection: Connection, requests: Sequence[Request]) -> list[Any]:
    return await connection.send(*requests)


def _write(table_name: bytes, batch: list[Any], stamp: int) -> Request:
    return Request(
        "mutateRowsTs",
        tableName=table_name,
        rowBatches=batch,
        timestamp=stamp,
        attributes={},
    )


def _check_row(row: bytes) -> None:
    if not row:
        raise ValueError("a row's key must not be empty")


def _qualified(column: bytes) -> bytes:
    if not column:
        raise ValueError("a column's name must not be empty")
    return _FAMILY + column


def _cells(result: Any) -> list[Cell]:
    """The cells of a TRowResult, in the order of their columns."""
    skip = len(_FAMILY)
    return [
        Cell(column[skip:], cell.value, cell.timestamp)
        for column, cell in sorted(result.columns.items())
    ]


def _batches(rows: Mapping[bytes, list[Any]]) -> Iterator[list[Any]]:
    """Whole rows, in batches of about _BATCH cells."""
    batch: list[Any] = []
    size = 0
    for row, mutations in rows.items():
        _check_row(row)
        if not mutations:
            continue
        if batch and size + len(mutations) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(idl.BatchMutation(row=row, mutations=mutations))
        size += len(mutations)
    if batch:
        yield batch
