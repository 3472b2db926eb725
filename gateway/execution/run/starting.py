"""Starts the awaitables that resolvers return, and completes all other values.

Takes over the values of attempts of the fast path that were given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context
from types import CoroutineType
from typing import Any

from graphql.pyutils import is_awaitable

from gateway.execution.model.positions import Positions, ranks, some
from gateway.execution.model.selection import Completer, Field, Selection
from gateway.execution.model.state import Then
from gateway.execution.model.value_classes import PLAIN, none_awaited
from gateway.execution.run.base_completer import SLICE, BaseCompleter
from gateway.execution.run.groups import execute_group
from gateway.execution.run.pending import PendingField
from gateway.execution.run.response import Response
from gateway.execution.tasks.current import enter, leave
from gateway.execution.tasks.dropped import drop
from gateway.execution.tasks.pending_column import PendingColumn, completing


class Starting(Response):
    """The part of a run that starts awaitables."""

    __slots__ = ("_latest", "_task")

    def __init__(self) -> None:
        Response.__init__(self)
        self._latest: list[int] = []
        """The ranks (`positions.ranks`) of the latest awaitable of the serial chain."""
        self._task: Any = None
        """The request's own task."""

    def start_awaitables(
        self,
        values: Sequence[Any],
        positions: Positions,
        completer: Completer,
        classes: set[type] | None = None,
    ) -> tuple[Sequence[Any], Sequence[int] | None, set[type] | None]:
        if classes is None:
            classes = set(map(type, values))
        if classes <= PLAIN or (CoroutineType not in classes and none_awaited(classes)):
            return values, None, classes
        return *self._start_each(values, positions, completing(completer, positions), classes), None

    def complete_values(
        self, values: Sequence[Any], positions: Positions, completer: Completer
    ) -> None:
        if len(values) > SLICE:
            self.queue.append((completer, values, positions, self.resolver_context))
            return
        ready, numbers, classes = self.start_awaitables(values, positions, completer)
        if ready:
            at = positions if numbers is None else some(positions, numbers)
            completer.complete(self, ready, at, classes)

    def when_ready(self, values: Sequence[Any], positions: Positions, then: Then) -> None:
        ready, numbers = self._start_each(values, positions, then, set(map(type, values)))
        if ready:
            then(self, ready, numbers)

    def _start_each(
        self, values: Sequence[Any], positions: Positions, then: Then, classes: set[type]
    ) -> tuple[Sequence[Any], Sequence[int] | None]:
        if len(values) > 1 and classes == {CoroutineType}:
            self.serial_chain = False
            waiting = PendingColumn(self, positions, then, len(values))
            waiting.start_all(values)
            self.restore_task()
            return waiting.take_ready()
        some_wait: PendingColumn | None = None
        for i, value in enumerate(values):
            if type(value) is CoroutineType or is_awaitable(value):
                if some_wait is None:
                    some_wait = PendingColumn(self, positions, then, len(values))
                    some_wait.indexes.extend(range(i))
                    some_wait.values.extend(values[:i])
                if self.serial_chain:
                    self.extend_chain(positions, 1, i)
                some_wait.start(i, value)
            elif some_wait is not None:
                some_wait.indexes.append(i)
                some_wait.values.append(value)
        if some_wait is None:
            return values, None
        self.restore_task()
        return some_wait.take_ready()

    def extend_chain(self, positions: Positions | None, count: int, i: int = 0) -> None:
        path, above = ranks(positions, i), self._latest
        self.serial_chain = count == 1 and path[: len(above)] == above
        self._latest = path

    def restore_task(self) -> None:
        if self._task is None:
            leave(self.loop, None)
        else:
            enter(self.loop, self._task)

    def run_in_context(self, context: Context | None, do: Callable[..., None], *given: Any) -> None:
        if context is None:
            do(*given)
            return
        self.resolver_context = context
        try:
            context.run(do, *given)
        finally:
            self.resolver_context = None

    def take_resolved(
        self, field: Field, objs: Sequence[Any]
    ) -> Sequence[Any] | PendingField | PendingColumn | None:
        if self.resolved is None:
            return None
        found = self.resolved.get(field)
        if found is None:
            return None
        if isinstance(found, PendingColumn | PendingField):
            fits = found.is_for(len(objs))
        else:
            fits = len(found) == len(objs)
        return self.resolved.pop(field) if fits else None

    def execute_plain(
        self,
        selection: Selection,
        objs: Sequence[Any],
        positions: Positions,
        resolved: dict[Field, Any],
    ) -> None:
        queue, self.queue, self.resolved = self.queue, deque(), resolved
        try:
            execute_group(self, selection, objs, positions)
            while self.queue:
                entry = below, objs, place_below, _ = self.queue.popleft()
                if len(objs) <= SLICE and not isinstance(below, BaseCompleter):
                    execute_group(self, below, objs, place_below)
                else:
                    queue.append(entry)
        finally:
            self.queue, self.resolved = queue, None
            for values in resolved.values():  # of objects that were replaced since then
                drop(values, self)
