"""One selection made for many objects at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.bind import Attribute, Bulk, Constant
from gateway.execution.complete import Leaf
from gateway.execution.frames import without_frame
from gateway.execution.places import FieldPlace, Place, some

if TYPE_CHECKING:
    from gateway.execution.collect import Field, Selection
    from gateway.execution.run import Run

Ready: TypeAlias = "tuple[Field, Sequence[Any], Sequence[int] | None]"
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
        work = Work(run, self)
        work.call_bulk()
        work.make(0, len(self.objs))
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

    __slots__ = ("bulk", "group", "late", "places", "ready", "run")

    def __init__(self, run: Run, group: Group) -> None:
        self.run, self.group = run, group
        self.places: dict[str, FieldPlace] = {}
        self.ready: list[Ready] = []
        """Values to complete once the objects are in the response: of which rows, None for all."""
        self.bulk: dict[str, Sequence[Any]] = {}
        """Leaves that a bulk resolver gave at once."""
        self.late: dict[str, tuple[Field, list[Any], list[int]]] = {}

    def place(self, field: Field) -> FieldPlace:
        place = self.places.get(field.key)
        if place is None:
            place = self.places[field.key] = FieldPlace(self.group, field, field.completer.nonnull)
        return place

    def call_bulk(self) -> None:
        for field in self.group.selection.build.bulk:
            source = field.source
            assert isinstance(source, Bulk)
            place = self.place(field)
            values = self.run.call_bulk(field, source, self.group.objs, place)
            if values is not None:
                if isinstance(field.completer, Leaf):
                    self.bulk[field.key] = field.completer.column(self.run, values, place)
                else:
                    self.ready.append((field, values, None))

    def make(self, start: int, stop: int) -> None:
        """The objects of these rows."""
        run, group = self.run, self.group
        build = group.selection.build
        count = len(group.objs)
        whole = stop - start == count
        objs = group.objs if whole else group.objs[start:stop]
        columns: list[Sequence[Any]] = []
        for field in build.called:
            source, completer = field.source, field.completer
            leaf = isinstance(completer, Leaf)
            if isinstance(source, Bulk):
                if leaf:
                    given = self.bulk.get(field.key)
                    columns.append([None] * count if given is None else given[start:stop])
                continue
            if isinstance(source, Constant):
                self.ready.append((field, [source.value] * len(objs), range(start, stop)))
                continue
            base = self.place(field)
            place: Place = base if whole else some(base, range(start, stop))
            if isinstance(source, Attribute):
                values: Sequence[Any] = source.column(run, field, objs, place)
            else:
                values = source.start(run, field, objs, place)
            values, numbers = run.begin(values, place, completer.complete)
            if leaf:
                if numbers is None:
                    assert isinstance(completer, Leaf)
                    columns.append(completer.column(run, values, place))
                    continue
                columns.append([None] * len(objs))
            if not whole:
                numbers = range(start, stop) if numbers is None else [start + n for n in numbers]
            self.ready.append((field, values, numbers))
        group.out += build(run, objs, columns, self._later, start)

    def _later(self, field: Field, obj: Any, row: int) -> None:
        """An attribute that isn't as usual: completed like a resolver's value."""
        source = field.source
        assert isinstance(source, Attribute)
        try:
            value = source.of(self.run, field, obj, self.place(field), row)
        except Exception as error:
            value = without_frame(error)
        entry = self.late.get(field.key)
        if entry is None:
            self.late[field.key] = (field, [value], [row])
        else:
            entry[1].append(value)
            entry[2].append(row)

    def put(self) -> None:
        run, group = self.run, self.group
        if group.place is None:
            group.out = [run.place_root(group.out[0])]
        else:
            group.place.put_all(group.out)
        for field, values, numbers in _joined(self.ready, len(group.objs)):
            place = self.place(field)
            at = place if numbers is None else some(place, numbers)
            field.completer.complete(run, values, at)
        for field, values, rows in self.late.values():
            run.settle(values, some(self.place(field), rows), field.completer.complete)


def _joined(ready: list[Ready], count: int) -> list[Ready]:
    """The slices of each field put together, so that what is below is one group again."""
    if len(ready) < 2 or len({field.key for field, _, _ in ready}) == len(ready):
        return ready
    joined: dict[str, tuple[Field, list[Any], list[int]]] = {}
    for field, values, numbers in ready:
        _, all_values, all_numbers = joined.setdefault(field.key, (field, [], []))
        all_values += values
        all_numbers += range(count) if numbers is None else numbers
    return [
        (field, values, None if len(numbers) == count else numbers)
        for field, values, numbers in joined.values()
    ]
