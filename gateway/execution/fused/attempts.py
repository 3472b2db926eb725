"""An attempt of the fast path: executes a selection and everything below it for some objects.

The fast path has response positions only for the objects at its top, and can't report an error. If
a value needs that (it is an exception, a null of a non-null type, or of an unusual class), the
attempt is given up: the plain path executes the same objects level by level. The plain path takes
over the values of the attempt's resolvers, including values that are still awaited, and calls no
resolver a second time.
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
"""After too many attempts of a subtree were given up, this number of calls go to the plain path
without an attempt."""


class ObjectNode:
    """A selection of a subtree: how its objects' fields are fetched and written."""

    __slots__ = ("fetches", "leaves", "number", "outputs", "selection", "writer")

    def __init__(self, selection: Selection, number: int) -> None:
        self.selection, self.number = selection, number
        self.fetches: list[FieldFetch] = []
        """The fields whose values are fetched before the objects are written, in response order."""
        self.outputs: dict[Field, FieldOutput] = {}
        """The output of each of these fields."""
        self.leaves: list[Field] = []
        """The leaves that are attributes of the objects, in response order."""
        self.writer: JsonWriter
        """Reads the leaves, and writes the objects as JSON."""


class FieldOutput:
    """The output of one field: takes its values for all objects of a node, and adds them to the
    JSON."""

    __slots__ = ("of_lists",)

    of_lists: bool
    """Whether each value is a list."""

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        """Take a value for each object. Raises an Exception if a value is unusual."""
        raise NotImplementedError

    def accepts(self, values: Sequence[Any]) -> bool:
        """Whether these values are usual: no error, and of the expected class. Does not check the
        leaves of objects."""
        raise NotImplementedError

    def take_part(
        self, attempt: Attempt, values: Sequence[Any], indexes: Sequence[int], total: int
    ) -> None:
        """Take some of `total` values: accepted values that arrived before the other values.
        `indexes` is parallel to `values`. Raises an Exception if a leaf is unusual."""
        raise NotImplementedError

    def add_to(self, writer: JsonWriter, writer_of: WriterOf) -> None:
        """Add the field to the writer of its objects."""
        raise NotImplementedError


class FieldFetch:
    """Fetches the values of one field for all objects of a node."""

    __slots__ = ("field", "in_parts", "output")

    def __init__(self, field: Field, output: FieldOutput) -> None:
        self.field, self.output = field, output
        self.in_parts = False
        """Whether the output takes values in the parts in which they arrive. Values with fields to
        be fetched below arrive all together instead."""

    def resolve(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        """Fetch the values for these objects. The attempt takes them now, or when they arrive."""
        raise NotImplementedError


class Subtree:
    """The fast path of a selection and everything below it."""

    def __init__(self, nodes: list[ObjectNode], size: int) -> None:
        """`size` is the number of columns."""
        self.nodes, self.root, self.size = nodes, nodes[0], size
        self.tried = self.failed = self._passed = 0

    def __call__(self, run: State, objs: Sequence[Any], positions: Positions) -> bool:
        """Execute the selection for these objects, with everything below it. Returns False if no
        attempt was made. `positions` is parallel to `objs`."""
        if not self.promising():
            return False
        Attempt(run, self, objs, positions).execute()
        return True

    def promising(self) -> bool:
        """Whether to make an attempt. False for a while after too many attempts were given up."""
        if self.failed < 8 or self.failed * 4 < self.tried:
            return True
        self._passed += 1
        if self._passed == PASSED:
            self.tried = self.failed = self._passed = 0
        return False

    def write(self, columns: list[Any]) -> Sequence[Any]:
        """Returns the objects as JSON, parallel to the attempt's objects. Raises an Exception if a
        value is unusual."""
        return self.root.writer.write(columns)

    def give_up(self) -> None:
        """Count an attempt that was given up."""
        self.failed += 1


class Attempt(FieldReceiver):
    """One attempt, for the objects of one group."""

    __slots__ = (
        *("_resolver_context", "_count", "_objs", "_over"),
        *("columns", "resolved", "positions", "run", "subtree", "waits"),
    )

    def __init__(
        self, run: State, subtree: Subtree, objs: Sequence[Any], positions: Positions
    ) -> None:
        self.run, self.subtree, self._objs, self.positions = run, subtree, objs, positions
        self.columns: list[Any] = [None] * subtree.size
        """The Leaves of each node, and the column of each fetched field, by number."""
        self.resolved: dict[Field, Any] = {}
        """The values of each fetched field, or the Pending column of its values."""
        self.waits = 0
        """The number of fields whose values are awaited."""
        self._count = 0
        """The number of objects so far."""
        self._resolver_context = self.run.resolver_context
        self._over = False

    def execute(self) -> None:
        """Execute the selection for the objects, as far as no awaited value is needed."""
        self.subtree.tried += 1
        try:
            self.execute_selection(self.subtree.root, self._objs)
            self._finish_if_complete()
        except Exception:
            self._give_up()

    def execute_selection(self, node: ObjectNode, objs: Sequence[Any]) -> None:
        """Read the leaves of a node's objects, then fetch their other fields. Raises an Exception
        if a value is unusual."""
        leaves: Leaves = node.writer.read(objs, self.columns[node.number])
        self.columns[node.number] = leaves
        self._count += len(objs)
        self.run.objects_since_rest += len(objs)
        if not leaves.usual:
            raise FastPathMiss
        for fetch in node.fetches:
            fetch.resolve(self, objs)

    def take(self, fetch: FieldFetch, values: Sequence[Any]) -> None:
        """Take a field's values. Lists are copied: a resolver may change its list while other
        fields are awaited, and the plain path reads the lists if the attempt is given up."""
        if fetch.output.of_lists:
            values = [value[:] if type(value) is list else value for value in values]
        self.resolved[fetch.field] = values
        fetch.output.take(self, values)

    def arrived(self, fetch: FieldFetch, values: Sequence[Any]) -> None:
        """Take the values of a field, which have arrived."""
        if self._over:
            drop(values, self.run)
            return
        self.waits -= 1
        try:
            self.take(fetch, values)
            self._finish_if_complete()
        except Exception:
            self._give_up()

    def take_part(
        self, fetch: FieldFetch, values: Sequence[Any], indexes: Sequence[int], total: int
    ) -> None:
        """Take some of a field's awaited values, before its other values arrive."""
        if self._over:
            drop(values, self.run)
            return
        try:
            fetch.output.take_part(self, values, indexes, total)
        except Exception:
            self._give_up()

    def all_parts_taken(self) -> None:
        """Stop waiting for a field: all its values were taken in parts."""
        if self._over:
            return
        self.waits -= 1
        try:
            self._finish_if_complete()
        except Exception:
            self._give_up()

    def wanted(self) -> bool:
        """Whether any of the attempt's objects is still in the response."""
        return True in self._alive()

    def null_propagated(self) -> None:
        """Give the attempt up if only some objects are still in the response, so that the
        awaitables of all other objects end."""
        alive = self._alive()
        if True in alive and False in alive:
            self.run.run_in_context(self._resolver_context, self.give_up)

    def _alive(self) -> list[bool]:
        """For each object, whether it is still in the response."""
        return [self.run.alive(self.positions, i) for i in range(len(self._objs))]

    def _finish_if_complete(self) -> None:
        """Write the objects, unless values are still awaited."""
        if not self.waits:
            self._finish()

    def _finish(self) -> None:
        made = self.subtree.write(self.columns)
        self._over = True
        self.positions.put_all(made)
        self.run.count(self._count - len(made))

    def give_up(self) -> None:
        """Give the attempt up, unless it is over: the plain path executes the objects."""
        if not self._over:
            self._give_up()

    def _give_up(self) -> None:
        self._over = True
        self.subtree.give_up()
        for node in self.subtree.nodes:
            leaves: Leaves | None = self.columns[node.number]
            if leaves is not None:
                self.resolved.update(zip(node.leaves, leaves.columns(), strict=True))
        self.run.execute_plain(
            self.subtree.root.selection, self._objs, self.positions, self.resolved
        )
