"""Executes one selection set for many objects at once (section "Executing Selection Sets" of the
specification)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.execution.model.positions import FieldPositions, Positions, some
from gateway.execution.model.selection import Completer, Selection
from gateway.execution.model.state import State
from gateway.execution.run.bulk_calls import resolve_bulk
from gateway.execution.run.object_builder import ObjectBuilder
from gateway.execution.run.sources import Attribute, Bulk, read
from gateway.execution.tasks.pending_column import PendingColumn


class Group:
    """Objects of one type that are executed together, and the dict of each in the response."""

    __slots__ = ("leaves", "objs", "out", "positions", "selection")

    def __init__(
        self, selection: Selection, objs: Sequence[Any], positions: Positions | None
    ) -> None:
        self.selection, self.objs, self.positions = selection, objs, positions
        self.leaves: list[Any] = []
        """A column of values for each of `ObjectBuilder.attributes`, until the objects are made."""
        self.out: list[dict[str, Any]] = []


def execute_group(
    run: State, selection: Selection, objs: Sequence[Any], positions: Positions | None
) -> None:
    """Resolve all fields of all objects, put the objects at their positions, and complete the
    fields' values. `positions` is None for the root."""
    if selection.failure is not None:
        fail_all(run, selection, len(objs), positions)
        return
    if positions is not None and run.resolved is None and not run.serial_chain:
        try_fused = selection.try_fused
        if try_fused is not None and try_fused(run, objs, positions):
            return
    group = Group(selection, objs, positions)
    read_leaves(run, group)
    make_objects(run, group, True)


def fail_all(run: State, selection: Selection, count: int, positions: Positions | None) -> None:
    """Record the failure of the selection for all objects. It is never the root's selection."""
    assert selection.failure is not None
    assert positions is not None
    for i in range(count):
        run.fail(positions, i, selection.failure)


def read_leaves(run: State, group: Group) -> None:
    """Read the leaves that are attributes, object by object. Each attribute is read once, before
    any resolver of the object's fields is called. If an attempt that was given up has read them,
    its values are used."""
    build: ObjectBuilder = group.selection.builder
    if run.resolved is not None:
        found = [run.take_resolved(field, group.objs) for field in build.attributes]
        if None not in found:
            group.leaves = found
            return
    group.leaves = read(build.getters, group.objs)


def make_objects(run: State, group: Group, bulk: bool) -> None:
    """Make the objects of a group whose leaves were read: resolve the other fields, put the objects
    at their positions, and complete the fields' values. If `bulk` is False, the caller resolves the
    bulk fields."""
    build: ObjectBuilder = group.selection.builder
    objs, positions = group.objs, group.positions
    leaves, group.leaves = iter(group.leaves), []
    columns: list[Sequence[Any]] = []
    ready: list[tuple[Completer, Sequence[Any], FieldPositions, Sequence[int] | None, Any]] = []
    for field, source, completer, leaf in build.to_resolve:
        at = FieldPositions(group, field, field.nonnull)
        numbers: Sequence[int] | None = None
        classes: set[type] | None = None
        if isinstance(source, Bulk):
            given = resolve_bulk(run, field, source, objs, at) if bulk else None
            if given is None:
                if leaf is not None:
                    columns.append([None] * len(objs))
                continue
            values, numbers, classes = run.start_awaitables(given, at, completer)
        elif leaf is not None and isinstance(source, Attribute):
            values = source.called(run, field, next(leaves), at)
            values, numbers, classes = run.start_awaitables(values, at, completer)
        else:
            before: Any = run.take_resolved(field, objs)
            if isinstance(before, PendingColumn):
                values, numbers = before.move(at, completer)
            else:
                values = source.start(run, field, objs, at) if before is None else before
                values, numbers, classes = run.start_awaitables(values, at, completer)
        if leaf is None:
            ready.append((completer, values, at, numbers, classes))
        elif numbers is None:
            columns.append(leaf.column(run, values, at, classes))
        else:
            columns.append([None] * len(objs))
            ready.append((leaf, values, at, numbers, None))
    out = build.make(len(objs), *columns)
    if positions is None:
        group.out = [run.place_root(out[0])]
    else:
        group.out = out
        positions.put_all(out)
    for completer, values, at, numbers, classes in ready:
        if numbers is None:
            completer.complete(run, values, at, classes)
        elif values:
            completer.complete(run, values, some(at, numbers))
