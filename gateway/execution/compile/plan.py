"""A compiled operation: what all its requests share, and how a request is run."""

from __future__ import annotations

from asyncio import CancelledError
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    execute,
)
from graphql.pyutils import is_awaitable

from gateway.execution.aside import Aside, Overloaded
from gateway.execution.compile.variables import Variables
from gateway.execution.compile.variant import Charge, Variant
from gateway.execution.encode import SMALL, dumps, encode
from gateway.execution.model.operation import NotCompiled, Operation
from gateway.execution.run.execution import Again, Run
from gateway.execution.run.large import SLICES_AT_ONCE, slices, sweep
from gateway.execution.tasks.deadlines import Deadline

VARIANTS = 16
"""How many sets of @skip and @include values an operation keeps compiled."""
BYTES_A_PLAN = 2_000
"""The bytes of a compiled plan without its fields, measured."""

FellBack: TypeAlias = Callable[[], None]
UNSUPPORTED = {
    "a subscription": "subscriptions",
    "@defer": "@defer: leave it out, and the whole answer comes at once",
    "@stream": "@stream: leave it out, and the whole list comes at once",
}
"""Why graphql-core can't run it either: it has several results, and a request has one."""
_MISSING = object()


class Outcome:
    """The outcome of a request.

    `parts` are the data's JSON, several if the data is large. They are None when nothing ran, as
    `started` says: then the variables were refused.
    """

    __slots__ = ("errors", "parts", "started")

    def __init__(
        self, parts: list[bytes] | None, errors: list[GraphQLError], started: bool = True
    ) -> None:
        self.parts, self.errors, self.started = parts, errors, started

    @property
    def data(self) -> bytes | None:
        return None if self.parts is None else b"".join(self.parts)


def free_of_charge(taken: int) -> None:
    """Count no bytes."""


class Plan:
    """One operation of a document."""

    def __init__(
        self,
        schema: GraphQLSchema,
        document: DocumentNode,
        name: str | None,
        *,
        aside: Aside,
        fell_back: FellBack,
        selections: int = 0,
        charge: Charge = free_of_charge,
    ) -> None:
        """Long work is done `aside`; `fell_back` is called when graphql-core runs a request."""
        self._schema, self._document, self._name = schema, document, name
        self._aside, self._fell_back = aside, fell_back
        self.selections, self.charge = selections, charge
        charge(BYTES_A_PLAN)
        self.fallback: str | None = None
        """The reason why graphql-core runs the operation, if it does."""
        self._variants: OrderedDict[tuple[Any, ...], Variant] = OrderedDict()
        self.compiled = 0
        """Selections that were compiled once more, for other values of @skip and @include."""
        try:
            self.operation = Operation(schema, document, name)
            self._conditions = self.operation.conditions
            self.variables = Variables(
                schema, tuple(self.operation.node.variable_definitions or ())
            )
        except NotCompiled as reason:
            self.fallback = str(reason)

    async def run(
        self,
        *,
        context: Any = None,
        variables: dict[str, Any] | None = None,
        root: Any = None,
        again: Again | None = None,
        deadline: Deadline | None = None,
    ) -> Outcome:
        """The operation's outcome; never raises for what a resolver raised, unless that is no
        Exception: a cancelled resolver cancels the request, as under graphql-core.

        `again` is asked whenever a step was run: a query's only one, or a mutation's field. If it
        says so, the step is run once more, and what it gave is forgotten. (Under graphql-core an
        operation is run once.)

        A mutation that `deadline` cancels gives the fields that are done (`Run.cut`); a query gives
        nothing, and stays cancelled.
        """
        inputs = variables or {}
        if self.fallback is not None:
            return await self._fall_back(context, variables, root)
        coerced, values, errors = self.variables.coerce(inputs)
        if errors:
            return Outcome(None, errors, started=False)
        variant = self._variant(coerced)
        if variant is None:
            return await self._fall_back(context, variables, root)
        if variant.unprepared:
            try:
                await variant.prepared(self._aside)
            except Overloaded as overloaded:
                return Outcome(None, [overloaded.error()], started=False)
        in_full = partial(self.variables.in_full, inputs)
        run = Run(variant.steps, context, root, coerced, values, in_full, again)
        try:
            try:
                await run.execute()
                parts = await _encoded(run)
            except CancelledError:
                if deadline is None or not deadline.passed or not self.operation.serial:
                    raise
                run.cut(deadline.seconds)
                parts = await _encoded(run)
        finally:
            if len(run.deferred_free) > SLICES_AT_ONCE:
                run.data = None
                run.deferred_free[:0] = slices(run.errors)  # which others have for some turns, too
                sweep(run.loop, run.deferred_free)
        return Outcome(parts, run.errors)

    def _variant(self, variables: Mapping[str, Any]) -> Variant | None:
        """The variant for these values of @skip and @include; None where they aren't booleans."""
        names = self._conditions
        key = tuple([variables.get(name, _MISSING) for name in names]) if names else ()
        variant = self._variants.get(key)
        return self._new_variant(key) if variant is None else variant

    def _new_variant(self, key: tuple[Any, ...]) -> Variant | None:
        if any(type(value) is not bool for value in key):
            return None
        flags = dict(zip(self._conditions, key, strict=True))
        variant = Variant(self.operation, flags, self.selections, self._charged)
        if self._variants:
            self.compiled += self.selections
        self._variants[key] = variant
        if len(self._variants) > VARIANTS:
            _, dropped = self._variants.popitem(last=False)
            dropped.forget()
        return variant

    def _charged(self, taken: int) -> None:
        self.charge(taken)

    def forget(self) -> None:
        """Drop what was compiled, which refers to itself in cycles. Runs that continue compile it
        again."""
        self.charge = free_of_charge
        for variant in self._variants.values():
            variant.forget()
        self._variants.clear()

    async def _fall_back(
        self, context: Any, variables: dict[str, Any] | None, root: Any
    ) -> Outcome:
        if self.fallback in UNSUPPORTED:
            error = GraphQLError(f"Pinway does not support {UNSUPPORTED[self.fallback]}.")
            return Outcome(None, [error], started=False)
        self._fell_back()
        result = execute(
            self._schema,
            self._document,
            root_value=root,
            context_value=context,
            variable_values=variables,
            operation_name=self._name,
        )
        if is_awaitable(result):
            result = await result
        assert isinstance(result, ExecutionResult)
        errors = result.errors or []
        # graphql-core answers wrong variables with errors without a path, and no data.
        started = result.data is not None or any(error.path for error in errors)
        return Outcome([dumps(result.data)] if started else None, errors, started)


async def _encoded(run: Run) -> list[bytes]:
    return [dumps(run.data)] if run.objects_made <= SMALL else await encode(run.data)
