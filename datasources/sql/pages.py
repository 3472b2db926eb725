"""Pages of a whole table in the order of its primary key."""

from collections.abc import Awaitable, Callable, Sequence

from datasources.sql.dialect import Dialect, marks
from datasources.sql.engine import Row
from datasources.sql.schema import Table

Select = Callable[[str, tuple[object, ...]], Awaitable[list[Row]]]
"""Runs a SELECT, whose text begins after that word. It is written like the `rest` of a Part."""


async def page(select: Select, dialect: Dialect, table: Table, after: Row, limit: int) -> list[Row]:
    """The next rows after a primary key; from the first row, if the key is empty.

    A comparison of whole keys, `(a, b) > (?, ?)`, would read the table from its start: neither
    database uses the index for it in every version. So the rows with equal first columns are read
    first, and then the rows with greater first columns. Each statement reads one range of the
    primary key.
    """
    columns, key = ", ".join(column.name for column in table.columns), table.primary
    source = f"{columns} FROM {{db}}.{table.name}{dialect.by()}"
    if not after:
        return await select(f"{source} ORDER BY {', '.join(key)} LIMIT ?", (limit,))
    rows: list[Row] = []
    for depth in range(len(key), 0, -1):
        equal = "".join(f"{column} = ? AND " for column in key[: depth - 1])
        rest = f" WHERE {equal}{key[depth - 1]} > ? ORDER BY {', '.join(key[depth - 1 :])} LIMIT ?"
        rows += await select(source + rest, (*after[:depth], limit - len(rows)))
        if len(rows) == limit:
            break
    return rows


async def rows_of(select: Select, dialect: Dialect, table: Table, keys: Sequence[Row]) -> list[Row]:
    """The rows with these primary keys, of one or two columns. A key without a row is left out.

    MariaDB uses no index for `(a, b) IN (...)`, so the condition names each first column once.
    """
    columns, key = ", ".join(column.name for column in table.columns), table.primary
    by_first: dict[tuple[object, ...], list[object]] = {}
    for *first, last in keys:
        by_first.setdefault(tuple(first), []).append(last)
    conditions, args = list[str](), list[object]()
    for equal, last_values in by_first.items():
        before = "".join(f"{column} = ? AND " for column in key[:-1])
        conditions.append(f"({before}{key[-1]} IN ({marks(len(last_values))}))")
        args += [*equal, *last_values]
    source = f"{columns} FROM {{db}}.{table.name}{dialect.by()}"
    return await select(f"{source} WHERE {' OR '.join(conditions)}", tuple(args))


def key_of(table: Table, row: Row) -> Row:
    """The primary key of a row with all columns."""
    names = [column.name for column in table.columns]
    return tuple(row[names.index(column)] for column in table.primary)
