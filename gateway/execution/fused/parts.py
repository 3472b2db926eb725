"""The fields of a subtree: how the values of a field are fetched (`Read`, `Bulked`), and how they
are checked and put out (`Values`, `One`, `Many`)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from gateway.execution.fused.attempts import Attempt, FieldFetch, FieldOutput, ObjectNode, WriterOf
from gateway.execution.fused.pending_calls import PendingCalls
from gateway.execution.model.selection import Field
from gateway.execution.model.value_classes import PLAIN, all_plain, classes_of
from gateway.execution.run.base_completer import SLICE
from gateway.execution.run.bulk_calls import start
from gateway.execution.run.composites import ObjectCompleter
from gateway.execution.run.leaves import NULL, LeafCompleter
from gateway.execution.run.object_builder import FastPathMiss
from gateway.execution.run.pending import PendingField
from gateway.execution.run.sources import Attribute, Bulk, Call

if TYPE_CHECKING:
    from gateway.execution.fused.json_writer import JsonWriter


class Values(FieldOutput):
    """The output of leaves, or of lists of leaves."""

    __slots__ = ("_leaf", "_listed", "_number")

    def __init__(self, number: int, leaf: LeafCompleter, listed: bool) -> None:
        self._number, self._leaf, self._listed = number, leaf, listed
        self.of_lists = listed

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        if self._listed:
            flat, lengths = flattened(values)
            attempt.columns[self._number] = split(self._usual(flat), lengths)
        else:
            attempt.columns[self._number] = self._usual(values)

    def accepts(self, values: Sequence[Any]) -> bool:
        try:
            self._usual(values)
        except Exception:
            return False
        return True

    def take_part(
        self, attempt: Attempt, values: Sequence[Any], indexes: Sequence[int], total: int
    ) -> None:
        if attempt.columns[self._number] is None:
            attempt.columns[self._number] = [None] * total
        column = attempt.columns[self._number]
        for index, value in zip(indexes, self._usual(values), strict=True):
            column[index] = value

    def add_to(self, writer: JsonWriter, writer_of: WriterOf) -> None:
        writer.column(self._number)

    def _usual(self, values: Sequence[Any]) -> Sequence[Any]:
        return self._leaf.usual(values, classes_of(values))


class Composed(FieldOutput):
    """The output of objects of one type."""

    __slots__ = ("_completer", "_is_of", "_number", "node")

    def __init__(self, number: int, completer: ObjectCompleter, node: ObjectNode) -> None:
        self._number, self._completer, self.node = number, completer, node
        self._is_of = None if completer.any_class else completer.is_of

    def complete_objects(self, attempt: Attempt, objs: Sequence[Any], classes: set[type]) -> None:
        """Fetch the fields of these objects. `classes` are their classes. Raises FastPathMiss if an
        object is unusual."""
        if not self.are_usual(objs, classes):
            raise FastPathMiss
        if objs:
            attempt.execute_selection(self.node, objs)

    def are_usual(self, objs: Sequence[Any], classes: set[type]) -> bool:
        """Whether all objects are of the type, and none is awaitable or an exception. `classes` are
        their classes."""
        return (classes <= PLAIN or all_plain(classes)) and (
            self._is_of is None or self._is_of(objs)
        )


class One(Composed):
    """The output of an object or null. If some values are null, the column has the number of each
    object among all objects, and None for each null."""

    __slots__ = ()

    def __init__(self, number: int, completer: ObjectCompleter, node: ObjectNode) -> None:
        Composed.__init__(self, number, completer, node)
        self.of_lists = False

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        classes = classes_of(values)
        if NULL in classes:
            if self._completer.nonnull:
                raise FastPathMiss
            numbers = count()
            attempt.columns[self._number] = [
                None if value is None else next(numbers) for value in values
            ]
            classes.discard(NULL)
            values = [value for value in values if value is not None]
        self.complete_objects(attempt, values, classes)

    def accepts(self, values: Sequence[Any]) -> bool:
        classes = classes_of(values)
        if NULL in classes:
            if self._completer.nonnull:
                return False
            classes.discard(NULL)
            values = [value for value in values if value is not None]
        return self.are_usual(values, classes)

    def take_part(
        self, attempt: Attempt, values: Sequence[Any], indexes: Sequence[int], total: int
    ) -> None:
        column = attempt.columns[self._number]
        if column is None:
            attempt.columns[self._number] = column = [None] * total
        number = total - column.count(None)
        objs = []
        for index, value in zip(indexes, values, strict=True):
            if value is not None:
                column[index] = number
                number += 1
                objs.append(value)
        if objs:
            attempt.execute_selection(self.node, objs)

    def add_to(self, writer: JsonWriter, writer_of: WriterOf) -> None:
        writer.one(writer_of(self.node), self._number)


class Many(Composed):
    """The output of a list of objects. The column has the length of each list."""

    __slots__ = ()

    def __init__(self, number: int, completer: ObjectCompleter, node: ObjectNode) -> None:
        Composed.__init__(self, number, completer, node)
        self.of_lists = True

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        flat, lengths = flattened(values)
        attempt.columns[self._number] = lengths
        self.complete_objects(attempt, flat, classes_of(flat))

    def add_to(self, writer: JsonWriter, writer_of: WriterOf) -> None:
        writer.many(writer_of(self.node), self._number)


class Read(FieldFetch):
    """Fetches a field that is an attribute, or that a function resolves for each object."""

    __slots__ = ("_source",)

    def __init__(self, field: Field, output: FieldOutput, source: Attribute | Call) -> None:
        FieldFetch.__init__(self, field, output)
        self._source = source
        self.in_parts = not output.of_lists and not (
            isinstance(output, Composed) and output.node.fetches
        )

    def resolve(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        values: Sequence[Any] = self._source.start(attempt.run, self.field, objs, None)
        if type(values[0]) is CoroutineType and classes_of(values) == {CoroutineType}:
            waiting = PendingCalls(attempt, self, values)
            if waiting.still_waits():
                attempt.resolved[self.field] = waiting
                attempt.waits += 1
                return
            values = waiting.values
        attempt.take(self, values)


class Bulked(FieldFetch):
    """Fetches a field that a bulk resolver resolves."""

    __slots__ = ("_source",)

    def __init__(self, field: Field, output: FieldOutput, source: Bulk) -> None:
        FieldFetch.__init__(self, field, output)
        self._source = source

    def resolve(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        found = start(attempt.run, self.field, self._source, objs, None)
        if isinstance(found, PendingField):
            attempt.resolved[self.field] = pending = found
            pending.attempt, pending.fetch = attempt, self
            attempt.waits += 1
        else:
            attempt.take(self, found)


def flattened(lists: Sequence[Any]) -> tuple[Sequence[Any], list[int]]:
    """Returns the items of all lists, one list after the other, and the length of each list.
    Raises FastPathMiss if a value is not a list, or if there are more than SLICE items."""
    if len(lists) == 1:
        (only,) = lists
        if type(only) is not list or len(only) > SLICE:
            raise FastPathMiss
        return only, [len(only)]
    if classes_of(lists) != {list}:
        raise FastPathMiss
    lengths = list(map(len, lists))
    if sum(lengths) > SLICE:
        raise FastPathMiss
    return [item for items in lists for item in items], lengths


def split(items: Sequence[Any], lengths: list[int]) -> list[Any]:
    """Splits items into lists of these lengths."""
    if len(lengths) == 1:
        return [list(items)]
    rest = iter(items)
    return [[next(rest) for _ in range(length)] for length in lengths]
