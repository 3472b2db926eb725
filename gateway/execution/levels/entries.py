"""The entries of a request's queue: new rows of tables, and long columns of values."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context
from typing import Any

from gateway.execution.levels.request import Request
from gateway.execution.levels.tables import ABSTRACT, Column, Rows, Table
from gateway.execution.model.selection import Selection


class NewRows:
    """Rows of a table whose fields are to be resolved. `context` is the resolver's context; None
    means the request's own."""

    __slots__ = ("context", "first", "objs", "table")

    def __init__(self, table: Table, first: int, objs: list[Any], context: Context | None) -> None:
        self.table, self.first, self.objs, self.context = table, first, objs, context


class NewValues:
    """Many values of a column that are to be completed."""

    __slots__ = ("column", "context", "rows", "values")

    def __init__(
        self, column: Column, rows: Rows, values: Sequence[Any], context: Context | None
    ) -> None:
        self.column, self.rows, self.values, self.context = column, rows, values, context


def add_objects(
    run: Request, column: Column, selection: Selection, rows: Rows, objs: Sequence[Any]
) -> None:
    """Add objects to the table of their type below a column, and queue them."""
    table = column.table_of(selection)
    if table is None:
        table = column.add_table(Table(selection.shape.slots, column, selection))
    count = len(objs)
    first = table.add(count, rows)
    if column.kind == ABSTRACT:
        column.put(rows, [(table, row) for row in range(first, first + count)])
    else:
        column.put(rows, range(first, first + count))
    entry = table.entry
    if entry is not None and entry.context is run.resolver_context:
        entry.objs += objs
        return
    entry = NewRows(table, first, [*objs], run.resolver_context)
    table.entry = entry
    queue: Any = run.queue
    queue.append(entry)


def queue_values(run: Request, column: Column, rows: Rows, values: Sequence[Any]) -> None:
    """Queue values that are too many to be completed at once."""
    entry: Any = NewValues(column, rows, values, run.resolver_context)
    run.queue.append(entry)
