"""An operation compiled: what is the same for all its requests, and how one is run."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    execute,
)
from graphql.execution.collect_fields import FieldDetails
from graphql.pyutils import is_awaitable

from gateway.execution.aside import Aside, Overloaded
from gateway.execution.collect import NotCompiled, Operation, Selection
from gateway.execution.encode import SMALL, dumps, encode
from gateway.execution.large import BULK, slices, sweep
from gateway.execution.run import Again, Run
from gateway.execution.variables import Variables

if TYPE_CHECKING:
    from gateway.execution.deadlines import Deadline
    from gateway.execution.engine import Engine

VARIANTS = 16
"""How many sets of @skip and @include values an operation keeps compiled."""
LARGE = 250
"""Selections from which an operation is compiled beside the event loop, and from which paths share
what is the same below them. Compiling as many takes 10 to 20 ms."""
BYTES_A_PLAN = 2_000
BYTES_A_FIELD = 2_500
"""Of a compiled plan, measured: what is known of a field, and its part of the generated code."""

Charge: TypeAlias = Callable[[int], None]
UNSUPPORTED = {
    "a subscription": "subscriptions",
    "@defer": "@defer: leave it out, and the whole answer comes at once",
    "@stream": "@stream: leave it out, and the whole list comes at once",
}
"""Why graphql-core can't run it either: it has several results, and a request has one."""
_MISSING = object()


class Outcome:
    """What a request got.

    `parts` are the data's JSON, several if it is large; None when nothing ran, as `started` says:
    then the variables were refused.
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
    """Where nobody keeps count of the bytes."""


class Plan:
    """One operation of a document."""

    def __init__(
        self,
        engine: Engine,
        schema: GraphQLSchema,
        document: DocumentNode,
        name: str | None,
        selections: int,
        charge: Charge,
    ) -> None:
        self._engine, self._schema, self._document, self._name = engine, schema, document, name
        self.selections, self.charge = selections, charge
        charge(BYTES_A_PLAN)
        self.fallback: str | None = None
        """Why graphql-core runs it, if so."""
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
                await variant.prepared(self._engine.aside)
            except Overloaded as overloaded:
                return Outcome(None, [overloaded.error()], started=False)
        run = Run(variant, context, root, coerced, values, inputs, again)
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
            if len(run.litter) > BULK:
                run.data = None
                run.litter[:0] = slices(run.errors)  # which others have for some turns, too
                sweep(run.loop, run.litter)
        return Outcome(parts, run.errors)

    def _variant(self, variables: Mapping[str, Any]) -> Variant | None:
        """What these values of @skip and @include select; None where they aren't booleans."""
        names = self._conditions
        key = tuple([variables.get(name, _MISSING) for name in names]) if names else ()
        variant = self._variants.get(key)
        return self._new_variant(key) if variant is None else variant

    def _new_variant(self, key: tuple[Any, ...]) -> Variant | None:
        if any(type(value) is not bool for value in key):
            return None
        variant = Variant(self, dict(zip(self._conditions, key, strict=True)))
        if self._variants:
            self.compiled += self.selections
        self._variants[key] = variant
        if len(self._variants) > VARIANTS:
            _, dropped = self._variants.popitem(last=False)
            dropped.forget()
        return variant

    def forget(self) -> None:
        """Let go of what was compiled, which is in cycles; runs that go on compile it again."""
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
        self._engine.fallbacks += 1
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
    return [dumps(run.data)] if run.made <= SMALL else await encode(run.data)


class Variant:
    """A plan for one set of the variables in @skip and @include."""

    def __init__(self, plan: Plan, flags: dict[str, bool]) -> None:
        self.plan, self.flags = plan, flags
        self.shares = self.unprepared = plan.selections > LARGE
        """Whether paths share the selections that are the same; whether the loop would be held up
        by compiling it."""
        self._preparing: asyncio.Future[None] | None = None
        self._made: list[Selection] = []
        self._shared: dict[tuple[Any, ...], Selection] = {}
        """By type and field nodes."""
        self._bytes = self._charged = 0

    def select(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        """The fields below a field, for one type of its objects."""
        if not self.shares:
            return self._new(type_, self.plan.operation.sub_fields(self.flags, type_, details))
        key = (type_, *[id(one.node) for one in details])
        found = self._shared.get(key)
        if found is None:
            fields = self.plan.operation.sub_fields(self.flags, type_, details)
            found = self._shared[key] = self._new(type_, fields)
        return found

    def _new(self, type_: GraphQLObjectType, fields: dict[str, list[FieldDetails]]) -> Selection:
        selection = Selection(self, type_, fields)
        self._made.append(selection)
        self._bytes += (len(selection.fields) + 1) * BYTES_A_FIELD
        if self._preparing is None:
            self._charge()
        return selection

    def _charge(self) -> None:
        taken, self._charged = self._bytes - self._charged, self._bytes
        self.plan.charge(taken)

    @cached_property
    def steps(self) -> list[Selection]:
        """What is run one after the other: a mutation's fields, or all of a query's at once."""
        operation = self.plan.operation
        fields = operation.root_fields(self.flags)
        if not operation.serial:
            return [self._new(operation.root, fields)]
        return [self._new(operation.root, {key: fields[key]}) for key in fields]

    async def prepared(self, aside: Aside) -> None:
        """Compile beside the loop all that can be foreseen; requests wait for it together. Raises
        Overloaded."""
        preparing = self._preparing
        if preparing is None:
            work = aside.do(self.plan.selections, self._prepare)
            preparing = self._preparing = asyncio.ensure_future(work)
            preparing.add_done_callback(self._end)
        await asyncio.shield(preparing)

    def _end(self, preparing: asyncio.Future[None]) -> None:
        self._preparing = None
        self.unprepared = preparing.cancelled() or preparing.exception() is not None
        self._charge()

    def _prepare(self) -> None:
        left = list(self.steps)
        seen = set(left)
        most = 4 * self.plan.selections  # as many types as an interface has may be selected
        while left and len(self._made) < most:
            selection = left.pop()
            for below in selection.prepared():
                if below not in seen:
                    seen.add(below)
                    left.append(below)

    def forget(self) -> None:
        """Break the cycles of what was compiled, and give its bytes back."""
        self.plan.charge(-self._charged)
        self._bytes = self._charged = 0
        for selection in self._made:
            selection.forget()
        self._made.clear()
        self._shared.clear()
        self.__dict__.pop("steps", None)
