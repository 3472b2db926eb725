"""One selection made for many objects at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.bind import Attribute, Bulk
from gateway.execution.frames import without_frame
from gateway.execution.places import FieldPlace, Place, some

if TYPE_CHECKING:
    from gateway.execution.collect import Field, Selection
    from gateway.execution.run import Run

Ready: TypeAlias = "tuple[Field, Sequence[Any], FieldPlace, Sequence[int] | None, set[type] | None]"
"""Values of a field to complete, of which rows (None for all), and their classes if known."""
SLICE = 1_024
"""Objects made before the clock is looked at."""


class Group:
    """Objects of one type at one place of the operation, and what the response has of each."""

    __slots__ = ("objs", "out", "place", "selection")

    def __init__(self, selection: Selection, objs: Sequence[Any], place: Place | None) -> None:
        self.selection, self.objs, self.place = selection, objs, place
        self.out: list[dict[str, Any]] = []

    def run(self, run: Run) -> None:
        """Resolve all fields of all objects; put them into the response, and go on below."""
        selection, objs, place = self.selection, self.objs, self.place
        make = selection.build.leaves_only
        if make is not None and place is not None:
            try:
                self.out = make(objs)
            except Exception:  # found again, and where, below
                pass
            else:
                place.put_all(self.out)
                return
        work = Work(run, self)
        if selection.build.bulk:
            work.call_bulk()
        work.make(0, len(objs))
        work.put()

    async def run_slowly(self, run: Run) -> None:
        """The same with rests between slices, for very many objects."""
        work = Work(run, self)
        work.call_bulk()
        for start in range(0, len(self.objs), SLICE):
            work.make(start, min(start + SLICE, len(self.objs)))
            await run.rest()
        work.put()


class Work:
    """What a group needs only while it is made."""

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
        for field, source, leaf in build.called:
            if type(source) is Bulk:
                if leaf is not None:
                    given = self._bulk.get(field.key)
                    columns.append([None] * len(objs) if given is None else given[start:stop])
                continue
            base = FieldPlace(group, field, field.nonnull) if whole else self._place(field)
            place: Place = base if whole else some(base, range(start, stop))
            values = source.start(run, field, objs, place)
            values, numbers, kinds = run.begin(values, place, field.completer)
            if leaf is not None:
                if numbers is None:
                    columns.append(leaf.column(run, values, place, kinds))
                    continue
                columns.append([None] * len(objs))
            if not whole:
                numbers = range(start, stop) if numbers is None else [start + n for n in numbers]
            self._ready.append((field, values, base, numbers, kinds))
        made = build(run, objs, columns, self._later, start)
        if whole:
            group.out = made
        else:
            group.out += made

    def _later(self, field: Field, obj: Any, row: int) -> None:
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
        ready = self._ready
        if len(group.objs) > SLICE:
            ready = _joined(ready, len(group.objs))
        for field, values, place, numbers, kinds in ready:
            if numbers is None:
                field.completer.complete(run, values, place, kinds)
            elif values:
                field.completer.complete(run, values, some(place, numbers), kinds)
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
