"""The plan of a selection: its columns, and how each is resolved and written."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from graphql import GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLOutputType, is_leaf_type

from gateway.execution.encode import dumps
from gateway.execution.levels.leaves import LeafSlot
from gateway.execution.levels.lists import ListSlot, StreamedListSlot
from gateway.execution.levels.objects import AbstractSlot, ObjectSlot
from gateway.execution.levels.slot import Slot
from gateway.execution.levels.sources import Attribute, Bulk, Call, Constant
from gateway.execution.levels.tables import Columns
from gateway.execution.levels.writer import BUILT, json_writer
from gateway.execution.model.fragments import Stream
from gateway.execution.model.selection import Field, Selection

if TYPE_CHECKING:
    from gateway.execution.levels.json_writer import Keys, LeafReader


def slot_of(
    field: Field, type_: GraphQLOutputType, nonnull: bool = False, stream: Stream | None = None
) -> Slot:
    """Returns the slot of a field by its type. `stream` is the @stream of a list."""
    if isinstance(type_, GraphQLNonNull):
        return slot_of(field, type_.of_type, True, stream)
    if isinstance(type_, GraphQLList):
        if stream is not None:
            return StreamedListSlot(field, slot_of(field, type_.of_type), nonnull, stream)
        return ListSlot(field, slot_of(field, type_.of_type), nonnull)
    if is_leaf_type(type_):
        return LeafSlot(field, type_, nonnull)
    if isinstance(type_, GraphQLObjectType):
        return ObjectSlot(field, type_, nonnull)
    return AbstractSlot(field, type_, nonnull)  # type: ignore[arg-type]


class Fetch:
    """A field whose values are not simply read from the objects."""

    __slots__ = ("bulk", "field", "number", "read", "source")

    def __init__(
        self, field: Field, source: Attribute | Call | Bulk, number: int, read: int | None
    ) -> None:
        """`number` is the number of the field's column. `read` is the number of the leaf whose
        values were read before: they may be callable. None for all other fields."""
        self.field, self.source, self.number, self.read = field, source, number, read
        self.bulk = isinstance(source, Bulk)


class Shape(Columns):
    """The columns of a selection's table, in response order: one for each field except constants
    (`__typename`). `keys` are made by `new_keys`."""

    __slots__ = ("_make", "failure", "fetches", "getters", "leaves", "reader")

    selection: Selection

    def __init__(self, selection: Selection) -> None:
        Columns.__init__(self, [], selection)
        self.failure = selection.failure
        self._make: Callable[..., list[dict[str, Any]]] | None = None
        self.getters: list[Callable[[Any], Any]] = []
        """Read the leaves that are attributes of the objects, in response order. All leaves of an
        object are read before the next object's, and before any resolver is called."""
        self.leaves: list[int] = []
        """The column of each of these leaves, unless its values may be callable."""
        self.reader: LeafReader | None = json_writer.LeafReader() if BUILT else None
        """Reads and completes the leaves, if compiled modules are used and no value may be
        callable."""
        self.fetches: list[Fetch] = []
        """All other fields, in response order."""
        for field in selection.fields:
            slot, source = cast(Slot, field.slot), cast(Any, field.source)
            if isinstance(source, Constant):
                continue
            number, read = len(self.slots), None
            self.slots.append(slot)
            if isinstance(slot, LeafSlot) and isinstance(source, Attribute):
                if source.keyed:
                    read = len(self.getters)
                self.getters.append(source.get)
            if isinstance(slot, LeafSlot) and isinstance(source, Attribute) and not source.keyed:
                self.leaves.append(number)
                if self.reader is not None:
                    kind, coerced = slot.kind_of_leaf()
                    self.reader.add(number, source.name, kind, slot.nonnull, coerced)
            else:
                self.fetches.append(Fetch(field, source, number, read))
        if self.leaves and len(self.leaves) < len(self.getters):
            raise AssertionError("strawberry's attributes and graphql-core's in one type")
        if not self.leaves:
            self.reader = None

    def numbers(self) -> dict[str, int]:
        """The number of each field's column, by response name."""
        fields = self.selection.fields
        keys = [field.key for field in fields if not isinstance(field.source, Constant)]
        return {key: number for number, key in enumerate(keys)}

    def prepare(self) -> None:
        """Make what the writer needs, unless it is made."""
        if not BUILT:
            self.make()
        elif self.keys is None:
            self.keys = self.new_keys()

    def new_keys(self) -> Keys:
        """Returns the texts before each column, and after the last, for the compiled writer."""
        before, text = [], b"{"
        for field in self.selection.fields:
            text += (b"" if text[-1:] == b"{" else b",") + dumps(field.key) + b":"
            if isinstance(field.source, Constant):
                text += dumps(field.source.value)
            else:
                before.append(text)
                text = b""
        return json_writer.Keys(before, text + b"}")

    def make(self) -> Callable[..., list[dict[str, Any]]]:
        """Returns the function `make(count, *columns)`, which makes `count` objects:

        def make(count, c0, c1):
            return [{'id': x0, 'name': x1} for x0, x1 in zip(c0, c1)]
        """
        if self._make is None:
            self._make = self._new_make()
        return self._make

    def _new_make(self) -> Callable[..., list[dict[str, Any]]]:
        parts, count = [], 0
        for field in self.selection.fields:
            if isinstance(field.source, Constant):
                value = repr(field.source.value)
            else:
                value = f"x{count}"
                count += 1
            parts.append(f"{field.key!r}: {value}")
        arguments = "".join(f", c{n}" for n in range(count))
        loop = "_ in range(count)"
        if count:
            items = ", ".join(f"x{n}" for n in range(count))
            loop = f"({items},) in zip({arguments[2:]})"
        source = f"def make(count{arguments}):\n    return [{{{', '.join(parts)}}} for {loop}]\n"
        return _shared(source) if len(source) <= SHORT else _made(source)


SHORT = 2_000
"""The maximum length of code, in characters, for which equal selections share a function."""


def _made(source: str) -> Callable[..., list[dict[str, Any]]]:
    env: dict[str, Any] = {}
    exec(compile(source, "<plan>", "exec"), env)
    return env["make"]  # type: ignore[no-any-return]


_shared = lru_cache(1024)(_made)
