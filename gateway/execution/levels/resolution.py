"""Resolves the fields of a table's new rows (section "Executing Selection Sets" of the
specification).

Each field is resolved for all rows before the next one, so that a bulk resolver is called once for
a level. Thousands of rows are resolved in slices, with rests of the event loop in between; bulk
resolvers are called for several slices at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CoroutineType
from typing import Any

from graphql.pyutils import is_awaitable

from gateway.execution.collector import set_aside
from gateway.execution.levels import slices
from gateway.execution.levels.awaits import NewRows, NewValues, complete_values, extend_chain
from gateway.execution.levels.loads import BulkCall, PendingLoad, values_for_each
from gateway.execution.levels.shapes import Fetch, Shape
from gateway.execution.levels.sources import read
from gateway.execution.levels.tables import Column, Positions, Table, rows_from
from gateway.execution.model.state import State
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.frames import without_frame
from loaders.batches import Load


def resolve(run: State, table: Table, first: int, objs: Sequence[Any]) -> None:
    """Resolve and complete all fields of rows, from `first` on."""
    shape: Shape = table.shape
    if shape.failure is not None:
        _fail_all(run, table, first, len(objs))
        return
    leaves = _read_leaves(run, table, shape, first, objs) if shape.getters else ()
    if shape.fetches:
        rows = rows_from(first, len(objs))
        for fetch in shape.fetches:
            _fetch(run, table, fetch, rows, objs, leaves)


async def resolve_in_slices(run: Any, entry: NewRows) -> None:
    """Resolve and complete all fields of many rows."""
    table, first, objs = entry.table, entry.first, entry.objs
    run.begin_slices()
    run.garbage.append(objs)
    set_aside()
    size = slices.SLICE
    parts = [range(start, min(start + size, len(objs))) for start in range(0, len(objs), size)]
    shape: Shape = table.shape
    if shape.failure is not None:
        for part in parts:
            _fail_all(run, table, first + part.start, len(part))
            await run.rest()
        return
    read: list[Sequence[Any]] = []
    # No function of its own refers to `run`: with its closure, it would be a cycle of references.
    if shape.getters:
        for part in parts:
            own, some = _part(first, objs, part)
            run.run_in_context(entry.context, _add_leaves, read, run, table, shape, own.start, some)
            await run.rest()
    for fetch in shape.fetches:
        if fetch.bulk:
            at_once = size * slices.AT_ONCE
            for start in range(0, len(objs), at_once):
                own, some = _part(first, objs, range(start, min(start + at_once, len(objs))))
                run.run_in_context(entry.context, _fetch_part, run, table, fetch, own, some, ())
                await run.rest()
    for number, part in enumerate(parts):
        own, some = _part(first, objs, part)
        for fetch in shape.fetches:
            if not fetch.bulk:
                leaves = read[number] if read else ()
                run.run_in_context(entry.context, _fetch_part, run, table, fetch, own, some, leaves)
        run.count(len(part))
        await run.rest()


def _part(first: int, objs: Sequence[Any], part: range) -> tuple[range, Sequence[Any]]:
    """The rows and the objects of a part of many rows."""
    return range(first + part.start, first + part.stop), objs[part.start : part.stop]


def _add_leaves(
    read: list[Sequence[Any]],
    run: State,
    table: Table,
    shape: Shape,
    first: int,
    objs: Sequence[Any],
) -> None:
    read.append(_read_leaves(run, table, shape, first, objs))


def _fetch_part(
    run: State, table: Table, fetch: Fetch, rows: range, objs: Sequence[Any], leaves: Sequence[Any]
) -> None:
    """`_fetch`, as a function of Python."""
    _fetch(run, table, fetch, rows, objs, leaves)


async def complete_in_slices(run: Any, entry: NewValues) -> None:
    """Complete many values of a column."""
    run.begin_slices()
    set_aside()
    column, rows, values = entry.column, entry.rows, entry.values
    size, done = slices.SLICE, 0
    try:
        for start in range(0, len(values), size):
            part, done = values[start : start + size], start + size
            some = rows[start : start + size]
            run.run_in_context(entry.context, complete_values, run, column, some, part)
            run.count(len(part))
            await run.rest()
    finally:
        if done < len(values):
            drop(list(values[done:]))


def _fail_all(run: State, table: Table, first: int, count: int) -> None:
    """Record the failure of the selection for all rows. It is never the root's selection."""
    assert table.above is not None
    for row in range(first, first + count):
        run.failures.add(table.above, table.parent(row), table.shape.failure)


def _read_leaves(
    run: State, table: Table, shape: Shape, first: int, objs: Sequence[Any]
) -> Sequence[Any]:
    """Read the leaves that are attributes, object by object, and complete them. Values that may be
    callable are returned instead: a column for each leaf."""
    reader = shape.reader
    if reader is not None:
        unusual = reader.read(objs, table, first)
        if unusual is not None:
            _complete_unusual(run, table, unusual)
        return ()
    values = read(shape.getters, objs)
    if not shape.leaves:
        return values
    rows = range(first, first + len(objs))
    for number, column in zip(shape.leaves, values, strict=True):
        complete_values(run, table.columns[number], rows, column)
    return ()


def _complete_unusual(run: State, table: Table, unusual: list[tuple[int, int, Any]]) -> None:
    """Complete single values, each with the number of its column and its row."""
    by_column: dict[int, tuple[list[int], list[Any]]] = {}
    for number, row, value in unusual:
        rows, values = by_column.setdefault(number, ([], []))
        rows.append(row)
        values.append(value)
    for number, (rows, values) in by_column.items():
        complete_values(run, table.columns[number], rows, values)


def _fetch(
    run: State,
    table: Table,
    fetch: Fetch,
    rows: range,
    objs: Sequence[Any],
    leaves: Sequence[Any],
) -> None:
    """Resolve and complete one field."""
    column = table.columns[fetch.number]
    if fetch.bulk:
        _call_bulk(run, column, fetch, rows, objs)
        return
    source: Any = fetch.source
    places = Positions(column, rows)
    if fetch.read is not None:
        values = source.called(run, fetch.field, leaves[fetch.read], places)
    else:
        values = source.start(run, fetch.field, objs, places)
    complete_values(run, column, rows, values)


def _call_bulk(run: State, column: Column, fetch: Fetch, rows: range, objs: Sequence[Any]) -> None:
    """Call a bulk resolver once for all rows, and complete its values now or when they arrive."""
    source: Any = fetch.source
    count = len(objs)
    if run.serial_chain:
        extend_chain(run, column, rows.start, count)
    try:
        if source.arguments is None:
            values = source.function(run.context, objs)
        else:
            values = source.function(run.context, objs, **source.arguments.of(run))
    except Exception as error:
        values = without_frame(error)
    else:
        if isinstance(values, Load):
            load = values
            if not load.done():
                run.hold_back(PendingLoad(run, column, rows, source, load))
                return
            values = load.result()
        elif type(values) is CoroutineType or is_awaitable(values):
            call = BulkCall(run, column, rows, source)
            call.start(0, values)
            run.restore_task()
            if call.still_waits():
                return
            values = call.values[0]
    complete_values(run, column, rows, values_for_each(values, count, source))
