"""One selection made for many objects at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.bind import Attribute, Bulk
from gateway.execution.complete import SLICE
from gateway.execution.frames import without_frame
from gateway.execution.generate import Odd
from gateway.execution.kinds import PLAIN
from gateway.execution.places import FieldPlace, Place, some

if TYPE_CHECKING:
    from contextvars import Context

    from gateway.execution.collect import Field, Selection
    from gateway.execution.complete import Completer
    from gateway.execution.run import Run

Ready: TypeAlias = "tuple[Field, Sequence[Any], FieldPlace, Sequence[int] | None, set[type] | None]"
"""Values of a field to complete, of which rows (None for all), and their classes if known."""


class Group:
    """Objects of one type at one place of the operation, and what the response has of each."""

    __slots__ = ("objs", "out", "place", "selection")

    def __init__(self, selection: Selection, objs: Sequence[Any], place: Place | None) -> None:
        self.selection, self.objs, self.place = selection, objs, place
        self.out: list[dict[str, Any]] = []

    async def run_slowly(self, run: Run, context: Context | None) -> None:
        """As `make_group`, with rests between slices, for very many objects."""
        work = Work(run, self)
        run.within(context, work.call_bulk)
        for start in range(0, len(self.objs), SLICE):
            run.within(context, work.make, start, min(start + SLICE, len(self.objs)))
            await run.rest()
        run.within(context, work.put)


def make_group(run: Run, selection: Selection, objs: Sequence[Any], place: Place | None) -> None:
    """Resolve all fields of all objects; put them into the response, and go on below."""
    build = selection.build
    group = Group(selection, objs, place)
    columns: list[Sequence[Any]] = []
    ready: list[tuple[Completer, Sequence[Any], FieldPlace, Sequence[int] | None, Any]] = []
    for field, source, completer, leaf in build.called:
        at = FieldPlace(group, field, field.nonnull)
        numbers: Sequence[int] | None = None
        if isinstance(source, Bulk):
            given = run.call_bulk(field, source, objs, at)
            if given is None:
                if leaf is not None:
                    columns.append([None] * len(objs))
                continue
            values, kinds = given, None
        else:
            values = source.start(run, field, objs, at)
            kinds = set(map(type, values))
            if not kinds <= PLAIN:
                values, numbers, kinds = run.begin(values, at, completer)
        if leaf is None:
            ready.append((completer, values, at, numbers, kinds))
        elif numbers is None:
            columns.append(leaf.column(run, values, at, kinds))
        else:
            columns.append([None] * len(objs))
            ready.append((leaf, values, at, numbers, None))
    work: Work | None = None
    try:
        if build.keyed:
            raise Odd  # what reads them depends on their classes
        out = build.usual(objs, *columns)
    except Exception:
        work = Work(run, group)
        out = build(run, objs, columns, work.later, 0)
    if place is None:
        group.out = [run.place_root(out[0])]
    else:
        group.out = out
        place.put_all(out)
    for completer, values, at, numbers, kinds in ready:
        if numbers is None:
            completer.complete(run, values, at, kinds)
        elif values:
            completer.complete(run, values, some(at, numbers))
    if work is not None:
        work.complete_late()


class Work:
    """What a large group needs while it is made, and any in which something is odd."""

    __slots__ = ("_bulk", "_group", "_late", "_places", "_ready", "_run")

    def __init__(self, run: Run, group: Group) -> None:
        self._run, self._group = run, group
        self._places: dict[str, FieldPlace] = {}
        self._ready: list[Ready] = []
        self._bulk: dict[str, Sequence[Any]] = {}
        """Leaves that a bulk resolver gave at once."""
        self._late: dict[str, tuple[Field, list[Any], list[int]]] | None = None

    def _place(self, field: Field) -> FieldPlace:
        place = self._places.get(field.key)
        if place is None:
            place = FieldPlace(self._group, field, field.nonnull)
            self._places[field.key] = place
        return place

    def call_bulk(self) -> None:
        run, group = self._run, self._group
        for field, source, leaf in group.selection.build.bulk:
            place = FieldPlace(group, field, field.nonnull)
            values = run.call_bulk(field, source, group.objs, place)
            if values is None:
                continue
            if leaf is not None:
                self._bulk[field.key] = leaf.column(run, values, place)
            else:
                self._ready.append((field, values, place, None, None))

    def make(self, start: int, stop: int) -> None:
        """The objects of these rows."""
        run, group = self._run, self._group
        build = group.selection.build
        objs = group.objs
        whole = stop - start == len(objs)
        if not whole:
            objs = objs[start:stop]
        columns: list[Sequence[Any]] = []
        for field, source, _, leaf in build.called:
            if isinstance(source, Bulk):
                if leaf is not None:
                    given = self._bulk.get(field.key)
                    columns.append([None] * len(objs) if given is None else given[start:stop])
                continue
            base = FieldPlace(group, field, field.nonnull) if whole else self._place(field)
            place: Place = base if whole else some(base, range(start, stop))
            started = source.start(run, field, objs, place)
            values, numbers, kinds = run.begin(started, place, field.completer)
            if leaf is not None:
                if numbers is None:
                    columns.append(leaf.column(run, values, place, kinds))
                    continue
                columns.append([None] * len(objs))
            if not whole:
                numbers = range(start, stop) if numbers is None else [start + n for n in numbers]
            self._ready.append((field, values, base, numbers, kinds))
        made = build(run, objs, columns, self.later, start)
        if whole:
            group.out = made
        else:
            group.out += made

    def later(self, field: Field, obj: Any, row: int) -> None:
        """An attribute that isn't as usual: completed like a resolver's value."""
        source = field.source
        assert isinstance(source, Attribute)
        try:
            value = source.of(self._run, field, obj, self._place(field), row)
        except Exception as error:
            value = without_frame(error)
        if self._late is None:
            self._late = {}
        _, values, rows = self._late.setdefault(field.key, (field, [], []))
        values.append(value)
        rows.append(row)

    def put(self) -> None:
        run, group = self._run, self._group
        if group.place is None:
            group.out = [run.place_root(group.out[0])]
        else:
            group.place.put_all(group.out)
        ready = _joined(self._ready, len(group.objs))
        for field, values, place, numbers, kinds in ready:
            if numbers is None:
                field.completer.complete(run, values, place, kinds)
            elif values:
                field.completer.complete(run, values, some(place, numbers), kinds)
        self.complete_late()

    def complete_late(self) -> None:
        run = self._run
        if self._late is not None:
            for field, values, rows in self._late.values():
                run.settle(values, some(self._place(field), rows), field.completer)


def _joined(ready: list[Ready], count: int) -> list[Ready]:
    """The slices of each field put together, so that what is below is one group again."""
    joined: dict[str, tuple[Field, list[Any], FieldPlace, list[int]]] = {}
    for field, values, place, numbers, _ in ready:
        _, _, _, all_numbers = entry = joined.setdefault(field.key, (field, [], place, []))
        entry[1].extend(values)
        all_numbers += range(count) if numbers is None else numbers
    return [
        (field, values, place, None if len(numbers) == count else numbers, None)
        for field, values, place, numbers in joined.values()
    ]
