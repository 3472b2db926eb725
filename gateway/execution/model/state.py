"""The interface of one request's execution: the fields and methods that all parts of the executor
use.

`run.execution.Run` implements it. Sources, completers, tasks and the fast path import this base
class alone, which avoids a circle of imports, and lets compiled code read the fields as C fields.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Task
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from typing import Any, Protocol, TypeAlias

from graphql.execution.values import VariableValues

from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Completer, Field, Selection

Entry: TypeAlias = "tuple[Any, Sequence[Any], Positions | None, Context | None]"
"""An entry of the queue: a Selection and its objects, or a Completer and its values; their response
positions (None for the root); the resolver's context, None for the request's own."""


class Resumable(Protocol):
    """A task, or a load, that the run may hold back until the end of the round."""

    def release(self) -> None:
        """Stop holding it back: the event loop, or the loader, continues it when the awaited value
        arrives."""


class Pending(Protocol):
    """A column of values, some of which are awaited."""

    @property
    def left(self) -> int:
        """The number of values that are still awaited."""

    @property
    def values(self) -> Sequence[Any]:
        """The values that have arrived since the last `flush`."""

    @property
    def tasks(self) -> Sequence[Any]:
        """The tasks that did not end in their first step."""

    def flush(self) -> None:
        """Complete the values that have arrived."""

    def wanted(self, index: int) -> bool:
        """Whether the value with this index still has a position in the response."""

    def null_propagated(self) -> None:
        """Prepare for values without a position: a null was propagated. An attempt of the fast path
        whose objects are only partly left in the response is given up here, and those left are
        executed on the plain path at once."""


Then: TypeAlias = "Callable[[Any, Sequence[Any], Sequence[int] | None], None]"
"""Called with the run, values that have arrived, and the index of each value in its column (None:
the whole column in order)."""


class State:
    """The state of one request's execution."""

    __slots__ = (
        *(
            "resolver_context",
            "context",
            "next_field_context",
            "resolved",
            "serial_chain",
            "deferred_free",
            "dropped",
            "helpers",
            "loads",
        ),
        *(
            "loop",
            "characters",
            "objects_made",
            "nulled",
            "queue",
            "root",
            "sliced",
            "objects_since_rest",
            "unchecked",
            "variables",
        ),
        "cancelled",
        "waiting",
    )

    context: Any
    """The context value that resolvers get."""
    root: Any
    """The root value."""
    variables: Mapping[str, Any]
    """The coerced variables."""
    loop: AbstractEventLoop
    queue: deque[Entry]
    waiting: set[Any]
    """The `Pending` columns."""
    unchecked: list[Any]
    """New `Pending` columns that `check_started` must look at: a null may have removed their
    positions."""
    loads: list[Any]
    """The loads, and the tasks that await a load, that are held back (`hold_back`). At the end of
    the round the run knows whether it can load the batches itself."""
    deferred_free: list[Sequence[Any]]
    """Slices of large lists. They are freed after the response, a few in each turn of the loop."""
    dropped: list[Task[Any]]
    """Tasks whose values are not needed: they are in values without a position in the response, or
    a type was resolved without them. They are cancelled at the end of the request: resolvers of
    other positions may await them."""
    helpers: Any
    """The `async_helpers` of the request's infos; None until the first info is made."""
    resolved: dict[Field, Any] | None
    """After an attempt of the fast path was given up: for each field, the values that its resolver
    gave, or the Pending column of these values. The plain path takes them, and calls no resolver a
    second time. None at all other times."""
    resolver_context: Context | None
    """The context of the resolver whose values are being completed; None for the request's own."""
    next_field_context: Context | None
    """The context for the next root field of a mutation; None for the request's own."""
    serial_chain: bool
    """Whether the current root field of a mutation has awaited one value at a time, each inside the
    object of the value before. graphql-core awaits such a chain in the request's own task, so that
    the next root field sees the context variables that the chain sets."""
    objects_made: int
    """The number of objects made so far."""
    characters: int
    """The number of characters of the texts of these objects. Texts that are JSON already don't
    count."""
    objects_since_rest: int
    """The number of objects made since the clock was last read."""
    sliced: bool
    """Whether a large level was executed in slices."""
    cancelled: bool
    """Whether the request's own task was cancelled while it waited for values."""
    nulled: bool
    """Whether a null was propagated, so that an arriving value may have no position."""

    # -- reports to the run

    def complete_later(
        self,
        what: Selection | Completer,
        values: Sequence[Any],
        positions: Positions | None,
    ) -> None:
        """Queue the objects of a selection, or values for a completer."""
        self.queue.append((what, values, positions, self.resolver_context))

    def count(self, made: int) -> None:
        """Count objects that were made outside the queue."""
        self.objects_made += made
        self.objects_since_rest += made

    def free_later(self, values: Sequence[Any]) -> None:
        """Keep a slice of a large list alive now, and free it after the response."""
        self.deferred_free.append(values)

    def hold_back(self, load: Resumable) -> None:
        """Hold back a load, or a task that awaits a load, until the end of the round."""
        self.loads.append(load)

    def add_pending(self, column: Pending) -> None:
        """Note that values of a column are awaited."""
        self.waiting.add(column)
        if self.nulled:
            self.unchecked.append(column)

    def remove_pending(self, column: Pending) -> None:
        """Note that no value of a column is awaited any more."""
        self.waiting.discard(column)

    def fail(self, positions: Positions, i: int, error: Exception) -> None:
        """Record a field error at a response position."""
        raise NotImplementedError

    def place_root(self, made: dict[str, Any]) -> dict[str, Any]:
        """Add root fields to the response's data, and return the data."""
        raise NotImplementedError

    def has_values(self, waiting: Any) -> None:
        """Note that values of a pending column have arrived: the next round flushes the column."""
        raise NotImplementedError

    def failed_with(self, error: BaseException) -> None:
        """End the request with a BaseException (not an Exception) that a resolver raised."""
        raise NotImplementedError

    def unwanted_ended(self, task: Any) -> None:
        """Note that a task whose value has no position in the response has ended."""
        raise NotImplementedError

    # -- requests to the run

    def alive(self, positions: Positions, i: int) -> bool:
        """Whether a position is still in the response: no null replaced it or a parent of it."""
        raise NotImplementedError

    def variable_values(self) -> VariableValues:
        """The variables as graphql-core's VariableValues, made when first needed."""
        raise NotImplementedError

    def start_awaitables(
        self,
        values: Sequence[Any],
        positions: Positions,
        completer: Completer,
        classes: set[type] | None = None,
    ) -> tuple[Sequence[Any], Sequence[int] | None, set[type] | None]:
        """Start the awaitables of a column. Each is completed when it ends.

        Returns the values that are not awaited, the index of each (None: the whole column), and
        their classes if known; the caller completes these values.
        """
        raise NotImplementedError

    def complete_values(
        self, values: Sequence[Any], positions: Positions, completer: Completer
    ) -> None:
        """Complete values. An awaitable is completed when it ends."""
        raise NotImplementedError

    def when_ready(self, values: Sequence[Any], positions: Positions, then: Then) -> None:
        """Call `then` with the values that are not awaitable, and again whenever awaited values
        have arrived."""
        raise NotImplementedError

    def run_in_context(self, context: Context | None, do: Callable[..., None], *given: Any) -> None:
        """Call a function in a resolver's context. Entries that the function queues keep the
        context. None means the request's own context."""
        raise NotImplementedError

    def extend_chain(self, positions: Positions | None, count: int, i: int = 0) -> None:
        """Note that `count` more values are awaited, the first of them at position `i`: see
        `serial_chain`."""
        raise NotImplementedError

    def restore_task(self) -> None:
        """Make the request's task the event loop's current task again, after resolver tasks ran."""
        raise NotImplementedError

    def take_resolved(self, field: Field, objs: Sequence[Any]) -> Any:
        """Take over the field's values for these objects from an attempt that was given up: a value
        for each object, or the Pending column. None if the attempt did not resolve the field."""
        raise NotImplementedError

    def execute_plain(
        self,
        selection: Selection,
        objs: Sequence[Any],
        positions: Positions,
        resolved: dict[Field, Any],
    ) -> None:
        """Execute the objects of an attempt that was given up on the plain path. `resolved` has the
        values that the attempt's resolvers gave (see the field `resolved`)."""
        raise NotImplementedError

    # -- for large levels

    async def rest(self) -> None:
        """Yield to the event loop if this run has held it for longer than its budget."""
        raise NotImplementedError

    def columns(self) -> list[Any]:
        """All pending columns."""
        raise NotImplementedError

    def null_propagated(self) -> None:
        """Call `null_propagated` of all pending columns."""
        raise NotImplementedError

    def write_failures(self, failures: Sequence[tuple[Positions, int, Exception]]) -> bool:
        """Write failures as errors and nulls. The failures are in response order. Returns whether a
        null was propagated to a parent."""
        raise NotImplementedError

    def discard_unwanted(self, waiting: Sequence[Any]) -> None:
        """Stop waiting for the tasks and loads of these columns whose values have no position any
        more."""
        raise NotImplementedError
