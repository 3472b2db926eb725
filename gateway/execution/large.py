"""Columns and groups of thousands, worked off in slices, so that others have the loop in between.

What the slices find below themselves is joined again: a level stays one group, whose bulk resolvers
are called once and whose loads are in one batch. What a large response held is freed in slices too:
to let go of 200,000 objects at once takes almost as long as to make them.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextvars import Context
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.complete import Completed
from gateway.execution.dropped import drop
from gateway.execution.groups import SLICE, Group, Work
from gateway.execution.places import FieldPlace, JoinedPlace, Place, some

if TYPE_CHECKING:
    from gateway.execution.bind import Bulk
    from gateway.execution.collect import Field, Selection
    from gateway.execution.run import Run
    from gateway.execution.waiting import Waiting

Entry: TypeAlias = "tuple[Any, Sequence[Any], Place | None, Context | None]"
"""A Selection and its objects or, for more than a slice of them, a Completer and its values; where
they go; in which context."""


async def in_slices(run: Run, entry: Entry) -> None:
    """Work off an entry of the queue that is larger than a slice."""
    what, values, place, context = entry
    assert place is not None  # which only the root lacks, a single object
    run.sliced = True
    queue, run.queue = run.queue, deque()
    try:
        if isinstance(what, Completed):
            await _complete(run, what, values, place, context)
        else:
            await _make(run, what, values, place, context)
        queue.extend(_joined(run.queue))
    except BaseException:
        forget(run.queue)
        raise
    finally:
        run.queue = queue


def forget(entries: Iterable[Entry]) -> None:
    """Drop values that were not completed yet."""
    for what, values, _, _ in entries:
        if isinstance(what, Completed):
            drop(values)


async def _complete(
    run: Run, completer: Any, values: Sequence[Any], place: Place, context: Context | None
) -> None:
    done = 0
    try:
        for start, stop, at in _slices(place, len(values)):
            part = values[start:stop]
            run.litter.append(part)
            done = stop
            run.within(context, run.settle, part, at, completer)
            await run.rest()
    except BaseException:
        drop(list(values[done:]))
        raise


async def _make(
    run: Run, selection: Selection, objs: Sequence[Any], place: Place, context: Context | None
) -> None:
    groups = [
        Group(selection, objs[start:stop], at) for start, stop, at in _slices(place, len(objs))
    ]
    counts = [len(group.objs) for group in groups]
    given: list[Entry] = []

    def ask(field: Field, source: Bulk) -> None:
        at = JoinedPlace([FieldPlace(group, field, field.nonnull) for group in groups], counts)
        values = run.ask_bulk(field, source, objs, at)
        if values is not None:
            given.append((field.completer, values, at, context))

    for field, source, _ in selection.build.bulk:
        run.within(context, ask, field, source)
        await run.rest()
    for group in groups:
        run.litter.append(group.objs)
        run.within(context, Work(run, group).make)
        run.litter.append(group.out)
        await run.rest()
    run.queue.extend(given)


def _slices(place: Place, count: int) -> Iterator[tuple[int, int, Place]]:
    """From which position to which, and where they go."""
    for start in range(0, count, SLICE):
        stop = min(start + SLICE, count)
        yield start, stop, some(place, range(start, stop))


def _joined(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Those of one selection (or type of values) and context as one."""
    alike: dict[Any, list[Entry]] = {}
    for entry in entries:
        alike.setdefault((entry[0], id(entry[3])), []).append(entry)
    for found in alike.values():
        if len(found) == 1:
            yield found[0]
            continue
        what, _, _, context = found[0]
        values = list(chain.from_iterable(values for _, values, _, _ in found))
        places = [place for _, _, place, _ in found if place is not None]
        yield what, values, JoinedPlace(places, [len(values) for _, values, _, _ in found]), context


async def flush(run: Run, arrivals: list[Waiting]) -> None:
    """Go on with what has arrived, and with what hangs on one field as one group."""
    left = iter(arrivals)
    try:
        for waiting in left:
            waiting.flush()
            await run.rest()
    except BaseException:
        for waiting in left:
            drop(waiting.values)
        raise
    run.queue = deque(_joined(run.queue))


def sweep(loop: AbstractEventLoop, litter: list[Sequence[Any]]) -> None:
    """Let go of a slice in each turn of the loop."""
    if litter:
        litter.pop()
        loop.call_soon(sweep, loop, litter)
