"""An operation compiled: what is the same for all its requests, and how one is run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson
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

from gateway.execution.collect import NotCompiled, Operation, Selection
from gateway.execution.encode import SMALL, encode
from gateway.execution.large import BULK, slices, sweep
from gateway.execution.run import Again, Run
from gateway.execution.variables import Variables

if TYPE_CHECKING:
    from gateway.execution.engine import Engine

VARIANTS = 16
"""How many sets of @skip and @include values an operation keeps compiled."""
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


class Plan:
    """One operation of a document."""

    def __init__(
        self, engine: Engine, schema: GraphQLSchema, document: DocumentNode, name: str | None
    ) -> None:
        self._engine, self._schema, self._document, self._name = engine, schema, document, name
        self.fallback: str | None = None
        """Why graphql-core runs it, if so."""
        self._variants: OrderedDict[tuple[Any, ...], Variant] = OrderedDict()
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
    ) -> Outcome:
        """The operation's outcome; never raises for what a resolver raised, unless that is no
        Exception: a cancelled resolver cancels the request, as under graphql-core.

        `again` is asked whenever a step was run: a query's only one, or a mutation's field. If it
        says so, the step is run once more, and what it gave is forgotten. (Under graphql-core an
        operation is run once.)
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
        run = Run(variant, context, root, coerced, values, inputs, again)
        try:
            await run.execute()
            parts = [orjson.dumps(run.data)] if run.made <= SMALL else await encode(run.data)
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
        self._variants[key] = variant
        if len(self._variants) > VARIANTS:
            self._variants.popitem(last=False)
        return variant

    async def _fall_back(
        self, context: Any, variables: dict[str, Any] | None, root: Any
    ) -> Outcome:
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
        return Outcome([orjson.dumps(result.data)] if started else None, errors, started)


class Variant:
    """A plan for one set of the variables in @skip and @include."""

    def __init__(self, plan: Plan, flags: dict[str, bool]) -> None:
        self.plan, self.flags = plan, flags

    def select(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Selection:
        """The fields below a field, for one type of its objects."""
        return Selection(self, type_, self.plan.operation.sub_fields(self.flags, type_, details))

    @cached_property
    def steps(self) -> list[Selection]:
        """What is run one after the other: a mutation's fields, or all of a query's at once."""
        operation = self.plan.operation
        fields = operation.root_fields(self.flags)
        if not operation.serial:
            return [Selection(self, operation.root, fields)]
        return [Selection(self, operation.root, {key: fields[key]}) for key in fields]
