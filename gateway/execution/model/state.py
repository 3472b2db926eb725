"""The state of one request's execution, as all packages use it. `levels.execution.Run` implements
it.

All other modules import this base class alone, which avoids a circle of imports, and lets compiled
code read the fields as C fields.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Task
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from typing import Any, Protocol, TypeAlias

from graphql.execution.values import VariableValues


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


Then: TypeAlias = "Callable[[Any, Sequence[Any], Sequence[int] | None], None]"
"""Called with the run, values that have arrived, and the index of each value in its column (None:
the whole column in order)."""


class State:
    """The state of one request's execution."""

    __slots__ = (
        *("cancelled", "context", "deferral", "dropped", "failures", "garbage"),
        *(
            "latest",
            "loads",
            "loop",
            "next_field_context",
            "nulled",
            "objects_made",
            "objects_since_rest",
            "queue",
        ),
        *("resolver_context", "root", "roots", "serial_chain", "slice", "sliced", "streamed"),
        *("unchecked", "variables", "waiting", "waits"),
    )

    context: Any
    """The context value that resolvers get."""
    root: Any
    """The root value."""
    variables: Mapping[str, Any]
    """The coerced variables."""
    loop: AbstractEventLoop
    queue: deque[Any]
    """New rows of tables (`levels.awaits.NewRows`), and long columns of values (`NewValues`)."""
    roots: list[Any]
    """The table of each step that has begun."""
    failures: Any
    """The errors of the request: a `levels.failures.Failures`."""
    waits: Any
    """The awaited values of the request: a `levels.waits.Waits`."""
    waiting: set[Any]
    """The `Pending` columns."""
    unchecked: list[Any]
    """New `Pending` columns that the end of the round must look at: a null may have removed their
    positions."""
    loads: list[Any]
    """The loads, and the tasks that await a load, that are held back (`hold_back`). At the end of
    the round the run knows whether it can load the batches itself."""
    dropped: list[Task[Any]]
    """Tasks whose values are not needed: they are in values without a position in the response, or
    a type was resolved without them. They are cancelled at the end of the request: resolvers of
    other positions may await them."""
    deferral: Any
    """The deferred fields that are executed (`levels.deferral.Deferral`); None before the initial
    part is complete."""
    streamed: list[tuple[Any, int, int, list[Any]]] | None
    """The items of streamed lists that wait for a later part: the column and the row of the list,
    the index of the first of these items, and their values. None if there are none."""
    garbage: list[list[Any]]
    """Large lists. They are freed after the response, a slice in each turn of the event loop."""
    resolver_context: Context | None
    """The context of the resolver whose values are being completed; None for the request's own."""
    next_field_context: Context | None
    """The context for the next root field of a mutation; None for the request's own."""
    serial_chain: bool
    """Whether the current root field of a mutation has awaited one value at a time, each inside the
    object of the value before. graphql-core awaits such a chain in the request's own task, so that
    the next root field sees the context variables that the chain sets."""
    latest: list[int]
    """The ranks of the latest awaitable of the serial chain."""
    objects_made: int
    """The number of objects made so far."""
    objects_since_rest: int
    """The number of objects made since the clock was last read."""
    slice: int
    """The maximum number of values that are completed at once (`levels.slices.SLICE`)."""
    sliced: bool
    """Whether a large level was executed in slices."""
    cancelled: bool
    """Whether the request's own task was cancelled while it waited for values."""
    nulled: bool
    """Whether a null was propagated, so that an arriving value may have no position."""

    # -- reports to the run

    def count(self, made: int) -> None:
        """Count objects that were made."""
        self.objects_made += made
        self.objects_since_rest += made

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

    def alive(self, positions: Any, i: int) -> bool:
        """Whether a position is still in the response: no null replaced it or a parent of it."""
        raise NotImplementedError

    def variable_values(self) -> VariableValues:
        """The variables as graphql-core's VariableValues, made when first needed."""
        raise NotImplementedError

    def run_in_context(self, context: Context | None, do: Callable[..., None], *given: Any) -> None:
        """Call a function in a resolver's context. Entries that the function queues keep the
        context. None means the request's own context."""
        raise NotImplementedError

    def restore_task(self) -> None:
        """Make the request's task the event loop's current task again, after resolver tasks ran."""
        raise NotImplementedError

    async def rest(self) -> None:
        """Yield to the event loop if this run has held it for longer than its budget."""
        raise NotImplementedError
