"""Takes the values that resolvers gave: queues objects and long columns, starts awaitables, and
completes the other values.

Tasks (`tasks.pending_column`) continue the awaitables, one task for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context
from types import CoroutineType
from typing import Any

from graphql.pyutils import is_awaitable

from gateway.execution.levels.tables import (
    ABSTRACT,
    Column,
    Columns,
    Positions,
    Rows,
    Table,
    new_table,
    ranks,
)
from gateway.execution.model.state import State, Then
from gateway.execution.model.value_classes import PLAIN, classes_of, none_awaited
from gateway.execution.tasks.pending_column import PendingColumn


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
    run: State, column: Column, shape: Columns, rows: Rows, objs: Sequence[Any]
) -> None:
    """Add objects to the table of their type below a column, and queue them."""
    count, first = len(objs), 0
    table = column.table_of(shape)
    if table is None:
        table = column.add_table(new_table(shape, column, count, rows))
    else:
        first = table.add(count, rows)
    if column.kind == ABSTRACT:
        column.put(rows, [(table, row) for row in range(first, first + count)])
    else:
        column.put_numbers(rows, first)
    if table.later is not None:
        table.later.objs += objs
        if run.deferral is not None:
            run.deferral.added(table, first, count)
    entry = table.entry
    if entry is not None and entry.context is run.resolver_context:
        entry.objs += objs
        return
    entry = NewRows(table, first, [*objs], run.resolver_context)
    table.entry = entry
    queue: Any = run.queue
    queue.append(entry)


def queue_values(run: State, column: Column, rows: Rows, values: Sequence[Any]) -> None:
    """Queue values that are too many to be completed at once."""
    entry: Any = NewValues(column, rows, values, run.resolver_context)
    run.queue.append(entry)


def complete_values(
    run: State,
    column: Column,
    rows: Rows,
    values: Sequence[Any],
    classes: set[type] | None = None,
) -> None:
    """Complete values at these rows of the column. An awaitable is completed when it ends."""
    if len(values) > run.slice:
        queue_values(run, column, rows, values)
        return
    slot: Any = column.slot
    if classes is None:
        classes = classes_of(values)
    if classes <= PLAIN or (CoroutineType not in classes and none_awaited(classes)):
        slot.complete(run, column, rows, values, classes)
        return
    ready, numbers = _start(
        run, values, Positions(column, rows), _completing(column, rows), classes
    )
    if ready:
        some = rows if numbers is None else [rows[n] for n in numbers]
        slot.complete(run, column, some, ready)


def when_ready(run: State, values: Sequence[Any], positions: Positions, then: Then) -> None:
    """Call `then` with the values that are not awaitable, and again whenever awaited values have
    arrived."""
    ready, numbers = _start(run, values, positions, then, set(map(type, values)))
    if ready:
        then(run, ready, numbers)


def _completing(column: Column, rows: Rows) -> Then:
    """Returns a function that completes some of the values at these rows."""

    def then(run: State, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
        some = rows if numbers is None else [rows[n] for n in numbers]
        column.slot.complete(run, column, some, values)  # type: ignore[attr-defined]

    return then


def _start(
    run: State, values: Sequence[Any], positions: Positions, then: Then, classes: set[type]
) -> tuple[Sequence[Any], Sequence[int] | None]:
    """Start the awaitables. Returns the values that are not awaited, and the index of each (None:
    all values)."""
    if len(values) > 1 and classes == {CoroutineType}:
        run.serial_chain = False
        waiting = PendingColumn(run, positions, then, len(values))
        waiting.start_all(values)
        run.restore_task()
        return waiting.take_ready()
    some_wait: PendingColumn | None = None
    for i, value in enumerate(values):
        if type(value) is CoroutineType or is_awaitable(value):
            if some_wait is None:
                some_wait = PendingColumn(run, positions, then, len(values))
                some_wait.indexes.extend(range(i))
                some_wait.values.extend(values[:i])
            if run.serial_chain:
                extend_chain(run, positions.column, positions.rows[i], 1)
            some_wait.start(i, value)
        elif some_wait is not None:
            some_wait.indexes.append(i)
            some_wait.values.append(value)
    if some_wait is None:
        return values, None
    run.restore_task()
    return some_wait.take_ready()


def extend_chain(run: State, column: Column, row: int, count: int) -> None:
    """Note that `count` more values are awaited, the first of them at this position.

    graphql-core awaits a value in the request's own task as long as each awaited value of a
    mutation's root field is the only one and inside the object of the one before. The next root
    field then sees the context variables that these resolvers set (`State.serial_chain`).
    """
    path, above = ranks(column, row), run.latest
    run.serial_chain = count == 1 and path[: len(above)] == above
    run.latest = path
