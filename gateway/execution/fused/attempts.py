"""An attempt to make a selection and everything below it for some objects, on the fast path.

The fast path has no response positions and no way to report an error. If a value needs either (it
is an error, a null that is not allowed, or of an unusual class), the attempt is given up: the plain
path makes the objects level by level. It takes what the resolvers gave, or are about to give, and
calls none of them a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Field, Selection
from gateway.execution.model.state import State
from gateway.execution.run.object_builder import FastPathMiss
from gateway.execution.run.pending import FieldReceiver
from gateway.execution.tasks.dropped import drop

if TYPE_CHECKING:
    from gateway.execution.fused.json_writer import JsonWriter, Leaves

WriterOf: TypeAlias = "Callable[[ObjectNode], JsonWriter]"
PASSED = 256
"""Calls for which a subtree makes no attempt after too many of its attempts were given up."""


class ObjectNode:
    """The objects of one type at one place of a subtree: a node of the tree of objects."""

    __slots__ = ("fetches", "leaves", "number", "outputs", "selection", "writer")

    def __init__(self, selection: Selection, number: int) -> None:
        self.selection, self.number = selection, number
        self.fetches: list[FieldFetch] = []
        """The fields whose values are fetched before the objects are written, in response order."""
        self.outputs: dict[Field, FieldOutput] = {}
        """The outputs of these fields."""
        self.leaves: list[Field] = []
        """The fields that are read from the objects, in response order."""
        self.writer: JsonWriter
        """Writes its objects."""


class FieldOutput:
    """The output of a field's values, for all objects of a node."""

    __slots__ = ("of_lists",)

    of_lists: bool
    """Whether each value is a list."""

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        """Take the values, which have arrived. Raises an Exception where a value is unusual."""
        raise NotImplementedError

    def accepts(self, values: Sequence[Any]) -> bool:
        """Whether some values, by themselves, are usual. Their leaves are not read yet."""
        raise NotImplementedError

    def take_part(
        self, attempt: Attempt, values: Sequence[Any], indexes: Sequence[int], total: int
    ) -> None:
        """Take accepted values that arrived before the others, with their indexes among all.
        Raises an Exception where a leaf is unusual."""
        raise NotImplementedError

    def add_to(self, writer: JsonWriter, writer_of: WriterOf) -> None:
        """Add the field to its objects' writer."""
        raise NotImplementedError


class FieldFetch:
    """A field whose values are fetched, for all objects of a node."""

    __slots__ = ("can_wait", "field", "in_parts", "output")

    def __init__(self, field: Field, output: FieldOutput) -> None:
        self.field, self.output = field, output
        self.in_parts = False
        """Whether values may be taken before the others arrive. No fields below wait for them."""
        self.can_wait = False
        """Whether no value can have more to be awaited, nor null an object above."""

    def ask(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        """Fetch the values for these objects. They are taken now, or when they arrive."""
        raise NotImplementedError


class Subtree:
    """The fast path of a selection and everything below it."""

    def __init__(self, nodes: list[ObjectNode], size: int) -> None:
        """`size` is the number of columns."""
        self.nodes, self.root, self.size = nodes, nodes[0], size
        self.tried = self.failed = self._passed = 0

    def __call__(self, run: State, objs: Sequence[Any], positions: Positions) -> bool:
        """Take over these objects with everything below them. Returns whether that was done."""
        if not self.promising():
            return False
        Attempt(run, self, objs, positions).begin()
        return True

    def promising(self) -> bool:
        """Whether an attempt is worth it: for a while it isn't after many were given up."""
        if self.failed < 8 or self.failed * 4 < self.tried:
            return True
        self._passed += 1
        if self._passed == PASSED:
            self.tried = self.failed = self._passed = 0
        return False

    def write(self, columns: list[Any]) -> Sequence[Any]:
        """The objects as JSON, from an attempt's columns. Raises an Exception where a value is
        unusual."""
        return self.root.writer.write(columns)

    def give_up(self) -> None:
        """An attempt was given up."""
        self.failed += 1


class Attempt(FieldReceiver):
    """One attempt, for the objects of one group."""

    __slots__ = (
        *("_resolver_context", "_count", "_objs", "_over"),
        *("columns", "given", "positions", "run", "subtree", "waits"),
    )

    def __init__(
        self, run: State, subtree: Subtree, objs: Sequence[Any], positions: Positions
    ) -> None:
        self.run, self.subtree, self._objs, self.positions = run, subtree, objs, positions
        self.columns: list[Any] = [None] * subtree.size
        """The Leaves of each node, and a column of each fetched field."""
        self.given: dict[Field, Any] = {}
        """By field: the values its resolver gave, or what waits for them."""
        self.waits = 0
        """The number of fields whose values are awaited."""
        self._count = 0
        """The number of objects found."""
        self._resolver_context = self.run.resolver_context
        self._over = False

    def begin(self) -> None:
        self.subtree.tried += 1
        try:
            self.ask(self.subtree.root, self._objs)
            self._go_on()
        except Exception:
            self._give_up()

    def ask(self, node: ObjectNode, objs: Sequence[Any]) -> None:
        """Read the leaves of these objects, then fetch all other fields. Raises an Exception where
        a value is unusual."""
        leaves: Leaves = node.writer.read(objs, self.columns[node.number])
        self.columns[node.number] = leaves
        self._count += len(objs)
        self.run.objects_since_rest += len(objs)
        if not leaves.usual:
            raise FastPathMiss
        for fetch in node.fetches:
            fetch.ask(self, objs)

    def take(self, fetch: FieldFetch, values: Sequence[Any]) -> None:
        """Take a field's values. Lists are copied: their owner may change them while other fields
        are awaited, and the plain path reads them if the attempt is given up."""
        if fetch.output.of_lists:
            values = [value[:] if type(value) is list else value for value in values]
        self.given[fetch.field] = values
        fetch.output.take(self, values)

    def arrived(self, fetch: FieldFetch, values: Sequence[Any]) -> None:
        """Take a field's awaited values."""
        if self._over:
            drop(values)
            return
        self.waits -= 1
        try:
            self.take(fetch, values)
            self._go_on()
        except Exception:
            self._give_up()

    def take_part(
        self, fetch: FieldFetch, values: Sequence[Any], indexes: Sequence[int], total: int
    ) -> None:
        """Take some of a field's awaited values, before the others arrive."""
        if self._over:
            drop(values)
            return
        try:
            fetch.output.take_part(self, values, indexes, total)
        except Exception:
            self._give_up()

    def all_parts_taken(self) -> None:
        """All values of a field were taken."""
        if not self._over:
            self.waits -= 1
            self._go_on()

    def wanted(self) -> bool:
        """Return True if an object is still part of the response."""
        return True in self._alive()

    def null_propagated(self) -> None:
        """Give the attempt up where only some objects are still part of the response, so that the
        other objects' awaitables can end."""
        alive = self._alive()
        if True in alive and False in alive:
            self.run.run_in_context(self._resolver_context, self.give_up)

    def _alive(self) -> list[bool]:
        """Tell for each object whether it is still part of the response."""
        return [self.run.alive(self.positions, i) for i in range(len(self._objs))]

    def _go_on(self) -> None:
        if not self.waits:
            self._finish()

    def _finish(self) -> None:
        made = self.subtree.write(self.columns)
        self._over = True
        self.positions.put_all(made)
        self.run.count(self._count - len(made))

    def give_up(self) -> None:
        """Give the attempt up: the plain path makes the objects."""
        if not self._over:
            self._give_up()

    def _give_up(self) -> None:
        self._over = True
        self.subtree.give_up()
        for node in self.subtree.nodes:
            leaves: Leaves | None = self.columns[node.number]
            if leaves is not None:
                self.given.update(zip(node.leaves, leaves.columns(), strict=True))
        self.run.make_again(self.subtree.root.selection, self._objs, self.positions, self.given)
