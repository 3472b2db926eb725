"""The plan of an operation: runs its requests. A plan keeps the operation's compiled variants, one
for each set of @skip and @include values, or runs the operation with graphql-core."""

from __future__ import annotations

from asyncio import CancelledError
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from graphql import (
    REMOVE,
    DirectiveNode,
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    Visitor,
    VisitorAction,
    visit,
)
from graphql.execution import experimental_execute_incrementally
from graphql.pyutils import is_awaitable

from gateway.execution.compile.variables import Variables
from gateway.execution.compile.variant import Charge, Variant
from gateway.execution.encode import encode
from gateway.execution.levels.deferral import Deferral
from gateway.execution.levels.execution import Again, Run
from gateway.execution.levels.failures import MOST_ERRORS
from gateway.execution.levels.failures import left_out as told_left_out
from gateway.execution.model.operation import INCREMENTAL, NotCompiled, Operation
from gateway.execution.side_thread import Aside, Overloaded
from gateway.execution.tasks.deadlines import Deadline

VARIANTS = 16
"""The maximum number of compiled variants of an operation."""
BYTES_A_PLAN = 2_000
"""The size of a plan without its fields, in bytes, as measured."""

FellBack: TypeAlias = Callable[[], None]
_MISSING = object()
DEFERRED = object()
"""The last item of a variant's key if the variant defers fragments and streams lists."""


class Outcome:
    """The outcome of a request.

    `parts` are the JSON of the data, in several parts if it is large. If `started` is False, the
    operation did not run (for example, because of its variables), and `parts` is None. `left_out`
    are the exceptions for which the errors have no error of their own: the last error counts them.
    `rest` are the parts of deferred fragments and streamed lists, None if there are none; its
    `close` must be called.
    """

    __slots__ = ("errors", "left_out", "parts", "rest", "started")

    def __init__(
        self,
        parts: list[bytes] | None,
        errors: list[GraphQLError],
        started: bool = True,
        left_out: Sequence[Exception] = (),
    ) -> None:
        if left_out:
            errors.append(told_left_out(len(left_out)))
        self.parts, self.errors, self.started = parts, errors, started
        self.left_out = left_out
        self.rest: Rest | None = None

    @property
    def data(self) -> bytes | None:
        return None if self.parts is None else b"".join(self.parts)


class Rest(Deferral):
    """The parts of a request that come after the initial part."""

    def __init__(self, run: Run, variant: Variant) -> None:
        Deferral.__init__(self, run)
        self._variant = variant

    @classmethod
    def begun(cls, run: Run, variant: Variant) -> Rest | None:
        """Begin the deferred fragments of a run. Returns None if it has none."""
        rest = cls(run, variant)
        if not rest.has_next:
            run.deferral = None
            return None
        variant.users += 1
        return rest

    async def close(self) -> None:
        """End the request. What is still executed is cancelled. Must be called once."""
        try:
            await self._run.give_up()
        finally:
            self._run.deferral = None
            self.forget()
            self._run.close()
            self._variant.leave()


def free_of_charge(taken: int) -> None:
    """Ignore the bytes that were taken."""


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
        most_errors: int = MOST_ERRORS,
    ) -> None:
        """`aside` is the thread for long work. `fell_back` is called whenever graphql-core runs a
        request. For the other parameters see `Engine` and `Engine.compile`."""
        self._schema, self._document, self._name = schema, document, name
        self._aside, self._fell_back = aside, fell_back
        self.selections, self.charge, self._most_errors = selections, charge, most_errors
        charge(BYTES_A_PLAN)
        self.fallback: str | None = None
        """The reason why graphql-core runs the operation; None if this executor does."""
        self._variants: OrderedDict[tuple[Any, ...], Variant] = OrderedDict()
        self.compiled = 0
        """The number of selections that were compiled again, for further values of @skip and
        @include."""
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
        most_bytes: int = 0,
        incremental: bool = False,
    ) -> Outcome:
        """Run one request, or one event (`root`) of a subscription. Returns its outcome. Raises
        TooLarge if its data has more than `most_bytes` bytes (0: any number).

        An Exception of a resolver becomes an error of the outcome. A BaseException that is not an
        Exception is raised: a cancelled resolver cancels the request, as with graphql-core.

        `again` is called after each step, which is the whole query or one root field of a mutation.
        If it returns True, the result of the step is dropped and the step runs again. Requests that
        graphql-core runs never run again.

        With `incremental`, deferred fragments and the later items of streamed lists are not
        executed yet: the outcome has their `rest`. Otherwise they are in the data.

        If `deadline` cancels a mutation, the outcome has the root fields that are done (`Run.cut`).
        If it cancels a query, CancelledError is raised.
        """
        inputs = variables or {}
        if self.fallback is not None:
            return await self._fall_back(context, variables, root, most_bytes)
        coerced, values, errors = self.variables.coerce(inputs)
        if errors:
            return Outcome(None, errors, started=False)
        variant = self._variant(coerced, incremental)
        if variant is None:
            return await self._fall_back(context, variables, root, most_bytes)
        if variant.unprepared:
            try:
                await variant.prepare(self._aside)
            except Overloaded as overloaded:
                return Outcome(None, [overloaded.error()], started=False)
        try:
            steps = variant.steps
        except GraphQLError as error:  # a root field's @skip or @include has no value
            return Outcome(None, [error.with_traceback(None)], started=False)
        in_full = partial(self.variables.in_full, inputs)
        run = Run(steps, context, root, coerced, values, in_full, again, self._most_errors)
        rest: Rest | None = None
        try:
            try:
                await run.execute()
                parts = run.write_small(most_bytes) or await run.write(most_bytes)
            except CancelledError:
                if deadline is None or not deadline.passed or not self.operation.serial:
                    raise
                run.cut(deadline.seconds)
                parts = await run.write(most_bytes)
            outcome = Outcome(parts, run.errors, left_out=run.left_out)
            if variant.defers and not run.failures.root_nulled:
                rest = outcome.rest = Rest.begun(run, variant)
        finally:
            if rest is None:
                run.close()
        return outcome

    def _variant(self, variables: Mapping[str, Any], defer: bool = False) -> Variant | None:
        """The variant for these values of @skip, @include and @defer; None if a value is neither a
        boolean nor null."""
        names = self._conditions
        key = tuple([variables.get(name, _MISSING) for name in names]) if names else ()
        if defer and self.operation.defers:
            key += (DEFERRED,)
        variant = self._variants.get(key)
        return self._new_variant(key) if variant is None else variant

    def _new_variant(self, key: tuple[Any, ...]) -> Variant | None:
        defer = key[-1:] == (DEFERRED,)
        values = key[:-1] if defer else key
        if any(type(it) is not bool and it is not None and it is not _MISSING for it in values):
            return None
        given = zip(self._conditions, values, strict=True)
        flags = {name: value for name, value in given if value is not _MISSING}
        variant = Variant(self.operation, flags, self.selections, self._charged, defer)
        if self._variants:
            self.compiled += self.selections
        self._variants[key] = variant
        if len(self._variants) > VARIANTS:
            _, dropped = self._variants.popitem(last=False)
            dropped.drop()
        return variant

    def _charged(self, taken: int) -> None:
        self.charge(taken)

    def forget(self) -> None:
        """Drop the compiled variants, and break their reference cycles. A request that is still
        running compiles the parts that it needs again."""
        self.charge = free_of_charge
        for variant in self._variants.values():
            variant.forget()
        self._variants.clear()

    async def _fall_back(
        self, context: Any, variables: dict[str, Any] | None, root: Any, most_bytes: int
    ) -> Outcome:
        self._fell_back()
        # `execute` refuses schemas with @defer.
        result = experimental_execute_incrementally(
            self._schema,
            _in_one_part(self._document),
            root_value=root,
            context_value=context,
            variable_values=variables,
            operation_name=self._name,
        )
        if is_awaitable(result):
            result = await result
        assert isinstance(result, ExecutionResult)
        errors = result.errors or []
        left_out = errors[self._most_errors :]
        del errors[self._most_errors :]
        # For wrong variables, graphql-core returns no data, and errors without a path.
        started = result.data is not None or any(error.path for error in errors)
        causes = [error.original_error or error for error in left_out]
        parts = await encode(result.data, most_bytes) if started else None
        return Outcome(parts, errors, started, causes)


class _InOnePart(Visitor):
    def enter_directive(self, node: DirectiveNode, *_: Any) -> VisitorAction:
        return REMOVE if node.name.value in INCREMENTAL else None


def _in_one_part(document: DocumentNode) -> DocumentNode:
    """The document without @defer and @stream."""
    found: DocumentNode = visit(document, _InOnePart())
    return found
