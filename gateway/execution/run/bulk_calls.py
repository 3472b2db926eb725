"""Calls bulk resolvers: once for all objects of a level."""

from __future__ import annotations

from collections.abc import Sequence
from types import CoroutineType
from typing import Any

from graphql.pyutils import is_awaitable

from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Field
from gateway.execution.model.state import State
from gateway.execution.run.pending import PendingBulk, PendingField, PendingLoad, values_for_each
from gateway.execution.run.sources import Bulk
from gateway.execution.tasks.frames import without_frame
from loaders.batches import Load


def resolve_bulk(
    run: State, field: Field, source: Bulk, objs: Sequence[Any], positions: Positions
) -> Sequence[Any] | None:
    """Resolve a field for all objects. Returns a value, which may be awaitable, for each object.
    Returns None if the resolver itself is awaited: its values are completed when they arrive.

    If an attempt that was given up has called the resolver, its values are used.
    """
    found = run.take_resolved(field, objs)
    if found is None:
        found = start(run, field, source, objs, positions)
    elif isinstance(found, PendingField):
        found.move(positions, field.completer)
    return None if isinstance(found, PendingField) else found


def start(
    run: State, field: Field, source: Bulk, objs: Sequence[Any], positions: Positions | None
) -> Sequence[Any] | PendingField:
    """Call the resolver. Returns a value for each object, or the field whose resolver is awaited.
    `positions` is None in an attempt of the fast path."""
    function, arguments = source.function, source.arguments
    if run.serial_chain:
        run.extend_chain(positions, len(objs))
    try:
        if arguments is None:
            values = function(run.context, objs)
        else:
            values = function(run.context, objs, **arguments.of(run))
    except Exception as error:
        return [without_frame(error)] * len(objs)
    if isinstance(values, Load):
        if not values.done():
            load = PendingLoad(run, field, source, positions, len(objs), values)
            run.hold_back(load)
            return load
        values = values.result()
    elif type(values) is CoroutineType or is_awaitable(values):
        waiting = PendingBulk(run, PendingField(run, field, source, positions, len(objs)))
        waiting.start(0, values)
        run.restore_task()
        if waiting.still_waits():
            return waiting.pending
        values = waiting.values[0]
    return values_for_each(values, len(objs), source)
