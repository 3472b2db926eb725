"""Completes lists. The items of all lists of a column are completed as one column, one list after
the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from graphql import GraphQLError
from graphql.pyutils import is_async_iterable, is_iterable

from gateway.execution.model.positions import ItemPositions, Positions, some
from gateway.execution.model.selection import Completer, Field
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import classes_of
from gateway.execution.run.base_completer import SLICE, BaseCompleter
from gateway.execution.tasks.dropped import drop


class ListCompleter(BaseCompleter):
    """Completes lists of one item type."""

    def __init__(self, field: Field, item: Completer, nonnull: bool) -> None:
        super().__init__(field, nonnull)
        self.item = item

    def complete_present(self, run: State, values: Sequence[Any], positions: Positions) -> None:
        if classes_of(values) == {list}:
            self._complete(run, values, positions, None)
            return
        lists: list[Sequence[Any]] = []
        which = []
        streams, streamed = [], []
        for i, value in enumerate(values):
            if type(value) is list or type(value) is tuple:
                lists.append(value)
                which.append(i)
            elif is_async_iterable(value):
                streams.append(_gathered(value, self.item, run))
                streamed.append(i)
            elif not is_iterable(value):
                field = self.field
                run.fail(
                    positions,
                    i,
                    GraphQLError(
                        "Expected Iterable, but did not find one for field"
                        f" '{field.parent}.{field.name}'."
                    ),
                )
            else:
                items: list[Any] = []
                try:
                    iterator = iter(value)
                    items.extend(islice(iterator, SLICE))
                except Exception as error:
                    drop(items, run)
                    run.fail(positions, i, error)
                else:
                    if len(items) == SLICE:
                        streams.append(_read_on(iterator, items, run))
                        streamed.append(i)
                        continue
                    lists.append(items)
                    which.append(i)
        if lists:
            self._complete(run, lists, positions, which)
        if streams:
            run.complete_values(streams, some(positions, streamed), self)

    def fails(self, value: Any) -> bool:
        if super().fails(value):
            return True
        known = type(value) is list or type(value) is tuple
        return known and self.item.nonnull and any(map(self.item.fails, value))

    def _complete(
        self,
        run: State,
        lists: Sequence[Sequence[Any]],
        positions: Positions,
        which: list[int] | None,
    ) -> None:
        """Complete lists. List `n` is at position `which[n]`, or at position `n` if `which` is
        None."""
        starts: list[int] = []
        flat: Sequence[Any] = lists[0][:]  # a copy: a resolver may change its list later
        if len(lists) > 1:
            joined: list[Any] = []
            for items in lists:
                starts.append(len(joined))
                joined += items
            flat = joined
        made: list[list[Any]] = [[None] * len(items) for items in lists]
        item = self.item
        items_at = ItemPositions(positions, self.field, which, made, starts, item.nonnull)
        if which is None:
            positions.put_all(made)
        else:
            positions.put_some(which, made)
        if flat:
            run.complete_values(flat, items_at, item)


async def _read_on(iterator: Iterator[Any], items: list[Any], run: State) -> list[Any]:
    """Returns the items of a long iterable, of which `items` were read already. Rests between
    slices."""
    try:
        size = 0
        while len(items) >= size + SLICE:
            size = len(items)
            await asyncio.sleep(0)
            items.extend(islice(iterator, SLICE))
    except BaseException:
        drop(items, run)
        raise
    return items


async def _gathered(items: AsyncIterable[Any], completer: Completer, run: State) -> list[Any]:
    """Returns the items of an async iterable, up to an item that makes the list null.

    Like graphql-core, it closes the iterator at such an item, and awaits no item before it has read
    all of them.
    """
    iterator = aiter(items)
    gathered = []
    try:
        async for item in iterator:
            gathered.append(item)
            if completer.nonnull and completer.fails(item):
                await _close(iterator)
                break
            if len(gathered) % SLICE == 0:
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
