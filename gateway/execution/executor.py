"""Runs one operation, from its text to the body of its response: cost, deadline, errors as clients
see them."""

from functools import partial
from math import ceil
from typing import Any

import orjson
from graphql import GraphQLError, OperationType

from datasources.staleness import Collecting
from feed_engine.speculation.deadline import ends
from gateway.cost.refusals import Refusals, too_dear, too_large, too_often
from gateway.documents.cache import Document, Documents, PreparedOperation, Stats
from gateway.documents.hidden_names import hide
from gateway.execution.client_errors import shown, shown_with
from gateway.execution.compile.plan import Outcome, Rest
from gateway.execution.encode import TooLarge, dumps
from gateway.execution.later_parts import LaterParts
from gateway.execution.staleness import told_stale
from gateway.execution.subscriptions import Results, source_stream
from gateway.execution.tasks.deadlines import Deadlines
from gateway.server.fairness.clients import Client
from resolvers.context import Context
from resolvers.live.streams import LiveEvent, NewContext, Nothing, Subscriber

A_SELECTION = 10
"""The cost of compiling a selection again for other values of @skip and @include: compiling takes
as long as running an operation of this cost. The first compilation is charged by the length of the
document."""


class Result:
    """The content of a response.

    - `data`: the parts of its JSON; None if the operation was refused before it ran.
    - `errors`: the parts of their JSON, empty if there are no errors.
    - `codes`: the code of each error (`extensions.code`), in the order of the errors.
    - `extensions`: JSON, empty if there are none.
    - `operation`: the operation, or None if the document does not have it.
    - `cost`: the estimated cost, or None if the operation was refused before the estimate.
    - `by_post_only`: whether it was refused because a GET request may only run queries.
    - `retry_after`: the seconds that the client must wait, or 0.
    - `stream`: the results of a subscription that has begun; the other attributes are empty.
    - `later`: the parts that come after this one, None if this is the whole response. They must be
      ended.
    """

    __slots__ = (
        *("by_post_only", "codes", "cost", "data", "errors", "extensions", "later", "operation"),
        *("retry_after", "stream"),
    )

    def __init__(
        self, data: list[bytes] | None, errors: list[bytes], by_post_only: bool = False
    ) -> None:
        self.data, self.errors, self.by_post_only = data, errors, by_post_only
        self.cost: int | None = None
        self.extensions = b""
        self.retry_after = 0
        self.codes: list[str] = []
        self.operation: PreparedOperation | None = None
        self.stream: Results[Result] | None = None
        self.later: LaterParts | None = None

    def extend(self, entries: bytes) -> None:
        """Add the entries of `entries`, a JSON object, to the response's extensions."""
        self.extensions = self.extensions[:-1] + b"," + entries[1:] if self.extensions else entries

    @property
    def size(self) -> int:
        """The bytes of the data and the errors."""
        size = 0
        for part in self.data or ():
            size += len(part)
        for part in self.errors:
            size += len(part)
        return size

    @property
    def started(self) -> bool:
        return self.data is not None

    def parts(self) -> list[bytes]:
        """Returns the parts of the response's body (section "Response Format" of the
        specification). The body has no `data` if the operation did not run."""
        end = b',"extensions":' + self.extensions + b"}" if self.extensions else b"}"
        if self.data is None:
            return [b'{"errors":', *self.errors, end]
        if not self.errors:
            return [b'{"data":', *self.data, end]
        return [b'{"data":', *self.data, b',"errors":', *self.errors, end]

    def body(self) -> bytes:
        return b"".join(self.parts())


class Executor:
    """Runs operations of one schema."""

    def __init__(
        self, documents: Documents, *, timeout: float, max_cost: int = 0, max_bytes: int = 0
    ) -> None:
        """`timeout` is in seconds. `max_cost` is the maximum cost of an operation, and `max_bytes`
        the maximum size of its data; 0 means no maximum."""
        self.documents, self._deadlines = documents, Deadlines(timeout, ends)
        self.max_cost, self._max_bytes = max_cost, max_bytes
        self.refusals = Refusals()

    @property
    def stats(self) -> Stats:
        return self.documents.stats

    async def run(
        self,
        query: str,
        variables: dict[str, Any] | None,
        operation: str | None,
        context: Context,
        *,
        read_only: bool = False,
        client: Client | None = None,
        new_context: NewContext | None = None,
        incremental: bool = False,
    ) -> Result:
        """Run an operation of a document, and charge its cost to the client. Errors of the client
        and of stores are in the result: neither raises. `operation` is the operation's name, None
        if the document has one operation. `read_only` allows queries alone. `new_context` makes
        the context of each event of a subscription; without it, subscriptions are refused. With
        `incremental`, deferred fragments come in later parts (`Result.later`)."""
        document = self.documents.found(query)
        if document is None:
            if client is not None and (seconds := await _charged(client, len(query))):
                self.refusals.rate += 1
                return waiting(seconds, too_often(seconds))
            try:
                with self._deadlines.begin():
                    worked = client.worked if client is not None else None
                    document = await self.documents.read(query, worked)
            except TimeoutError:
                return refused(self._late())
        if document.errors:
            return refused(*document.errors)
        document.begin()
        try:
            found = document.operation(operation)
            if isinstance(found, GraphQLError):
                return refused(found)
            if (
                read_only
                and found.type is not OperationType.QUERY
                and (found.type is OperationType.MUTATION or new_context is None)
            ):
                return _only_by_post(found.type)
            cost, work = found.estimate.costs(variables)
            if 0 < self.max_cost < cost:
                self.refusals.cost += 1
                return _costing(found, cost, refused(too_dear(cost, self.max_cost)))
            if found.type is OperationType.SUBSCRIPTION:
                viewer = (context.viewer_id, context.issued)
                return await self._subscribe(
                    document, found, query, variables, cost, work, client, viewer, new_context
                )
            context.asked = document.fields
            if client is None:
                result = await self._run(found, query, variables, context, None, incremental)
                if result.later is not None:
                    document.begin()
                    result.later.at_end(document.end)
                return _costing(found, cost, result)
            if seconds := await _charged(client, cost):
                self.refusals.rate += 1
                return _costing(found, cost, waiting(seconds, too_often(seconds)))
            if not client.enter(work):
                try:
                    with self._deadlines.begin():
                        await client.wait(work)
                except TimeoutError:
                    return _costing(found, cost, refused(self._late()))
            compiled = found.plan.compiled
            later: LaterParts | None = None
            try:
                result = await self._run(found, query, variables, context, None, incremental)
                later = result.later
            finally:
                if later is None:
                    client.leave(work)
            scanned = context.scanning.used
            client.owe(scanned + A_SELECTION * (found.plan.compiled - compiled))
            if later is not None:
                document.begin()
                later.at_end(document.end)
                later.at_end(partial(client.leave, work))
                later.at_end(partial(_owe_rest, client, context, scanned))
            return _costing(found, cost, result)
        finally:
            document.end()

    async def _subscribe(
        self,
        document: Document,
        operation: PreparedOperation,
        query: str,
        variables: dict[str, Any] | None,
        cost: int,
        work: int,
        client: Client | None,
        viewer: tuple[int | None, float],
        new_context: NewContext | None,
    ) -> Result:
        """Begin a subscription, and charge the client for it. Each event costs as much again."""
        if new_context is None:
            return _costing(operation, cost, refused(_only_streamed()))
        if client is not None and (seconds := await _charged(client, cost)):
            self.refusals.rate += 1
            return _costing(operation, cost, waiting(seconds, too_often(seconds)))
        same = orjson.dumps(variables or {}, option=orjson.OPT_SORT_KEYS)
        subscriber = Subscriber(new_context, (viewer, operation.plan, same))
        try:
            with self._deadlines.begin():
                stream = await source_stream(operation, variables, subscriber)
        except TimeoutError:
            return _costing(operation, cost, refused(self._late()))
        if isinstance(stream, list):
            return _costing(operation, cost, refused(*stream))

        async def execute(event: LiveEvent) -> Result:
            event.context.asked = document.fields
            result = await self._run(operation, query, variables, event.context, event.value)
            return _costing(operation, cost, result)

        async def run() -> Result | Nothing | None:
            event = await stream.next()
            if event is None or isinstance(event, Nothing):
                return event
            if client is not None:
                client.owe(cost)
            return await event.results.get(None, partial(execute, event))

        async def take() -> Result | Nothing | None:
            if client is None:
                return await run()
            if not client.enter(work):
                await client.wait(work)
            try:
                return await run()
            finally:
                client.leave(work)

        document.begin()
        result = _costing(operation, cost, Result(None, []))
        result.stream = Results(stream, take, document.end)
        return result

    async def _run(
        self,
        operation: PreparedOperation,
        query: str,
        variables: dict[str, Any] | None,
        context: Context,
        event: Any = None,
        incremental: bool = False,
    ) -> Result:
        rest: Rest | None = None
        with Collecting() as stale:
            try:
                with self._deadlines.begin() as deadline:
                    outcome = await operation.plan.run(
                        context=context,
                        variables=variables,
                        root=event,
                        again=context.again,
                        deadline=deadline,
                        most_bytes=self._max_bytes,
                        incremental=incremental,
                    )
                    rest, ends_at = outcome.rest, deadline.ends
            except TimeoutError:
                result = _failed([b"null"], self._late())
            except TooLarge:
                result = self._too_large()
            except (
                Exception
            ) as raised:  # a bug in the executor: the client sees INTERNAL, we log it
                error = GraphQLError("The operation could not be run.", original_error=raised)
                result = _failed([b"null"], error)
            else:
                try:
                    result = await self._shown(outcome, query, variables, context)
                    if 0 < self._max_bytes < result.size:
                        result = self._too_large()
                    elif rest is not None:
                        result.later = LaterParts(
                            rest,
                            context,
                            ends_at=ends_at,
                            late=self._late(),
                            size=result.size,
                            max_bytes=self._max_bytes,
                            hide=partial(self._hide, query, variables),
                        )
                        rest = None
                finally:
                    if rest is not None:
                        await rest.close()
        if stale:
            result.extend(told_stale(stale))
        return result

    async def _shown(
        self,
        outcome: Outcome,
        query: str,
        variables: dict[str, Any] | None,
        context: Context,
    ) -> Result:
        errors = outcome.errors
        if errors:
            self._hide(query, variables, errors)
        if (fault := context.fault) is not None:
            errors.append(GraphQLError(str(fault), original_error=fault))
        if not errors:
            return Result(outcome.parts, [])
        if outcome.left_out:
            return _with(outcome.parts, await shown_with(errors, outcome.left_out))
        return _failed(outcome.parts, *errors)

    def _hide(
        self, query: str, variables: dict[str, Any] | None, errors: list[GraphQLError]
    ) -> None:
        if self.documents.hiding is not None:
            hide(self.documents.hiding, errors, query, variables)

    def _too_large(self) -> Result:
        self.refusals.bytes += 1
        return _failed([b"null"], too_large(self._max_bytes))

    def _late(self) -> GraphQLError:
        return GraphQLError(
            f"The operation took longer than {self._deadlines.seconds:g} s.",
            extensions={"code": "TIMEOUT"},
        )


async def _charged(client: Client, cost: int) -> int:
    """Charge the client. Returns 0, or the seconds that the client must wait first."""
    return 0 if client.spend(cost) else ceil(await client.take(cost))


def _owe_rest(client: Client, context: Context, scanned: int) -> None:
    """Charge the client for entries that the later parts have scanned."""
    client.owe(context.scanning.used - scanned)


def waiting(seconds: int, error: GraphQLError) -> Result:
    """The result of a request that was refused until `seconds` have passed."""
    result = refused(error)
    result.retry_after = seconds
    return result


def _costing(operation: PreparedOperation, cost: int, result: Result) -> Result:
    result.operation, result.cost = operation, cost
    return result


def _failed(data: list[bytes] | None, *errors: GraphQLError) -> Result:
    """The result with errors."""
    return _with(data, shown(*errors))


def _with(data: list[bytes] | None, formatted: list[dict[str, Any]]) -> Result:
    result = Result(data, [dumps(formatted, repr)])
    result.codes = [str(error["extensions"]["code"]) for error in formatted]
    return result


def refused(*errors: GraphQLError, by_post_only: bool = False) -> Result:
    """The result of a request that was refused before its operation ran."""
    result = _failed(None, *errors)
    result.by_post_only = by_post_only
    return result


def _only_streamed() -> GraphQLError:
    message = (
        "Send a subscription over a WebSocket (graphql-transport-ws), or with the header Accept: "
        "text/event-stream."
    )
    return GraphQLError(message, extensions={"code": "BAD_USER_INPUT"})


def _only_by_post(type_: OperationType) -> Result:
    message = f"Send a {type_.value} by POST: GET is for queries only."
    return refused(GraphQLError(message, extensions={"code": "BAD_USER_INPUT"}), by_post_only=True)
