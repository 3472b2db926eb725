"""The reference: graphql-core, and the sets of errors that it could report with another timing.

The data does not depend on timing, and neither do errors that make no parent null. If errors make a
parent null, graphql-core reports the first of them in time. It also reports other errors below that
parent that occurred earlier.

To find all errors that an operation can have, the oracle runs the operation again without null
propagation (graphql-core's `@experimental_disableErrorPropagation`). The *place* of an error is the
position that it makes null: the nearest nullable position, or the whole response. A set of errors
is possible, with some timing of the resolvers, if

1. each error is an error of the operation and occurs at most once, and no two errors have the same
   place;
2. each place that is not below another place has exactly one error.

The root fields of a mutation run one after the other. If one of them makes the response null, the
fields after it do not run, and have no errors.

A resolver that waits forever, in a run that ended, was cancelled because of an error beside it.
Without null propagation, nothing cancels the resolver. It raises GaveUp instead, which does not
count as an error.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import orjson
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    execute,
    is_non_null_type,
)
from graphql.execution import Executor
from graphql.execution.executor import CollectedErrors

from gateway.execution.model.lines import LOCATIONS
from tests.execution.behavior import GaveUp

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an execution, of either engine. `data` is None if the response has no data, or
    null."""

    data: bytes | None
    errors: list[GraphQLError]
    started: bool


class SpelledOut(bytes):
    """Data that orjson refuses, as the standard library writes it: the same to a client, but not
    the same bytes."""

    __slots__ = ()


def encoded(data: Any) -> bytes:
    try:
        return orjson.dumps(data)
    except TypeError:
        return SpelledOut(json.dumps(_without_infinity(data)).encode())


def _without_infinity(data: Any) -> Any:
    """The data with null for floats that JSON can't have, as orjson writes them."""
    if isinstance(data, dict):
        return {key: _without_infinity(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_without_infinity(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data


class ReferencePlan:
    """graphql-core with the interface of the engine's `Plan`."""

    fallback: str | None = None

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, name: str | None) -> None:
        self._schema, self._document, self._name = schema, document, name

    async def run(
        self, *, context: Any = None, variables: dict[str, Any] | None = None, root: Any = None
    ) -> Outcome:
        result = execute(
            self._schema,
            self._document,
            root_value=root,
            context_value=context,
            variable_values=variables,
            operation_name=self._name,
        )
        if not isinstance(result, ExecutionResult):
            result = await result
        errors = list(result.errors or ())
        started = result.data is not None or any(error.path is not None for error in errors)
        return Outcome(None if result.data is None else encoded(result.data), errors, started)


class ReferenceEngine:
    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema

    def compile(self, document: DocumentNode, operation_name: str | None = None) -> ReferencePlan:
        return ReferencePlan(self._schema, document, operation_name)


def identity(error: GraphQLError) -> Hashable:
    """Returns the parts of an error that both executors must agree in. The engine gives the first
    ten locations."""
    formatted = error.formatted
    extensions = formatted.get("extensions")
    return (
        error.message,
        tuple(error.path) if error.path is not None else None,
        tuple(
            (place["line"], place["column"])
            for place in (formatted.get("locations") or ())[:LOCATIONS]
        ),
        repr(sorted(extensions.items())) if extensions else None,
        type(error.original_error).__name__,
    )


@dataclass(slots=True)
class Possible:
    """All errors that an operation can have. `places` has the place of each error, by identity.
    `order` has the response names of the root fields."""

    places: dict[Hashable, Place] = field(default_factory=dict)
    serial: bool = False
    order: list[str | int] = field(default_factory=list)

    def complaint(self, errors: list[GraphQLError]) -> str:
        """Returns the reason why graphql-core can't report these errors, or an empty string."""
        found = Counter(map(identity, errors))
        known = dict(self.places)
        if self.serial:
            fatal = {i[1][0] for i, place in known.items() if place == () and i[1]}  # type: ignore[index]
            stops = [index for index, name in enumerate(self.order) if name in fatal]
            if stops:
                ran = set(self.order[: stops[0] + 1])
                known = {i: place for i, place in known.items() if i[1][0] in ran}  # type: ignore[index]
        by_place: dict[Place, list[Hashable]] = {}
        for error, count in found.items():
            if error not in known:
                return f"no error of this operation: {error}"
            if count > 1:
                return f"reported {count} times: {error}"
            by_place.setdefault(known[error], []).append(error)
        for place, there in by_place.items():
            if len(there) > 1:
                return f"several errors null {list(place)}: {there}"
        places = set(known.values())
        for place in places:
            above = any(place[:n] in places for n in range(len(place)))
            if not above and place not in by_place:
                candidates = [error for error, where in known.items() if where == place]
                return f"nothing says why {list(place)} is null; one of {candidates}"
        return ""


class _All(CollectedErrors):
    """Collects all errors, including errors below a list that failed later."""

    __slots__ = ()

    def has_nulled_position(self, start_path: Any) -> bool:
        return False


class _Unpropagated(Executor):
    """Executes without null propagation, and records the non-null positions in `required`."""

    latest: "_Unpropagated"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.error_propagation = False
        self.collected_errors = _All()
        self.required: set[Place] = set()
        self.order: list[str | int] = []
        _Unpropagated.latest = self

    def execute_field(
        self, parent_type: Any, source: Any, details: Any, path: Any, context: Any
    ) -> Any:
        definition = self.schema.get_field(parent_type, details[0].node.name.value)
        if definition and is_non_null_type(definition.type):
            self.required.add(tuple(path.as_list()))
        if path.prev is None:
            self.order.append(path.key)
        return super().execute_field(parent_type, source, details, path, context)

    def complete_list_item_value(
        self, item: Any, results: Any, type_: Any, details: Any, info: Any, path: Any, context: Any
    ) -> bool:
        if is_non_null_type(type_):
            self.required.add(tuple(path.as_list()))
        return super().complete_list_item_value(item, results, type_, details, info, path, context)

    async def complete_awaitable_list_item_value(
        self, item: Any, type_: Any, details: Any, info: Any, path: Any, context: Any
    ) -> Any:
        if is_non_null_type(type_):
            self.required.add(tuple(path.as_list()))
        return await super().complete_awaitable_list_item_value(
            item, type_, details, info, path, context
        )


async def possible_errors(
    schema: GraphQLSchema,
    document: DocumentNode,
    name: str | None,
    variables: dict[str, Any] | None,
    context: Any,
    root: Any,
) -> Possible:
    """Run an operation without null propagation, until the event loop has nothing more to do.
    Returns its errors."""

    async def run() -> None:
        result = execute(
            schema,
            document,
            root_value=root,
            context_value=context,
            variable_values=variables,
            operation_name=name,
            executor_class=_Unpropagated,
        )
        if not isinstance(result, ExecutionResult):
            await result

    task = asyncio.ensure_future(run())
    await idle(task)
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    while ready:  # noqa: ASYNC110 - graphql-core ends tasks in the background
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    executor = _Unpropagated.latest
    operation = executor.operation
    assert isinstance(operation, OperationDefinitionNode)
    possible = Possible(serial=operation.operation is OperationType.MUTATION, order=executor.order)
    for error in executor.collected_errors.errors:
        if isinstance(error.original_error, GaveUp):
            continue
        place = tuple(error.path or ())
        while place in executor.required:
            place = place[:-1]
        possible.places[identity(error)] = place
    return possible


async def idle(task: "asyncio.Task[Any]") -> None:
    """Wait until the task is done, or the event loop has nothing more to do."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    while not task.done():
        await asyncio.sleep(0)
        if not ready:
            return
