"""Runs a subscription: its stream of events, and the operation's plan for each event (sections
"Create Source Event Stream" and "Execute Subscription Event" of the specification). Streams that
share an event share its result."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from graphql import GraphQLError
from graphql.execution.values import get_argument_values
from graphql.pyutils import camel_to_snake

from datasources.errors import PinwayError
from gateway.documents.cache import PreparedOperation
from gateway.execution.strawberry_details import BACK_REFERENCE
from resolvers.live.streams import Nothing, Stream, Subscriber

R = TypeVar("R")
T = TypeVar("T")


async def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Do the work of an event without waiting for a turn."""
    return await work


class Results(Generic[R]):
    """The results of a subscription, one for each event."""

    def __init__(
        self,
        stream: Stream,
        take: Callable[[], Coroutine[Any, Any, R | Nothing | None]],
        follow: Callable[[], Coroutine[Any, Any, R | Nothing | None]],
        done: Callable[[], None],
    ) -> None:
        """`take` reads the stream's next event, for which it has waited, and executes the operation
        for it. `follow` waits for another stream that does so."""
        self._stream, self._take, self._follow, self._done = stream, take, follow, done
        self.in_turn: Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]] = at_once
        """Does the work of an event when it is the client's turn. Otherwise a client with a
        thousand subscriptions could hold up all other clients with each change."""

    async def next(self) -> R | None:
        """The result of the next event; None at the end of the stream. Raises StoreError if the
        stream can't go on."""
        while True:
            await self._stream.wait()
            result: R | Nothing | None
            if self._stream.is_shared():
                result = await self._follow()
            else:
                result = await self.in_turn(self._take())
            if not isinstance(result, Nothing):
                return result

    async def end(self) -> None:
        """End the stream. Must be called once."""
        try:
            await self._stream.end()
        finally:
            self._done()


async def source_stream(
    operation: PreparedOperation, variables: dict[str, Any] | None, subscriber: Subscriber
) -> Stream | list[GraphQLError]:
    """The stream of a subscription's root field, begun; or the errors for which it can't begin."""
    plan = operation.plan
    coerced, values, errors = plan.variables.coerce(variables or {})
    if errors:
        return list(errors)
    try:
        fields = plan.operation.root_fields({n: coerced.get(n) for n in plan.operation.conditions})
        (details,) = fields.values()  # validation allows one field
        node = details[0].node
        definition = plan.operation.root.fields[node.name.value]
        given = get_argument_values(
            definition, node, values or plan.variables.in_full(variables or {})
        )
    except GraphQLError as error:
        return [error]
    except (KeyError, ValueError):  # __typename, or a field that @skip leaves out
        return [GraphQLError("A subscription needs one field with a stream of events.")]
    own = (definition.extensions or {})[BACK_REFERENCE]
    arguments = {camel_to_snake(name): it for name, it in given.items() if it is not None}
    stream: Stream = own.metadata["stream"](subscriber, **arguments)
    try:
        await stream.begin()
    except BaseException as error:
        await stream.end()
        if isinstance(error, PinwayError):
            return [GraphQLError(str(error), node, path=[next(iter(fields))], original_error=error)]
        raise
    return stream
