"""Executes deferred fragments (@defer) and the later items of streamed lists (@stream) after the
initial part of a response, on the same tables.

The fields of a place that wait for other fragments than the place itself are a layer: a table with
the same rows, whose objects are the ones that the initial part has made. So no field is executed
twice. A fragment begins when the part around it is complete, with the layers of its fields; all
rows of a place together, so that their loads share batches. A part has all fields of its fragment,
and repeats fields of earlier parts: clients such as Relay read each part by itself.

A null propagates within the fields of its layer. If no field of the layer can be null, the data of
the part is null: an earlier part is never taken back.

The later items of a place's streamed lists are one table, a tail, below the same column as the
first items. All of their fields come in one part for each list. They begin when the part that has
the list is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphql import GraphQLError

from gateway.execution.levels.awaits import NewRows, NewValues
from gateway.execution.levels.failures import Failure, Failures, left_out, located
from gateway.execution.levels.tables import (
    ABSTRACT,
    Column,
    Columns,
    Later,
    Table,
    cut_loose,
    is_alive,
    new_layer,
    path_of,
    tables_below,
)
from gateway.execution.levels.tails import Tail, tail_at
from gateway.execution.levels.waits import pending_columns
from gateway.execution.levels.writer import written_rows
from gateway.execution.model.fragments import INITIAL, ITEMS, Fragment, Group, above
from gateway.execution.model.selection import Selection
from gateway.execution.tasks.dropped import drop

DATA = "data"


class Part:
    """The result of a deferred fragment for one object (`key` is DATA), or the later items of a
    list (ITEMS), which `data` has in an object under this key. `data` is None if a null propagated
    to it."""

    __slots__ = ("data", "errors", "key", "label", "path")

    def __init__(
        self,
        path: list[str | int],
        label: str | None,
        data: list[bytes] | None,
        errors: list[GraphQLError],
        key: str = DATA,
    ) -> None:
        self.path, self.label, self.data, self.errors = path, label, data, errors
        self.key = key


class LayerFailures(Failures):
    """The failures of deferred fields."""

    def __init__(self, most: int) -> None:
        """`most` is the maximum number of errors that are reported."""
        Failures.__init__(self, most)
        self.located: list[tuple[Table, int, GraphQLError]] = []
        """Each error, with the table and the row of its field."""
        self.failed: dict[Fragment, dict[tuple[Table, int], GraphQLError]] = {}
        """The objects whose part of a fragment has no data, each with the first error for it."""
        self.failed_lists: dict[tuple[Tail, int], GraphQLError] = {}
        """The lists whose later items are null, each with the first error for it."""

    def _write(self, failures: Sequence[Failure]) -> bool:
        propagated = False
        for column, row, error in failures:
            path = path_of(column, row)
            if path is None:
                continue
            if len(self.located) < self.most:
                made = located(error, column.slot.field, path)
                self.located.append((column.table, row, made))
            else:
                made = left_out(1)
                self.left_out.append(error)
            propagated |= self._nullify(column, row, made)
        return propagated

    def _nullify(self, column: Column, row: int, error: GraphQLError) -> bool:
        """Propagate a null as `_propagate` does, within the layer."""
        climbed = False
        while column.slot.nonnull:
            climbed = True
            table = column.table
            if isinstance(table, Tail):
                self.failed_lists.setdefault((table, table.group(row)), error)
                return False
            if _base(table) is not None:
                group: Group = table.selection.group  # type: ignore[union-attr]
                for fragment in group:
                    at = _origin(table, row, fragment)
                    self.failed.setdefault(fragment, {}).setdefault(at, error)
                return False
            above, row = column.above(row)
            assert above is not None
            column = above
        column.nullify(row)
        return climbed


class Deferral:
    """The deferred fragments and streamed lists of a request that are executed or wait for an
    earlier part."""

    def __init__(self, run: Any) -> None:
        """`run` is a run whose initial part is complete."""
        self._run = run
        self.failures = LayerFailures(max(run.failures.most - len(run.errors), 0))
        self._active: dict[Fragment, list[tuple[Table, list[int]]]] = {}
        """The fragments that are executed, each with the objects at which it begins."""
        self._ready: list[Fragment] = []
        """The fragments that are complete, whose parts are not written."""
        self._complete: set[Fragment] = set()
        """The fragments whose parts are written."""
        self._tails: list[Tail] = []
        """The streamed lists that are executed."""
        self._ready_tails: list[Tail] = []
        run.deferral, run.failures, run.serial_chain = self, self.failures, False
        self._begin(None)
        self._begin_tails()

    @property
    def has_next(self) -> bool:
        """Whether more parts will come."""
        return bool(self._active or self._tails)

    async def next(self) -> list[Part]:
        """Execute on until fragments or streamed lists are complete. Returns their parts."""
        if not (self._ready or self._ready_tails):
            await self._run.go_on()
        ready, self._ready = self._ready, []
        tails, self._ready_tails = self._ready_tails, []
        parts: list[Part] = []
        self._run.begin_writing()
        for fragment in ready:
            for table, rows in self._active.pop(fragment):
                parts += await self._parts(fragment, table, rows)
            self._complete.add(fragment)
            self._begin(fragment)
        for tail in tails:
            parts += await self._items(tail)
            self._tails.remove(tail)
            cut_loose(tail)
        self._begin_tails()
        return parts

    def unfinished(self, error: GraphQLError) -> list[Part]:
        """Returns a part with this error in place of each part that has not been written."""
        active, self._active = self._active, {}
        parts = [
            Part(_path(table, row), fragment.label, None, [error])
            for fragment, places in active.items()
            for table, rows in places
            for row in rows
        ]
        for tail in self._forget_tails():
            for group in range(len(tail.starts)):
                parts.append(Part(tail.path(group), tail.stream.label, None, [error], ITEMS))
            cut_loose(tail)
        return parts

    def forget(self) -> None:
        """Break the reference cycles of what has not been written."""
        for tail in self._forget_tails():
            cut_loose(tail)

    def _forget_tails(self) -> list[Tail]:
        tails, self._tails = self._tails, []
        return tails

    # -- called by the run

    def settle(self) -> bool:
        """A round has ended. Returns whether fragments are complete: they wait for no value."""
        busy: set[Fragment] = set()
        busy_tails: set[Tail] = set()
        for waiting in pending_columns(self._run):
            column = waiting.column()
            if column is not None:
                at = tail_at(column.table, 0)
                if at is None:
                    busy |= _group(column)
                else:
                    busy_tails.add(at[0])
        self._ready = [fragment for fragment in self._active if fragment not in busy]
        self._ready_tails = [tail for tail in self._tails if tail not in busy_tails]
        return bool(self._ready or self._ready_tails)

    def added(self, table: Table, first: int, count: int) -> None:
        """Objects with deferred fields were added to a table below a deferred field. Some of these
        fields may be due: their fragment is one of several that have the field above."""
        later = _later(table)
        assert later.place is not None
        for group, selection in later.place.layers.items():
            if not group.isdisjoint(self._active):
                self._extend(table, group, selection, range(first, first + count))

    # -- begin

    def _begin(self, parent: Fragment | None) -> None:
        """Begin the fragments directly below a fragment whose part is complete."""
        tables = [
            table
            for table in tables_below(self._run.roots)
            if table.later is not None and table.later.place is not None
        ]
        begun: set[Fragment] = set()
        for table in tables:
            for fragment in table.later.place.fragments:  # type: ignore[union-attr]
                if fragment.parent is parent:
                    rows = [row for row in self._present(table) if self._has(fragment, table, row)]
                    if rows:
                        self._active.setdefault(fragment, []).append((table, rows))
                        begun.add(fragment)
        for table in tables:
            later = _later(table)
            for group, selection in later.place.layers.items():  # type: ignore[union-attr]
                if group not in later.layers and not group.isdisjoint(begun):
                    self._extend(table, group, selection, self._present(table))

    def _present(self, table: Table) -> Sequence[int]:
        """The rows of the objects that are in the response."""
        rows = range(table.count)
        if not self._run.nulled:
            return rows
        return [row for row in rows if is_alive(table.above, table.parent(row))]

    def _has(self, fragment: Fragment, table: Table, row: int) -> bool:
        """Whether all parts around a fragment's part for this object have data."""
        failed = self.failures.failed
        return not failed or not any(
            up in failed and _origin(table, row, up) in failed[up] for up in above(fragment)
        )

    def _extend(
        self, table: Table, group: Group, selection: Selection, rows: Sequence[int]
    ) -> None:
        """Queue the fields of a group for objects of a table."""
        later = _later(table)
        layer = later.layers.get(group)
        if layer is None:
            layer = later.layers[group] = new_layer(table, selection)
        missing = [None] * (table.count - layer.count)
        for column in layer.columns:
            column.values += missing
        layer.count = table.count
        for some in _consecutive(rows):
            objs = later.objs[some.start : some.stop]
            new: Any = NewRows(layer, some.start, objs, self._run.resolver_context)
            self._run.queue.append(new)

    def _begin_tails(self) -> None:
        """Begin the streamed lists that an earlier part has."""
        run = self._run
        if not run.streamed:
            return
        streamed, run.streamed = run.streamed, []
        begun: dict[Column, tuple[Tail, list[Any]]] = {}
        for waiting in streamed:
            column, row, initial, items = waiting
            shown = self._is_shown(column, row)
            if shown is None:
                run.streamed.append(waiting)
            elif not shown:
                drop(items, run)
            else:
                if column not in begun:
                    begun[column] = Tail(column.slot.stream, initial, column), []
                tail, values = begun[column]
                tail.add(len(items), row)
                values += items
        for tail, values in begun.values():
            self._tails.append(tail)
            new: Any = NewValues(tail.columns[0], range(tail.count), values, run.resolver_context)
            run.queue.append(new)

    def _is_shown(self, column: Column, row: int) -> bool | None:
        """Whether an earlier part has the list at this position; None if a later one may have
        it."""
        if not is_alive(column, row):
            return False
        group, failed = _group(column), self.failures.failed
        for fragment in group & self._complete:
            if fragment not in failed:
                return True
            if _origin(column.table, row, fragment) not in failed[fragment]:
                return True
        return None if group - self._complete else not group

    # -- parts

    async def _parts(self, fragment: Fragment, table: Table, rows: list[int]) -> list[Part]:
        failed = self.failures.failed.get(fragment, {})
        errors = self._take_errors(fragment, table)
        whole = [row for row in rows if (table, row) not in failed]
        view = _View(fragment)
        try:
            written = await written_rows(view.of(table), whole, self._run.rest)
        finally:
            view.forget()
        texts = dict(zip(whole, written, strict=True))
        for row in rows:
            if row not in texts and row not in errors:  # another part has the error already
                errors[row] = [failed[table, row]]
        return [
            Part(_path(table, row), fragment.label, texts.get(row), errors.get(row, []))
            for row in rows
        ]

    async def _items(self, tail: Tail) -> list[Part]:
        """The parts of a place's streamed lists."""
        groups, failed = range(len(tail.starts)), self.failures.failed_lists
        errors: dict[int, list[GraphQLError]] = {}
        left = []
        for located_at in self.failures.located:
            at = tail_at(*located_at[:2])
            if at is not None and at[0] is tail:
                errors.setdefault(at[1], []).append(located_at[2])
            else:
                left.append(located_at)
        self._keep(left)
        whole = [group for group in groups if (tail, group) not in failed]
        texts = dict(zip(whole, await tail.written(whole, self._run.rest), strict=True))
        parts = []
        for group in groups:
            own = errors.get(group, [])
            if group not in texts:
                own = own or [failed[tail, group]]
            parts.append(Part(tail.path(group), tail.stream.label, texts.get(group), own, ITEMS))
        return parts

    def _keep(self, left: list[tuple[Table, int, GraphQLError]]) -> None:
        """Keep the errors that no part has yet."""
        taken = len(self.failures.located) - len(left)
        self.failures.located[:], self.failures.most = left, self.failures.most - taken

    def _take_errors(self, fragment: Fragment, table: Table) -> dict[int, list[GraphQLError]]:
        """The errors of a fragment that no part has yet, by the row of the object."""
        found: dict[int, list[GraphQLError]] = {}
        left = []
        for at, row, error in self.failures.located:
            if fragment in _group_of(at):
                origin, number = _origin(at, row, fragment)
                if origin is table:
                    found.setdefault(number, []).append(error)
                    continue
            left.append((at, row, error))
        self._keep(left)
        return found


class _View:
    """The tables of a fragment's own fields: new tables on the values of the executed columns."""

    def __init__(self, fragment: Fragment) -> None:
        self._fragment = fragment
        self._made: list[Table] = []

    def of(self, table: Table) -> Table:
        later: Later | None = table.later
        if table.selection is not None and later is not None:
            assert later.place is not None
            selection, columns = later.place.view(self._fragment)
            layers = {**later.layers, later.place.main.group: table}
            made = self._new(table, selection.shape)
            for group, number in columns:
                made.columns.append(self._column(made, layers[group].columns[number]))
            return made
        if all(column.below is None for column in table.columns):
            return table
        made = self._new(table, table.shape)
        for column in table.columns:
            made.columns.append(self._column(made, column))
        return made

    def _new(self, table: Table, shape: Columns) -> Table:
        made = Table(shape, None)
        made.columns, made.count = [], table.count
        self._made.append(made)
        return made

    def _column(self, table: Table, column: Column) -> Column:
        if column.below is None:
            return column
        made = Column(column.slot, table)
        views = [self.of(below) for below in column.below]
        made.below, made.values = views, column.values
        if column.kind == ABSTRACT:
            by_table = {id(below): view for below, view in zip(column.below, views, strict=True)}
            made.values = [at and (by_table[id(at[0])], at[1]) for at in column.values]
        return made

    def forget(self) -> None:
        """Break the reference cycles."""
        for table in self._made:
            table.columns = []


def _later(table: Table) -> Later:
    later: Later | None = table.later
    assert later is not None
    return later


def _base(table: Table) -> Table | None:
    """The table of which a table is a layer; None if it is no layer."""
    later: Later | None = table.later
    return None if later is None else later.of


def _origin(table: Table, row: int, fragment: Fragment) -> tuple[Table, int]:
    """The object at which a fragment begins, from an object inside the fragment's part."""
    while True:
        base = _base(table) or table
        later: Later | None = base.later
        if later is not None and later.place is not None and fragment in later.place.fragments:
            return base, row
        row, column = table.parent(row), table.above
        assert column is not None
        table = column.table


def _group_of(table: Table) -> Group:
    while table.selection is None:
        if isinstance(table, Tail):
            return INITIAL
        assert table.above is not None
        table = table.above.table
    return table.selection.group


def _group(column: Column) -> Group:
    return _group_of(column.table)


def _path(table: Table, row: int) -> list[str | int]:
    path = path_of(table.above, table.parent(row))
    assert path is not None
    return path


def _consecutive(rows: Sequence[int]) -> list[range]:
    """The rows as ranges."""
    if type(rows) is range:
        return [rows]
    found: list[range] = []
    for row in rows:
        if found and found[-1].stop == row:
            found[-1] = range(found[-1].start, row + 1)
        else:
            found.append(range(row, row + 1))
    return found
