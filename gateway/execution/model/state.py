"""The interface of one request's execution: what all parts of the executor may read, write and ask.

`run.execution.Run` does the work. This base class is its interface for sources, completers, tasks
and the fast path, which so need not import it; their compiled code reads its fields as C fields.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from typing import Any, Protocol, TypeAlias

from graphql.execution.values import VariableValues

from gateway.execution.model.positions import Positions
from gateway.execution.model.selection import Completer, Field, Selection

Entry: TypeAlias = "tuple[Any, Sequence[Any], Positions | None, Context | None]"
"""A Selection and its objects, or a Completer and its values; their response positions; the context
to work in, None for the request's own."""


class Resumable(Protocol):
    """A started task, or a load, that the run still holds back."""

    def release(self) -> None:
        """Have the event loop continue it when the awaited value arrives."""


class Pending(Protocol):
    """A column of values of which some are awaited."""

    @property
    def left(self) -> int:
        """The number of awaited values."""

    @property
    def values(self) -> Sequence[Any]:
        """The arrived values that were not taken over yet."""

    @property
    def tasks(self) -> Sequence[Any]:
        """The tasks that were not finished in their first step."""

    def flush(self) -> None:
        """Continue with the arrived values."""

    def wanted(self, index: int) -> bool:
        """Whether the value at an index still has a position in the response."""

    def null_propagated(self) -> None:
        """Continue each value by itself, where only some still have a position."""


Then: TypeAlias = "Callable[[Any, Sequence[Any], Sequence[int] | None], None]"
"""Called with the run, values that arrived, and their numbers (None: all, in order)."""


class State:
    """One request's execution."""

    __slots__ = (
        *(
            "resolver_context",
            "context",
            "next_field_context",
            "resolved",
            "serial_chain",
            "deferred_free",
            "loads",
            "only_task",
        ),
        *(
            "loop",
            "objects_made",
            "nulled",
            "queue",
            "root",
            "sliced",
            "objects_since_rest",
            "variables",
        ),
        "waiting",
    )

    context: Any
    """The request's context, which resolvers are given."""
    root: Any
    """The root value."""
    variables: Mapping[str, Any]
    """The coerced variables."""
    loop: AbstractEventLoop
    queue: deque[Entry]
    waiting: set[Any]
    """The `Pending` columns."""
    loads: list[Any]
    """Loads, and tasks that await one, that the loader was not told of yet: at the round's end the
    run knows whether it can load the batches itself."""
    deferred_free: list[Sequence[Any]]
    """Slices of large lists, freed a few in each turn of the loop."""
    resolved: dict[Field, Any] | None
    """By field: the values or the pending values of an attempt of the fast path that was given up.
    The plain path takes these and calls no resolver a second time."""
    resolver_context: Context | None
    """The context of the resolver whose values are completed; None for the request's own."""
    next_field_context: Context | None
    """The context for the next root fields of a mutation, if it is not the request's own."""
    serial_chain: bool
    """Whether each awaitable of this root field so far was below the one before it. graphql-core
    awaits such a chain in the request's own task: the next root field sees the context variables
    set in it."""
    only_task: Any
    """The only task that waits, as long as it is the only one: its future has no callback yet. Each
    further task adds its callback at once, as asyncio.Task does, since batches of loaders depend
    on that order."""
    objects_made: int
    """Objects made."""
    objects_since_rest: int
    """Objects made since the clock was read."""
    sliced: bool
    """Whether a large level was worked off in slices."""
    nulled: bool
    """Whether a null was propagated, so that an arriving value may have no position any more."""

    # -- what others tell it

    def complete_later(
        self,
        what: Selection | Completer,
        values: Sequence[Any],
        positions: Positions | None,
    ) -> None:
        """Queue the objects of a selection, or values to be completed."""
        self.queue.append((what, values, positions, self.resolver_context))

    def count(self, made: int) -> None:
        """Objects were made outside the queue."""
        self.objects_made += made
        self.objects_since_rest += made

    def free_later(self, values: Sequence[Any]) -> None:
        """Free a slice of a large list after the response, not at once."""
        self.deferred_free.append(values)

    def hold_back(self, load: Resumable) -> None:
        """Keep a load, or a task that awaits one, from its loader until the round's end."""
        self.loads.append(load)

    def keep_only_task(self, task: Resumable) -> None:
        """Keep the only task that waits without a callback, as long as it is the only one."""
        self.only_task = task

    def add_pending(self, column: Pending) -> None:
        """Some values of a column are awaited."""
        self.waiting.add(column)

    def remove_pending(self, column: Pending) -> None:
        """No value of a column is awaited any more."""
        self.waiting.discard(column)

    def fail(self, positions: Positions, i: int, error: Exception) -> None:
        """Record a field error at a response position."""
        raise NotImplementedError

    def place_root(self, made: dict[str, Any]) -> dict[str, Any]:
        """Add root fields to the response's data, and return the data."""
        raise NotImplementedError

    def has_values(self, waiting: Any) -> None:
        """Some values of a pending column have arrived."""
        raise NotImplementedError

    def failed_with(self, error: BaseException) -> None:
        """A resolver raised a BaseException that is no Exception: the request ends with it."""
        raise NotImplementedError

    def unwanted_ended(self) -> None:
        """A cancelled task has ended."""
        raise NotImplementedError

    # -- what others ask of it

    def alive(self, positions: Positions, i: int) -> bool:
        """Whether a response position is still part of the response."""
        raise NotImplementedError

    def variable_values(self) -> VariableValues:
        """The variables as graphql-core has them, with their sources."""
        raise NotImplementedError

    def start_awaitables(
        self,
        values: Sequence[Any],
        positions: Positions,
        completer: Completer,
        classes: set[type] | None = None,
    ) -> tuple[Sequence[Any], Sequence[int] | None, set[type] | None]:
        """Start the awaitables among values. Returns the values that are there at once, their
        numbers (None: all), and their classes if known. The others are completed when they
        arrive."""
        raise NotImplementedError

    def complete_values(
        self, values: Sequence[Any], positions: Positions, completer: Completer
    ) -> None:
        """Complete values, those awaited when they arrive."""
        raise NotImplementedError

    def when_ready(self, values: Sequence[Any], positions: Positions, then: Then) -> None:
        """Call `then` with the values that are there, and again with those that arrive later."""
        raise NotImplementedError

    def run_in_context(self, context: Context | None, do: Callable[..., None], *given: Any) -> None:
        """Call a function, and later whatever follows from it, in a resolver's context."""
        raise NotImplementedError

    def extend_chain(self, positions: Positions | None, count: int, i: int = 0) -> None:
        """More values are awaited, `i` the first one: see `in_line`."""
        raise NotImplementedError

    def release_only_task(self) -> None:
        """Have the loop continue the only task that waits."""
        raise NotImplementedError

    def restore_task(self) -> None:
        """Make the request's task the current one again, after others were."""
        raise NotImplementedError

    def take_resolved(self, field: Field, objs: Sequence[Any]) -> Any:
        """The values that the field's resolver gave for these objects in an attempt that was given
        up, or what waits for them; None if nothing."""
        raise NotImplementedError

    def make_again(
        self,
        selection: Selection,
        objs: Sequence[Any],
        positions: Positions,
        resolved: dict[Field, Any],
    ) -> None:
        """Make the objects of an attempt that was given up level by level."""
        raise NotImplementedError

    # -- for large levels

    async def rest(self) -> None:
        """Give way to the event loop if this run held it for long."""
        raise NotImplementedError

    def columns(self) -> list[Any]:
        """All pending columns."""
        raise NotImplementedError

    def null_propagated(self) -> None:
        """Tell all pending columns that some positions are gone."""
        raise NotImplementedError

    def write_failures(self, failures: Sequence[tuple[Positions, int, Exception]]) -> bool:
        """Turn failures, in response order, into errors and nulls. Returns whether a null was
        propagated."""
        raise NotImplementedError

    def discard_unwanted(self, waiting: Sequence[Any]) -> None:
        """Cancel what has no position in the response any more."""
        raise NotImplementedError
