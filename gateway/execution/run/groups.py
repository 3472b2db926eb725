"""Executes one selection set for many objects at once (section "Executing Selection Sets" of the
specification)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.execution.model.positions import FieldPositions, Positions, some
from gateway.execution.model.selection import Completer, Field, Selection
from gateway.execution.model.state import State
from gateway.execution.model.value_classes import PLAIN
from gateway.execution.run.bulk_calls import ask_and_begin
from gateway.execution.run.object_builder import FastPathMiss
from gateway.execution.run.sources import Attribute, Bulk
from gateway.execution.tasks.frames import without_frame
from gateway.execution.tasks.pending_column import PendingColumn


class Group:
    """Objects of one type at one place of the operation, and what the response has of each."""

    __slots__ = ("objs", "out", "positions", "selection")

    def __init__(
        self, selection: Selection, objs: Sequence[Any], positions: Positions | None
    ) -> None:
        self.selection, self.objs, self.positions = selection, objs, positions
        self.out: list[dict[str, Any]] = []


def execute_group(
    run: State, selection: Selection, objs: Sequence[Any], positions: Positions | None
) -> None:
    """Resolve all fields of all objects, put the objects into the response, and complete the
    values."""
    if positions is not None and run.given is None and not run.serial_chain:
        try_fused = selection.try_fused
        if try_fused is not None and try_fused(run, objs, positions):
            return
    build = selection.builder
    group = Group(selection, objs, positions)
    columns: list[Sequence[Any]] = []
    ready: list[tuple[Completer, Sequence[Any], FieldPositions, Sequence[int] | None, Any]] = []
    for field, source, completer, leaf in build.called:
        at = FieldPositions(group, field, field.nonnull)
        numbers: Sequence[int] | None = None
        if isinstance(source, Bulk):
            given = ask_and_begin(run, field, source, objs, at)
            if given is None:
                if leaf is not None:
                    columns.append([None] * len(objs))
                continue
            values, classes = given, None
        else:
            before: Any = run.given_before(field, objs)
            if isinstance(before, PendingColumn):
                before.move(at, completer)
                values, numbers, classes = (), (), None
            else:
                values = source.start(run, field, objs, at) if before is None else before
                classes = set(map(type, values))
                if not classes <= PLAIN:
                    values, numbers, classes = run.begin(values, at, completer, classes)
        if leaf is None:
            ready.append((completer, values, at, numbers, classes))
        elif numbers is None:
            columns.append(leaf.column(run, values, at, classes))
        else:
            columns.append([None] * len(objs))
            ready.append((leaf, values, at, numbers, None))
    work: Work | None = None
    try:
        if build.keyed:
            raise FastPathMiss  # the code that reads them depends on their classes
        out = build.usual(objs, *columns)
    except Exception:
        work = Work(run, group)
        out = build(objs, columns, work.later, 0)
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
    if work is not None:
        work.complete_late()


class Work:
    """Makes the objects of a slice of a large group, or of a group with an unusual value."""

    __slots__ = ("_group", "_late", "_places", "_run")

    def __init__(self, run: State, group: Group) -> None:
        self._run, self._group = run, group
        self._places: dict[str, FieldPositions] = {}
        self._late: dict[str, tuple[Field, list[Any], list[int]]] | None = None

    def _positions(self, field: Field) -> FieldPositions:
        positions = self._places.get(field.key)
        if positions is None:
            positions = FieldPositions(self._group, field, field.nonnull)
            self._places[field.key] = positions
        return positions

    def make(self) -> None:
        """Make the slice's objects like `execute_group`, but without bulk fields: these are
        resolved for all slices at once."""
        run, group = self._run, self._group
        build, objs = group.selection.builder, group.objs
        columns: list[Sequence[Any]] = []
        ready: list[tuple[Completer, Sequence[Any], FieldPositions, Sequence[int] | None, Any]] = []
        for field, source, completer, leaf in build.called:
            if isinstance(source, Bulk):
                if leaf is not None:
                    columns.append([None] * len(objs))
                continue
            at = self._positions(field)
            values, numbers, classes = run.begin(source.start(run, field, objs, at), at, completer)
            if leaf is not None and numbers is None:
                columns.append(leaf.column(run, values, at, classes))
                continue
            if leaf is not None:
                columns.append([None] * len(objs))
            ready.append((completer, values, at, numbers, classes))
        group.out = build(objs, columns, self.later, 0)
        assert group.positions is not None
        group.positions.put_all(group.out)
        for completer, values, at, numbers, classes in ready:
            if numbers is None:
                completer.complete(run, values, at, classes)
            elif values:
                completer.complete(run, values, some(at, numbers))
        self.complete_late()

    def later(self, field: Field, obj: Any, row: int) -> None:
        """Resolve an unusual attribute, to be completed like a resolver's value."""
        source = field.source
        assert isinstance(source, Attribute)
        try:
            value = source.of(self._run, field, obj, self._positions(field), row)
        except Exception as error:
            value = without_frame(error)
        if self._late is None:
            self._late = {}
        _, values, rows = self._late.setdefault(field.key, (field, [], []))
        values.append(value)
        rows.append(row)

    def complete_late(self) -> None:
        run = self._run
        if self._late is not None:
            for field, values, rows in self._late.values():
                run.settle(values, some(self._positions(field), rows), field.completer)
