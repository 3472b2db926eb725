"""A shard's file, read as of one moment: a read transaction keeps its content while it is
written."""

import asyncio
import sqlite3
from pathlib import Path

from datasources.scans import FILE, Moment, now
from datasources.sql.dialect import SQLITE
from datasources.sql.engine import Row
from datasources.sql.pages import page
from datasources.sql.schema import Table
from datasources.sqlite.errors import translate


class FileScan:
    """See `datasources.scans.Scan`. `pinned` is a connection in a read transaction."""

    def __init__(self, server: str, path: Path, pinned: sqlite3.Connection) -> None:
        self.moment = Moment(now(), server, FILE)
        self._path, self._pinned = path, pinned

    async def page(self, shard: int, table: Table, after: Row, limit: int) -> list[Row]:
        return await page(self._select, SQLITE, table, after, limit)

    async def _select(self, sql: str, args: tuple[object, ...]) -> list[Row]:
        text = f"SELECT {sql}".replace("{db}", "main")

        def read() -> list[Row]:
            return self._pinned.execute(text, args).fetchall()

        try:
            return await asyncio.to_thread(read)
        except sqlite3.Error as error:
            raise translate(error, self._path) from error
