"""Writes rows to an unsharded database, for the way back of a migration.

Each statement is a transaction of its own. A server in its strict mode refuses a value that it
would have to change.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from datasources.errors import ConfigError
from datasources.mysql.errors import answered, number, translate
from datasources.mysql.link import Link, Login, connect
from datasources.mysql.server import DRIVER_ERRORS
from datasources.mysql.source_sql import equal, name_of, quoted
from datasources.sql.engine import Result
from datasources.sql.source_tables import RowRefused, Table, Written, WrittenColumn

_DEADLINE = 60.0  # seconds for a statement
_DUPLICATE = {1022, 1062, 1169, 1586}
_REFUSED = {
    *(1048, 1264, 1265, 1292, 1364, 1366, 1406, 1411, 1690),  # a value that its column can't have
    *(1216, 1217, 1451, 1452),  # a foreign key
    *(167, 1467, 1644, 3819, 4025, 4038),  # no number left, a trigger, a CHECK
    *(1526, 1906, 3105),  # no partition, a generated column
}
_DENIED = {1142, 1143, 1290}  # a right on a table or a column, `read_only`


class SourceWriter:
    """The connection over which rows are written. It is opened at the first statement, and again
    after it broke."""

    def __init__(self, login: Login, database: str) -> None:
        self._login, self._database = login, database
        self._where = f"the source {login.host}:{login.port}"
        self._link: Link | None = None

    def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.close()

    async def let_write(self) -> None:
        """Let the server take everybody's writes."""
        await self._run("SET GLOBAL read_only = OFF", [])

    async def columns(self, table: Table) -> dict[str, WrittenColumn]:
        """The table's columns by name."""
        found = await self._run(
            "SELECT column_name, extra, COALESCE(datetime_precision, 0), "
            "COALESCE(character_octet_length, 0), transactions FROM information_schema.columns "
            "JOIN information_schema.tables USING (table_schema, table_name) "
            "JOIN information_schema.engines USING (engine) "
            "WHERE table_schema = %s AND table_name = %s",
            [self._database, table.name],
        )
        return {
            name.decode(): WrittenColumn(
                column=table.columns[name.decode()],
                counts=b"auto_increment" in extra.lower() and transactions == b"YES",
                fraction=int(fraction),
                length=int(length),
            )
            for name, extra, fraction, length, transactions in found.rows
        }

    async def insert(self, table: Table, values: Mapping[str, Written]) -> None:
        """Insert a row. Raises RowRefused."""
        await self._run(*self._insert(table, values))

    async def update(
        self, table: Table, key: Mapping[str, str], values: Mapping[str, Written]
    ) -> int:
        """Change the rows in which these columns have these values. Returns their number. Raises
        RowRefused."""
        condition, args = _equal(table, key)
        sets = ", ".join(f"{name_of(table.columns[name])} = %s" for name in values)
        sql = f"UPDATE {self._table(table)} SET {sets} WHERE {condition}"
        return (await self._run(sql, [*values.values(), *args])).matched

    async def delete(self, table: Table, key: Mapping[str, str]) -> int:
        """Delete the rows in which these columns have these values. Returns their number. Raises
        RowRefused."""
        condition, args = _equal(table, key)
        return (
            await self._run(f"DELETE FROM {self._table(table)} WHERE {condition}", args)
        ).matched

    async def reserved(self, table: Table, values: Mapping[str, Written]) -> str:
        """A number that the server gives to a row, and to no other row later. The row itself is
        rolled back. Raises RowRefused."""
        await self._run("BEGIN", [])
        try:
            found = await self._run(*self._insert(table, values))
        finally:
            await self._run("ROLLBACK", [])
        return str(found.last_id)

    async def highest(self, table: Table, column: str) -> str | None:
        """The highest value of a column, binary values as hexadecimal digits; None without rows."""
        text = f"MAX({quoted(column)})"
        if table.columns[column].is_binary:
            text = f"LOWER(HEX({text}))"
        sql = f"SELECT {text} FROM {quoted(self._database)}.{quoted(table.name)}"
        [[value]] = (await self._run(sql, [])).rows
        return value.decode() if isinstance(value, bytes) else None if value is None else str(value)

    def _insert(self, table: Table, values: Mapping[str, Written]) -> tuple[str, Sequence[Any]]:
        names = ", ".join(name_of(table.columns[name]) for name in values)
        places = ", ".join(["%s"] * len(values))
        return f"INSERT INTO {self._table(table)} ({names}) VALUES ({places})", [*values.values()]

    def _table(self, table: Table) -> str:
        return f"{quoted(self._database)}.{quoted(table.name)}".replace("%", "%%")

    async def _run(self, sql: str, args: Sequence[Any]) -> Result:
        """Run a statement. A link whose statement was interrupted is not used again."""
        link, self._link = self._link, None
        try:
            if link is None:
                link = await connect(self._login, autocommit=True, deadline=_DEADLINE)
            result = await link.run(sql, args)
        except DRIVER_ERRORS as error:
            if link is not None and answered(error):
                self._link = link
            elif link is not None:
                link.close()
            raise self._translated(error) from error
        except BaseException:
            if link is not None:
                link.close()
            raise
        self._link = link
        return result

    def _translated(self, error: BaseException) -> Exception:
        said = number(error)
        text = str(error.args[1]) if said and len(error.args) > 1 else str(error)
        if said in _DUPLICATE or said in _REFUSED:
            return RowRefused(text, duplicate=said in _DUPLICATE)
        if said in _DENIED:
            return ConfigError(
                f"{self._where}: {text}: the way back needs INSERT, UPDATE and DELETE on the "
                "mapping's tables, and READ ONLY ADMIN while the server is read-only"
            )
        return translate(error, self._where)


def _equal(table: Table, key: Mapping[str, str]) -> tuple[str, list[Written]]:
    """The condition that columns have values, which are texts as `Source.page` gives them."""
    parts = [equal(table.columns[name], text) for name, text in key.items()]
    return " AND ".join(condition for condition, _ in parts), [given for _, given in parts]
