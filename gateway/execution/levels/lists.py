"""Completes lists. The items of all lists of a column are completed as one column, one list after
the other (section "Value Completion" of the specification)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from graphql import GraphQLError
from graphql.pyutils import is_async_iterable, is_iterable

from gateway.execution.levels import slices
from gateway.execution.levels.awaits import complete_values
from gateway.execution.levels.slot import Slot
from gateway.execution.levels.tables import LIST, Column, Columns, Rows, Table, rows_from
from gateway.execution.model.fragments import Stream
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import classes_of
from gateway.execution.tasks.dropped import drop


class ListSlot(Slot):
    """A list of one item type."""

    __slots__ = ("columns", "item")

    def __init__(self, field: Field, item: Slot, nonnull: bool) -> None:
        Slot.__init__(self, field, nonnull, LIST)
        self.item = item
        self.columns = Columns([item])
        """The plan of the items' table."""

    def complete_present(
        self, run: State, column: Column, rows: Rows, values: Sequence[Any]
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
                streams.append(_gathered(value, self.item, run))
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
        self, run: State, column: Column, rows: Rows, lists: Sequence[Sequence[Any]]
    ) -> None:
        """Complete the items of lists as one column, one list after the other."""
        if column.below is None:
            table = column.add_table(Table(self.columns, column))
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
            complete_values(run, table.columns[0], rows_from(first, len(flat)), flat)


class StreamedListSlot(ListSlot):
    """A list of which only the first items are in the initial part (@stream). `run.streamed` gets
    the others: the column and the row of the list, the index of the first of them, and the
    values."""

    __slots__ = ("stream",)

    def __init__(self, field: Field, item: Slot, nonnull: bool, stream: Stream) -> None:
        ListSlot.__init__(self, field, item, nonnull)
        self.stream = stream

    def _add_items(
        self, run: State, column: Column, rows: Rows, lists: Sequence[Sequence[Any]]
    ) -> None:
        try:
            initial = self.stream.initial_count(run.variables)
        except GraphQLError as error:
            for row, items in zip(rows, lists, strict=True):
                drop(list(items), run)
                run.failures.add(column, row, error)
            return
        first = []
        for row, items in zip(rows, lists, strict=True):
            if len(items) > initial:
                if run.streamed is None:
                    run.streamed = []
                run.streamed.append((column, row, initial, list(items[initial:])))
            first.append(items[:initial])
        ListSlot._add_items(self, run, column, rows, first)


async def _read_on(iterator: Iterator[Any], items: list[Any], run: State) -> list[Any]:
    """Returns the items of a long iterable, of which `items` were read already. Rests between
    slices."""
    try:
        size = 0
        while len(items) >= size + slices.SLICE:
            size = len(items)
            await asyncio.sleep(0)
            items.extend(islice(iterator, slices.SLICE))
    except BaseException:
        drop(items, run)
        raise
    return items


async def _gathered(items: AsyncIterable[Any], item_slot: Slot, run: State) -> list[Any]:
    """Returns the items of an async iterable, up to an item that makes the list null.

    Like graphql-core, it closes the iterator at such an item, and awaits no item before it has read
    all of them.
    """
    iterator = aiter(items)
    gathered = []
    try:
        async for item in iterator:
            gathered.append(item)
            if item_slot.nonnull and item_slot.fails(item):
                await _close(iterator)
                break
            if len(gathered) % slices.SLICE == 0:
                await asyncio.sleep(0)
    except BaseException as error:
        drop(gathered, run)
        if isinstance(error, Exception):
            await _close(iterator)
        raise
    return gathered


async def _close(iterator: AsyncIterator[Any]) -> None:
    close = getattr(iterator, "aclose", None)
    if close is not None:
        with suppress(Exception):
            await close()
