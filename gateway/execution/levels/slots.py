"""Completes leaves and lists (sections "Result Coercion" and "Value Completion" of the
specification)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from graphql import GraphQLError, GraphQLID, GraphQLLeafType
from graphql.pyutils import Undefined, is_async_iterable, is_awaitable, is_iterable

from gateway.execution.encode import dumps
from gateway.execution.levels import slices
from gateway.execution.levels.awaits import complete_values, when_ready
from gateway.execution.levels.request import Request
from gateway.execution.levels.slot import Slot
from gateway.execution.levels.tables import ID, LEAF, LIST, Column, Positions, Rows, Table
from gateway.execution.model.selection import Field
from gateway.execution.model.value_classes import classes_of
from gateway.execution.run.leaves import SIMPLE, LeafCompleter
from gateway.execution.run.lists import _gathered, _read_on
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.frames import without_frame


class LeafSlot(Slot):
    """A scalar or an enum."""

    __slots__ = ("leaf",)

    def __init__(self, field: Field, type_: GraphQLLeafType, nonnull: bool) -> None:
        Slot.__init__(self, field, nonnull, ID if type_ is GraphQLID else LEAF)
        self.leaf = LeafCompleter(field, type_, nonnull)

    def complete(
        self,
        run: Request,
        column: Column,
        rows: Rows,
        values: Sequence[Any],
        classes: set[type] | None = None,
    ) -> None:
        try:
            made = self.leaf.usual(values, classes_of(values) if classes is None else classes)
        except Exception:  # the loop below finds the unusual value
            self.complete_each(run, column, rows, values)
        else:
            column.put(rows, made)

    def complete_each(
        self, run: Request, column: Column, rows: Iterable[int], values: Iterable[Any]
    ) -> None:
        """Complete values, some of which are null, exceptions, or not what the type expects."""
        awaited: dict[int, Any] = {}
        for row, value in zip(rows, values, strict=True):
            try:
                if isinstance(value, Exception):
                    run.failures.add(column, row, value)
                elif value is None or value is Undefined:
                    if self.nonnull:
                        run.failures.add(column, row, self.null_error())
                else:
                    coerced = self.leaf.coerced_one(value)
                    if is_awaitable(coerced):
                        awaited[row] = coerced
                        continue
                    if type(coerced) not in SIMPLE:
                        dumps(coerced)  # raises TypeError
                    column.values[row] = coerced
            except Exception as error:
                run.failures.add(column, row, error)
        if awaited:
            self._put_unchanged(run, column, awaited)

    def _put_unchanged(self, run: Request, column: Column, awaited: dict[int, Any]) -> None:
        """Await what a scalar's own function returned. As with graphql-core, the results are put
        into the response unchanged."""
        rows = list(awaited)

        def then(run: Request, values: Sequence[Any], numbers: Sequence[int] | None) -> None:
            for n, value in zip(numbers or range(len(rows)), values, strict=True):
                if value is None or value is Undefined:
                    continue
                try:
                    if isinstance(value, Exception):
                        raise value
                    dumps(value)
                except Exception as error:
                    run.failures.add(column, rows[n], without_frame(error))
                else:
                    column.values[rows[n]] = value

        when_ready(run, list(awaited.values()), Positions(column, rows), then)

    def fails(self, value: Any) -> bool:
        return bool(self.leaf.fails(value))


class ListSlot(Slot):
    """A list of one item type."""

    __slots__ = ("item",)

    def __init__(self, field: Field, item: Slot, nonnull: bool) -> None:
        Slot.__init__(self, field, nonnull, LIST)
        self.item = item

    def complete_present(
        self, run: Request, column: Column, rows: Rows, values: Sequence[Any]
    ) -> None:
        if classes_of(values) == {list}:
            self._add_items(run, column, rows, values)
            return
        lists: list[Sequence[Any]] = []
        places = []
        streams, streamed = [], []
        for row, value in zip(rows, values, strict=True):
            if type(value) is list or type(value) is tuple:
                lists.append(value)
                places.append(row)
            elif is_async_iterable(value):
                streams.append(_gathered(value, self.item, run))  # type: ignore[arg-type]
                streamed.append(row)
            elif not is_iterable(value):
                field = self.field
                message = "Expected Iterable, but did not find one for field"
                error = GraphQLError(f"{message} '{field.parent}.{field.name}'.")
                run.failures.add(column, row, error)
            else:
                items: list[Any] = []
                try:
                    iterator = iter(value)
                    items.extend(islice(iterator, slices.SLICE))
                except Exception as error:
                    drop(items, run)
                    run.failures.add(column, row, error)
                else:
                    if len(items) == slices.SLICE:
                        streams.append(_read_on(iterator, items, run))
                        streamed.append(row)
                        continue
                    lists.append(items)
                    places.append(row)
        if lists:
            self._add_items(run, column, places, lists)
        if streams:
            complete_values(run, column, streamed, streams)

    def fails(self, value: Any) -> bool:
        if Slot.fails(self, value):
            return True
        known = type(value) is list or type(value) is tuple
        return known and self.item.nonnull and any(map(self.item.fails, value))

    def _add_items(
        self, run: Request, column: Column, rows: Rows, lists: Sequence[Sequence[Any]]
    ) -> None:
        """Complete the items of lists as one column, one list after the other."""
        if column.below is None:
            table = column.add_table(Table([self.item], column))
        else:
            (table,) = column.below
        first = table.count
        flat: Sequence[Any]
        if len(lists) == 1:
            (only,) = lists
            flat = only[:]  # a copy: a resolver may change its list later
            (row,) = rows
            if flat:
                table.add(len(flat), row)
            column.values[row] = (first, table.count)
        else:
            flat = []
            for row, items in zip(rows, lists, strict=True):
                start = table.count
                if items:
                    flat += items
                    table.add(len(items), row)
                column.values[row] = (start, table.count)
        if flat:
            complete_values(run, table.columns[0], range(first, table.count), flat)
