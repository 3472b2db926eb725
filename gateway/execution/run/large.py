"""Executes levels of thousands of objects in slices, with rests of the event loop in between.

The groups below the slices are joined again, so that the next level is one group, and bulk
resolvers are called for thousands of objects at a time. Large responses are also freed in slices:
freeing 200,000 objects at once takes almost as long as making them.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from gateway.execution.collector import set_aside
from gateway.execution.model.positions import (
    FieldPositions,
    JoinedPositions,
    Order,
    Positions,
    some,
)
from gateway.execution.model.selection import Field
from gateway.execution.model.state import Entry, Pending, State
from gateway.execution.run.base_completer import SLICE, BaseCompleter
from gateway.execution.run.bulk_calls import resolve_bulk
from gateway.execution.run.groups import Group, fail_all, make_objects, read_leaves
from gateway.execution.run.response import Failure
from gateway.execution.run.sources import Bulk
from gateway.execution.tasks.dropped import drop

SLICES_AT_ONCE = 8
"""The number of slices for which a bulk resolver is called at a time, and that are freed in one
turn of the event loop."""


async def in_slices(run: State, entry: Entry) -> None:
    """Execute an entry of the queue in slices: many objects, or values for a completer."""
    run.sliced = True
    set_aside()
    queue, run.queue = run.queue, deque()
    below = _Joined()
    try:
        steps = (
            _completing(run, entry) if isinstance(entry[0], BaseCompleter) else _making(run, entry)
        )
        for step, *given in steps:
            run.run_in_context(entry[3], step, *given)
            below.add(run.queue)
            await run.rest()
        below.add(run.queue)
        queue.extend(below.entries())
    except BaseException:
        steps.close()
        forget(below.entries())
        raise
    finally:
        run.queue = queue


def _completing(run: State, entry: Entry) -> Generator[tuple[Any, ...], None, None]:
    completer, values, positions, _ = entry
    done = 0
    try:
        for start, stop, at in _slices(positions, len(values)):
            part = values[start:stop]
            run.free_later(part)
            done = stop
            yield run.complete_values, part, at, completer
    finally:
        if done < len(values):
            drop(list(values[done:]))


def _making(run: State, entry: Entry) -> Generator[tuple[Any, ...], None, None]:
    selection, objs, positions, _ = entry
    if selection.failure is not None:
        for start, stop, at in _slices(positions, len(objs)):
            yield fail_all, run, selection, stop - start, at
        return
    groups = [Group(selection, [], at) for _, _, at in _slices(positions, len(objs))]
    starts = range(0, len(objs), SLICE)
    counts = [min(SLICE, len(objs) - start) for start in starts]
    given: list[Entry] = []
    for group, start in zip(groups, starts, strict=True):
        group.objs = objs[start : start + SLICE]
        yield read_leaves, run, group
    for field, source in selection.builder.bulk:
        for first in range(0, len(groups), SLICES_AT_ONCE):
            last = first + SLICES_AT_ONCE
            some_objs = objs[first * SLICE : last * SLICE]
            yield (
                _resolve_bulk,
                run,
                field,
                source,
                some_objs,
                groups[first:last],
                counts[first:last],
                given,
            )
    for group in groups:
        run.free_later(group.objs)
        yield make_objects, run, group, False
        run.free_later(group.out)
    run.queue.extend(given)


def _resolve_bulk(
    run: State,
    field: Field,
    source: Bulk,
    objs: Sequence[Any],
    groups: Sequence[Group],
    counts: Sequence[int],
    given: list[Entry],
) -> None:
    """Call a bulk resolver once for several slices. Adds an entry with its values to `given`,
    unless they are awaited."""
    at = JoinedPositions([FieldPositions(group, field, field.nonnull) for group in groups], counts)
    values = resolve_bulk(run, field, source, objs, at)
    if values is not None:
        given.append((field.completer, values, at, run.resolver_context))


def _slices(positions: Positions | None, count: int) -> Iterator[tuple[int, int, Positions]]:
    """Yields the start, the end and the positions of each slice."""
    assert positions is not None  # only the root has none, and it is a single object
    for start in range(0, count, SLICE):
        stop = min(start + SLICE, count)
        yield start, stop, some(positions, range(start, stop))


class _Joined:
    """Collects entries of the queue. Entries with the same selection (or completer) and the same
    context are joined to one entry."""

    def __init__(self) -> None:
        self._found: dict[Any, tuple[list[Any], list[Positions | None], list[int], Entry]] = {}

    def add(self, entries: deque[Entry]) -> None:
        """Move entries from a queue to this collection."""
        while entries:
            entry = what, values, positions, context = entries.popleft()
            # One selection may be below several fields, of which some are non-null.
            key = what, id(context), None if positions is None else positions.nonnull
            found = self._found.get(key)
            if found is None:
                self._found[key] = [], [positions], [len(values)], entry
                continue
            all_values, places, counts, first = found
            if not all_values:
                all_values += first[1]
            all_values += values
            places.append(positions)
            counts.append(len(values))

    def entries(self) -> Iterator[Entry]:
        for values, places, counts, first in self._found.values():
            if len(places) == 1:
                yield first
            else:
                joined = JoinedPositions(
                    [positions for positions in places if positions is not None], counts
                )
                yield first[0], values, joined, first[3]


def forget(entries: Iterable[Entry]) -> None:
    """Close the awaitables in queued values that will not be completed."""
    for what, values, _, _ in entries:
        if isinstance(what, BaseCompleter):
            drop(list(values))


async def flush(run: State, arrivals: list[Pending]) -> None:
    """Complete arrived values of several columns, and join the entries that these queue."""
    below = _Joined()
    left = iter(arrivals)
    try:
        for waiting in left:
            waiting.flush()
            below.add(run.queue)
            await run.rest()
    except BaseException:
        forget(below.entries())
        for waiting in left:
            drop(waiting.values)
        raise
    run.queue.extend(below.entries())


async def end_failures(run: State, failures: list[Failure]) -> None:
    """Write thousands of failures as `Run._end_failures` does, with rests. Sorts them in slices."""
    propagates = False
    run.deferred_free += slices(failures)
    for part in slices(failures):
        propagates = propagates or any(positions.nonnull for positions, _, _ in part)
        await run.rest()
    ordered = iter(failures)
    if propagates:
        ranked, order = [], Order()
        for number, part in enumerate(slices(failures)):
            ranked.append(sorted((order(one), number, n) for n, one in enumerate(part)))
            await run.rest()
        run.deferred_free += [*ranked, *slices([*order.known.items()])]
        ordered = (failures[number * SLICE + n] for _, number, n in merge(*ranked))
    propagated = False
    while part := list(islice(ordered, SLICE)):
        propagated |= run.write_failures(part)
        await run.rest()
    if propagated:
        run.null_propagated()
        for waiting in run.columns():
            run.discard_unwanted([waiting])
            await run.rest()


def slices(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [values[start : start + SLICE] for start in range(0, len(values), SLICE)]


def sweep(loop: AbstractEventLoop, garbage: list[Sequence[Any]]) -> None:
    """Free SLICES_AT_ONCE slices in each turn of the event loop, the last slices first."""
    if garbage:
        del garbage[-SLICES_AT_ONCE:]
        loop.call_soon(sweep, loop, garbage)
