"""Compiles an operation for one set of @skip and @include values: makes its selections, and the
sources and slots of their fields.

Each part is made when a request first needs it. A large operation is compiled as a whole, in a
thread beside the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any, TypeAlias

from graphql import GraphQLError, GraphQLObjectType
from graphql.execution.collect_fields import DeferUsage, FieldDetails

from gateway.execution.compile.resolvers import source_of
from gateway.execution.levels.lists import ListSlot, StreamedListSlot
from gateway.execution.levels.objects import AbstractSlot, ObjectSlot
from gateway.execution.levels.shapes import Shape, slot_of
from gateway.execution.levels.slot import Slot
from gateway.execution.model.fragments import (
    INITIAL,
    ITEMS,
    Fragment,
    Fragments,
    Group,
    stream_of,
)
from gateway.execution.model.operation import Operation
from gateway.execution.model.selection import Field, Place, Selection, Source
from gateway.execution.side_thread import Aside

LARGE = 250
"""An operation with more selections is compiled beside the event loop, and its response paths share
equal selections. Compiling this many selections takes 10 to 20 ms."""
BYTES_A_FIELD = 1_300
"""The size of a compiled field with its part of the generated code, in bytes, as measured."""

Charge: TypeAlias = Callable[[int], None]


class Variant:
    """An operation, compiled for one set of @skip and @include values. Implements
    `model.selection.Compiler`."""

    def __init__(
        self,
        operation: Operation,
        flags: dict[str, bool | None],
        size: int,
        charge: Charge,
        defer: bool = False,
    ) -> None:
        """`flags` are the values of the variables in @skip, @include and @defer; null for a
        variable with a default for which the client sent null. `size` is the approximate number of
        the operation's selections. For `charge` see `Engine.compile`. Without `defer`, deferred
        fragments are executed with all other fields."""
        self.defers = defer and operation.defers
        self._fragments = Fragments()
        self.operation, self._flags, self._size, self._charge = operation, flags, size, charge
        self.shares = self.unprepared = size > LARGE
        """`shares`: whether response paths share equal selections. `unprepared`: whether the
        variant must be compiled beside the event loop before a request runs."""
        self._preparing: asyncio.Future[None] | None = None
        self._made: list[Selection] = []
        self._shared: dict[tuple[Any, ...], Selection] = {}
        """The shared selections, by type and by the ids of the field nodes."""
        self._bytes = self._charged = 0
        self._in_one_part: Variant | None = None
        """Compiles the later items of streamed lists, which have all of their fields in one
        part."""
        self.users = 0
        """The number of requests with deferred fragments that still run."""
        self._dropped = False

    def select(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        """The selection below a field, for objects of one type."""
        if not self.shares:
            return self._below(type_, details)
        key = (type_, *[id(one.node) for one in details])
        if self.defers:
            key += tuple(id(one.defer_usage) for one in details)
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = self._below(type_, details)
        return found

    def _below(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        try:
            begun: list[DeferUsage] | None = [] if self.defers else None
            fields = self.operation.sub_fields(self._flags, type_, details, begun)
        except GraphQLError as error:  # of @skip, @include or @defer
            group = self._fragments.group(details)
            return self._new(type_, {}, error.with_traceback(None), group)
        if begun is not None:
            return self._with_layers(type_, fields, details, begun)
        return self._new(type_, fields)

    def _with_layers(
        self,
        type_: GraphQLObjectType,
        fields: dict[str, list[FieldDetails]],
        above: list[FieldDetails],
        begun: list[DeferUsage],
    ) -> Selection:
        """Returns the selection of the fields that are executed for the same fragments as the field
        above, with the selections of all other fields of the place. `begun` are the deferred
        fragments that begin here."""
        own = self._fragments.group(above) if above else INITIAL
        by_group: dict[Group, dict[str, list[FieldDetails]]] = {own: {}}
        for key, details in fields.items():
            by_group.setdefault(self._fragments.group(details), {})[key] = details
        made = {group: self._new(type_, some, None, group) for group, some in by_group.items()}
        main, known = made.pop(own), self._fragments_of(above)
        if begun or made or any(self._fragments_of(each) != known for each in fields.values()):
            fragments = [self._fragments.of(usage) for usage in begun]
            main.place = Place(main, made, fragments, list(fields), self._fragments_of)
        return main

    def _fragments_of(self, details: Iterable[FieldDetails]) -> set[Fragment | None]:
        """The deferred fragments in which the nodes of a field are; None for a node in none."""
        of = self._fragments.of
        return {None if one.defer_usage is None else of(one.defer_usage) for one in details}

    def _new(
        self,
        type_: GraphQLObjectType,
        fields: dict[str, list[FieldDetails]],
        failure: GraphQLError | None = None,
        group: Group = INITIAL,
    ) -> Selection:
        selection = Selection(self, type_, fields, failure, group)
        self._made.append(selection)
        self._bytes += (len(selection.fields) + 1) * BYTES_A_FIELD
        if self._preparing is None:
            self._charge_taken()
        return selection

    def _charge_taken(self) -> None:
        taken, self._charged = self._bytes - self._charged, self._bytes
        self._charge(taken)

    def source_of(self, field: Field) -> Source:
        return source_of(field)

    def slot_of(self, field: Field) -> Slot:
        stream = None
        if self.defers and len(field.details) == 1:  # a list of several parts comes whole
            stream = stream_of(field.nodes[0], self._flags, partial(self._whole, field))
        return slot_of(field, field.definition.type, stream=stream)

    def _whole(self, field: Field) -> Selection:
        """The selection of a streamed list alone, without @defer and @stream in it."""
        if self._in_one_part is None:
            self._in_one_part = Variant(self.operation, self._flags, self._size, self._charge)
        details = [FieldDetails(node, None) for node in field.nodes]
        return self._in_one_part.alone(field.parent, details)

    def alone(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        """The selection of one field, under the key ITEMS."""
        key = (type_, ITEMS, *[id(one.node) for one in details])
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = self._new(type_, {ITEMS: details})
        return found

    def shape_of(self, selection: Selection) -> Shape:
        return Shape(selection)

    @cached_property
    def steps(self) -> list[Selection]:
        """The root selections, which are executed one after the other: one selection for each root
        field of a mutation, one for a whole query. Raises GraphQLError if the @skip or @include of
        a root field has no value."""
        operation = self.operation
        begun: list[DeferUsage] | None = [] if self.defers else None
        fields = operation.root_fields(self._flags, begun)
        if begun is not None and not operation.serial:
            return [self._with_layers(operation.root, fields, [], begun)]
        if not operation.serial:
            return [self._new(operation.root, fields)]
        return [self._new(operation.root, {key: fields[key]}) for key in fields]

    async def prepare(self, aside: Aside) -> None:
        """Compile all parts in a thread, once for all concurrent requests. Raises Overloaded."""
        preparing = self._preparing
        if preparing is None:
            work = aside.do(self._size, lambda: self._prepare(aside.pause))
            preparing = self._preparing = asyncio.ensure_future(work)
            preparing.add_done_callback(self._end)
        await asyncio.shield(preparing)

    def _end(self, preparing: asyncio.Future[None]) -> None:
        self._preparing = None
        self.unprepared = preparing.cancelled() or preparing.exception() is not None
        self._charge_taken()

    def _prepare(self, pause: Callable[[], None] | None = None) -> None:
        try:
            left = list(self.steps)
        except GraphQLError:
            return  # each request raises it again
        seen = set(left)
        most = 4 * self._size  # below an interface, each possible type has its own selection
        while left and len(self._made) < most:
            selection = left.pop()
            for below in (*compile_parts(selection), *layers_of(selection)):
                if pause is not None:
                    pause()
                if below not in seen:
                    seen.add(below)
                    left.append(below)

    def drop(self) -> None:
        """Forget the variant when no request with deferred fragments uses it any more: a further
        part needs the same selections."""
        self._dropped = True
        if not self.users:
            self.forget()

    def leave(self) -> None:
        """A request with deferred fragments has ended."""
        self.users -= 1
        if self._dropped and not self.users:
            self.forget()

    def forget(self) -> None:
        """Drop all compiled parts, break their reference cycles, and report their bytes as
        freed."""
        self._charge(-self._charged)
        self._bytes = self._charged = 0
        if self._in_one_part is not None:
            self._in_one_part.forget()
            self._in_one_part = None
        for selection in self._made:
            selection.forget()
        self._made.clear()
        self._shared.clear()
        self.__dict__.pop("steps", None)


def layers_of(selection: Selection) -> Iterator[Selection]:
    """Yields the selections of the deferred fields of the same objects."""
    if selection.place is not None:
        yield from selection.place.layers.values()


def compile_parts(selection: Selection) -> Iterator[Selection]:
    """Compile the parts of a selection. Yields the selections directly below it."""
    if selection.failure is not None:
        return
    for field in selection.fields:
        slot: Any = field.slot
        assert field.source is not None
        if isinstance(slot, StreamedListSlot):
            yield slot.stream.whole()
        while isinstance(slot, ListSlot):
            slot = slot.item
        if isinstance(slot, ObjectSlot):
            yield slot.selection(slot.type)
        elif isinstance(slot, AbstractSlot):
            for type_ in field.operation.schema.get_possible_types(slot.type):
                yield slot.selection(type_)
    selection.shape.prepare()
