"""The GraphQL endpoint: from a request's headers and body to its answer, and as an ASGI
application."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from graphql import GraphQLError, OperationType
from starlette.types import ASGIApp, Receive, Scope, Send

from datasources.errors import StoreError, StoreUnavailable, Unauthenticated
from gateway.cost.refusals import told, too_many
from gateway.documents.trusted import TrustedDocuments
from gateway.execution.executor import Executor, Result, refused, waiting
from gateway.execution.later_parts import LaterParts
from gateway.http.auth import CLOSED, Token, Tokens
from gateway.http.compression import LEAST, MOST, accepts_gzip, compressed
from gateway.http.csrf import check_get
from gateway.http.issuer import Issuer
from gateway.http.issuer_keys import AGAIN
from gateway.http.part_by_part import PartByPart
from gateway.http.persisted import PersistedDocuments, Unpersisted
from gateway.http.requests import (
    GRAPHQL_JSON,
    JSON,
    Disconnected,
    Headers,
    Refused,
    RequestParameters,
    accepts_parts,
    check_coding,
    check_content_type,
    headers_of,
    prefers_events,
    read_body,
    read_json,
    read_query_string,
    response_type,
)
from gateway.http.subjects import Subjects
from gateway.http.this_machine import ThisMachine
from gateway.observe.answers import Served
from gateway.observe.requests import Observed, Requests
from gateway.server.fairness.clients import Clients
from resolvers import blocks
from resolvers.context import Context

log = logging.getLogger("pinway")

METHODS = ("GET", "POST")
"""The methods of operations."""
FAILED = "the server failed to answer this request; its log says why"
_NOTHING: Mapping[str, str] = {}
HELD = 1 << 16
"""Bytes of the largest answer that is handed to its connection in one piece. A larger answer waits
in pieces of this size until the client reads it, and counts as held meanwhile."""
BYTES_OF_A_COST = 1_000
"""Bytes of an answer that are paid with each unit of its estimated cost. The estimate does not know
how long texts are, so further bytes are charged afterwards."""
NEVER_KEPT = "private, no-store"
"""Cache-Control of an answer to a GET: a viewer's answer is for that viewer alone, and a write
that was acknowledged is in every later answer. Exceptions are the answers that
`GraphQLEndpoint._kept` allows. No cache needs to keep an answer to a POST."""
_ALWAYS = {"vary": "Accept, Accept-Encoding", "x-content-type-options": "nosniff"}
"""Headers of every answer. CORS adds Origin to Vary."""
_ALWAYS_TEXT = "".join(f"{name}: {value}\r\n" for name, value in _ALWAYS.items()).encode()
_CONTENT_TYPES = {media: f"{media}; charset=utf-8".encode() for media in (JSON, GRAPHQL_JSON)}


@dataclass(slots=True)
class Answer:
    """The answer to a request: the `parts` of a body of `size` bytes, and headers in addition to
    the body's headers."""

    status: int
    media: str
    parts: list[bytes]
    size: int
    extra: Mapping[str, str]
    about: bytes = b""
    """Header lines about the request: its id, its trace."""
    clients: Clients | None = None
    """The clients among which a large answer is counted."""
    client: str = ""
    """The answer's client (`Clients.name`)."""
    parts_app: ASGIApp | None = None
    """Sends an answer that comes in several parts, in place of `parts`."""

    def plain(self) -> bytes | None:
        """The headers as text; None if the answer has other headers, or can't be sent in one
        piece."""
        if self.extra or self.size > HELD or self.parts_app is not None:
            return None
        return b"content-type: %b\r\ncontent-length: %d\r\n%b%b" % (
            _CONTENT_TYPES[self.media],
            self.size,
            _ALWAYS_TEXT,
            self.about,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, as an ASGI application."""
        if self.parts_app is not None:
            await self.parts_app(scope, receive, send)
            return
        if self.clients is None or self.size <= HELD:
            await self._send(scope, send)
            return
        with self.clients.holding_answer(self.client, self.size) as held:
            if not held:
                self.parts = []
            await (self if held else _unread())._send(scope, send)

    async def _send(self, scope: Scope, send: Send) -> None:
        always = {**_ALWAYS, **self.extra}
        headers = [
            (b"content-type", _CONTENT_TYPES[self.media]),
            (b"content-length", b"%d" % self.size),
            *((name.encode(), value.encode()) for name, value in always.items()),
            *((line.split(b": ", 1)) for line in self.about.splitlines()),
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        parts, self.parts = self.parts, []
        if scope["method"] == "HEAD":
            parts = []
        if self.size > HELD:
            parts.reverse()
            while parts:  # a part is freed when it is sent
                part = parts.pop()
                for start in range(0, len(part), HELD):
                    piece = part[start : start + HELD]
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"".join(parts)})


Answering = Callable[[Headers, bytes, str], Awaitable[Answer]]
"""Answers a request after its body has arrived. The last argument is the peer's address."""


class GraphQLEndpoint:
    """Answers POST, and GET for queries; all other methods get 405. An ASGI application.

    HEAD gets 405, too: its answer would need the size of the operation's result, so the operation
    would run for nobody.
    """

    def __init__(
        self,
        executor: Executor,
        tokens: Tokens,
        new_context: Callable[[int | None], Context],
        *,
        max_body_bytes: int,
        max_body_values: int = 12_000,
        served: Served,
        clients: Clients | None = None,
        allowed_origins: Container[str] = (),
        requests: Requests | None = None,
        persisted: PersistedDocuments | None = None,
        public_max_age: int = 0,
        issuer: Issuer | None = None,
        subjects: Subjects | None = None,
    ) -> None:
        """`issuer` reads tokens that are not the gateway's own, and `subjects` finds the users whom
        they name by a subject. `public_max_age` is the maximum
        number of seconds for which shared caches may keep answers to a GET; 0 if they may keep
        none."""
        self._executor, self._tokens, self._new_context = executor, tokens, new_context
        self._max_body_bytes, self._served = max_body_bytes, served
        self._max_body_values = max_body_values
        self._clients, self._allowed_origins = clients, allowed_origins
        self._requests = requests or Requests()
        self._public_max_age, self._issuer, self._subjects = public_max_age, issuer, subjects
        self._persisted = persisted or PersistedDocuments(TrustedDocuments())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope["headers"])
        client = scope.get("client")
        peer = client[0] if client else ""
        if scope["method"] not in METHODS:
            answer = _other_method()
        elif scope["method"] == "GET":
            answer = await self.answer(headers, scope["query_string"], peer, read_only=True)
        else:
            try:
                body = await read_body(receive, self._max_body_bytes)
            except Disconnected:
                return
            answer = await self.answer(headers, body, peer)
        await answer(scope, receive, send)

    async def answer(
        self, headers: Headers, text: bytes, peer: str = "", *, read_only: bool = False
    ) -> Answer:
        """The answer to a POST with this body, or to a GET (`read_only`) with this query string.
        `peer` is the address of the connection's other end: a client, or a proxy
        (`gateway.http.peers.Proxies.client` returns the client's address). It is empty if the
        connection has no address."""
        began = perf_counter()
        request = self._requests.begin(headers, peer)
        clients = self._clients
        if clients is None:
            return await self._answer(headers, text, peer, read_only, request, began)
        request.address = name = clients.name(headers, peer)
        work = self._answer(headers, text, peer, read_only, request, began)
        answer = await clients.in_turn(name, len(text), work)
        clients.sent(name, answer.size)
        answer.clients, answer.client = clients, name
        return answer

    async def _answer(
        self,
        headers: Headers,
        text: bytes,
        peer: str,
        read_only: bool,
        request: Observed,
        began: float,
    ) -> Answer:
        media, extra = JSON, _NOTHING
        try:
            media = response_type(headers.get(b"accept"))
            if read_only:
                check_get(headers, self._allowed_origins)
                operation = read_query_string(text)
            else:
                check_content_type(headers.get(b"content-type", b""))
                if b"content-encoding" in headers:
                    check_coding(headers[b"content-encoding"])
                operation = read_json(text, self._max_body_bytes, self._max_body_values)
            document = self._persisted.text(operation)
            result = await self._run(
                document,
                operation,
                headers,
                peer,
                read_only,
                request,
                incremental=not read_only and accepts_parts(headers.get(b"accept")),
            )
            if operation.digest is not None and result.operation is not None:
                self._persisted.keep(operation)
            wants_cost = operation.wants_cost or headers.get(b"x-pinway-cost") == b"1"
            if wants_cost and (entries := told(result.cost, self._executor.max_cost)):
                result.extend(entries)
            if result.started:
                status = 200
            elif result.by_post_only:
                status, extra = 405, {"allow": "POST"}
            elif result.retry_after:
                status, extra = 429, {"retry-after": str(result.retry_after)}
            else:
                status = _refusing(media)
        except Unpersisted as error:
            result, status = _problem(error.message, error.code), _refusing(media)
        except Refused as error:
            result, status, extra = _problem(error.message, error.code), error.status, error.headers
        except Unauthenticated as error:
            result, status = _problem(error.message, error.code), 401
            extra = {"www-authenticate": "Bearer"}
        except Exception:
            log.exception("a request failed")
            result, status = _problem(FAILED, "INTERNAL"), 500
        seconds = perf_counter() - began
        self._served.add(status, seconds, result.codes)
        if result.started:
            assert result.operation is not None
            self._served.ran(result.operation.type.value, result.operation.name, seconds)
        if result.later is not None:
            about = self._requests.end(request, result, status, seconds)
            app = PartByPart(
                result, _ALWAYS, about, self._clients, request.address, self._served.errors.update
            )
            return Answer(status, media, [], 0, _NOTHING, about, parts_app=app)
        if request.wants_trace:
            await self._requests.show(request, result)
        if read_only:
            extra = {**extra, **self._kept(headers, result)}
        about = self._requests.end(request, result, status, seconds)
        parts = result.parts()
        size = sum(map(len, parts))
        if LEAST <= size <= MOST and _compresses(headers, request, result):
            clients = self._clients if size > HELD else None
            with (
                clients.holding_answer(request.address, size) if clients else nullcontext(True)
            ) as held:
                if not held:
                    return _unread()
                parts = await compressed(parts)
            size = sum(map(len, parts))
            about += b"content-encoding: gzip\r\n"
        return Answer(status, media, parts, size, extra, about)

    async def operate(
        self,
        operation: RequestParameters,
        headers: Headers,
        peer: str,
        size: int,
        *,
        read_only: bool = False,
    ) -> Result:
        """The result of an operation that came as `size` bytes to a stream of results. The result
        of a subscription has its `stream`. Raises nothing."""
        began = perf_counter()
        request = self._requests.begin(headers, peer)
        work = self._operate(operation, headers, peer, read_only, request, began)
        if self._clients is None:
            return await work
        request.address = name = self._clients.name(headers, peer)
        result = await self._clients.in_turn(name, size, work)
        if result.stream is not None:
            result.stream.in_turn = partial(self._clients.in_turn, name, 0)
        return result

    async def _operate(
        self,
        operation: RequestParameters,
        headers: Headers,
        peer: str,
        read_only: bool,
        request: Observed,
        began: float,
    ) -> Result:
        try:
            document = self._persisted.text(operation)
            result = await self._run(
                document, operation, headers, peer, read_only, request, streams=True
            )
            if operation.digest is not None and result.operation is not None:
                self._persisted.keep(operation)
            if operation.wants_cost and (entries := told(result.cost, self._executor.max_cost)):
                result.extend(entries)
        except (Unpersisted, Refused, Unauthenticated) as error:
            result = _problem(error.message, error.code)
        except Exception:
            log.exception("an operation failed")
            result = _problem(FAILED, "INTERNAL")
        seconds = perf_counter() - began
        self._served.add(200, seconds, result.codes)
        if result.started or result.stream is not None:
            assert result.operation is not None
            self._served.ran(result.operation.type.value, result.operation.name, seconds)
        self._requests.end(request, result, 200, seconds)
        return result

    async def identify(self, headers: Headers) -> Token | None:
        """The token of a stream of results; None without one. Raises Unauthenticated and
        Refused."""
        token = await self._token(headers)
        if token is not None and await self.refuses(token):
            raise Unauthenticated(CLOSED)
        return token

    async def refuses(self, token: Token) -> bool:
        """Whether the token's viewer has signed out everywhere since, or does not sign in by its
        subject any more. While a store is away, only what is known counts."""
        if await self._is_unlinked(token):
            return True
        return (await blocks.load(self._context(token))).refuses(token.issued)

    async def ends_streams(self, token: Token) -> bool:
        """Whether the token's viewer has signed out everywhere since, has no account any more, or
        does not sign in by its subject any more. A request of a deleted account is not refused
        here: it may be its deletion, sent again."""
        if await self._is_unlinked(token):
            return True
        known = await blocks.load(self._context(token))
        return known.refuses(token.issued) or known.closes(token.viewer_id)

    async def _is_unlinked(self, token: Token) -> bool:
        if self._subjects is None or not token.subject:
            return False
        with suppress(StoreError):
            return (await self._subjects.named(token)).viewer_id != token.viewer_id
        return False

    async def _run(
        self,
        document: str,
        operation: RequestParameters,
        headers: Headers,
        peer: str,
        read_only: bool,
        request: Observed,
        *,
        streams: bool = False,
        incremental: bool = False,
    ) -> Result:
        """Run the operation for its viewer (or begin it, if it is a subscription), unless too many
        operations of the client are running. With `incremental`, the result may have later
        parts."""
        token = await self._token(headers)
        viewer_id = request.viewer_id = token.viewer_id if token is not None else None
        client = self._clients.of(viewer_id, headers, peer) if self._clients else None
        if client is not None and not client.begin():
            self._executor.refusals.running += 1
            return waiting(1, too_many(client.most_running))
        context = self._context(token)
        if viewer_id is None and self._clients is not None:
            context.signing_up = self._clients.signing_up(headers, peer)
        later: LaterParts | None = None
        try:
            result = await self._executor.run(
                document,
                operation.variables,
                operation.name,
                context,
                read_only=read_only,
                client=client,
                new_context=partial(self._context, token) if streams else None,
                incremental=incremental,
            )
            later = result.later
        finally:
            if client is not None:
                if later is None:
                    client.end()
                else:
                    later.at_end(client.end)
        try:
            if context.closed or (_is_query(result) and await blocks.are_closed(context)):
                raise Unauthenticated(CLOSED)
        except BaseException:
            if later is not None:
                await later.end()
            raise
        if client is not None and result.cost is not None:
            cost, size = result.cost, result.size
            client.owe(_unpaid(size, cost))
            if later is not None:
                later.at_end(lambda: client.owe(_unpaid(later.size, cost) - _unpaid(size, cost)))
        return result

    def _kept(self, headers: Headers, result: Result) -> Mapping[str, str]:
        """The headers that say how long caches may keep the answer to a GET. Only a stranger's
        complete answer is public. All strangers get the same answer, so a cache distinguishes
        answers by Authorization."""
        operation = result.operation
        vary = f"{_ALWAYS['vary']}, Authorization"
        may_be_public = operation is not None and result.started and b"authorization" not in headers
        if may_be_public and not (result.errors or result.extensions):
            assert operation is not None
            seconds = min(operation.max_age, self._public_max_age)
            if seconds > 0:
                return {"cache-control": f"public, max-age={seconds}", "vary": vary}
        return {"cache-control": NEVER_KEPT, "vary": vary}

    def _context(self, token: Token | None) -> Context:
        """The context of a request or an event for the token's viewer."""
        if token is None:
            return self._new_context(None)
        context = self._new_context(token.viewer_id)
        context.issued, context.renewable = token.issued, token.renewable
        context.subject = token.subject
        return context

    async def _token(self, headers: Headers) -> Token | None:
        if not (value := headers.get(b"authorization")):
            return None
        authorization, token = value.decode("latin-1"), None
        if self._issuer is not None:
            try:
                token = await self._issuer.read(authorization)
            except StoreUnavailable as error:
                raise Refused(503, str(error), error.code, retry_after=f"{AGAIN:g}") from None
        if token is not None and token.subject and self._subjects is not None:
            try:
                token = await self._subjects.named(token)
            except StoreError as error:
                log.warning("the user of a token can't be looked up: %s", error)
                message = "the user of the token can't be looked up: try again later"
                raise Refused(503, message, error.code, retry_after="1") from None
        return token or self._tokens.read(authorization)


def _unpaid(size: int, cost: int) -> int:
    """The cost of an answer's bytes that its estimated cost does not pay."""
    return max(size // BYTES_OF_A_COST - cost, 0)


def _is_query(result: Result) -> bool:
    """Whether a query ran. Mutations look at their viewer's account by themselves."""
    operation = result.operation
    return result.started and operation is not None and operation.type is OperationType.QUERY


class Front:
    """Passes POST /graphql directly to its endpoint, and all other requests to the routes. `cors`
    answers preflight requests for the endpoint. `here` looks at each request, and refuses some."""

    def __init__(
        self,
        endpoint: GraphQLEndpoint,
        routes: ASGIApp,
        cors: ASGIApp | None = None,
        here: ThisMachine | None = None,
        sockets: ASGIApp | None = None,
        events: ASGIApp | None = None,
    ) -> None:
        """`sockets` answers WebSockets, and `events` requests for server-sent events, with CORS if
        there is `cors`."""
        self._endpoint, self._routes, self._cors, self._here = endpoint, routes, cors, here
        self._sockets, self._events = sockets, events
        self.has_sockets = sockets is not None
        """Whether Pinway's own server may make a WebSocket of a connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        if is_http and self._here is not None and self._here.refuses(scope):
            await misdirected(scope, receive, send)
            return
        is_hot = is_http and scope["path"] == "/graphql"
        if scope["type"] == "websocket":
            assert self._sockets is not None
            await self._sockets(scope, receive, send)
        elif is_hot and self._events is not None and _wants_events(scope):
            await self._events(scope, receive, send)
        elif is_hot and scope["method"] == "POST":
            await (self._cors or self._endpoint)(scope, receive, send)
        elif self._cors and is_hot and _is_preflight(scope):
            await self._cors(scope, receive, send)
        else:
            await self._routes(scope, receive, send)

    def answering(self, target: bytes, headers: Headers) -> Answering | None:
        """The function that answers a complete POST to this target without ASGI. None if only the
        ASGI application answers it. Pinway's own server uses it (`gateway/server/protocol.py`)."""
        if target != b"/graphql" or (self._cors is not None and b"origin" in headers):
            return None
        if self._events is not None and prefers_events(headers.get(b"accept")):
            return None
        if self._here is not None and self._here.is_in_doubt(headers):
            return None
        return self._endpoint.answer


def _compresses(headers: Headers, request: Observed, result: Result) -> bool:
    """Whether to compress the answer: see `gateway/http/compression.py`."""
    return (
        request.viewer_id is None
        and b"authorization" not in headers
        and result.operation is not None
        and result.operation.type is OperationType.QUERY
        and accepts_gzip(headers.get(b"accept-encoding"))
    )


def _refusing(media: str) -> int:
    """The status for a request that was refused before its operation ran. With the older media
    type it is 200: clients read the errors."""
    return 400 if media == GRAPHQL_JSON else 200


def _is_preflight(scope: Scope) -> bool:
    asks = b"access-control-request-method" in headers_of(scope["headers"])
    return scope["method"] == "OPTIONS" and asks


def _wants_events(scope: Scope) -> bool:
    return scope["method"] in METHODS and prefers_events(
        headers_of(scope["headers"]).get(b"accept")
    )


def refusing(why: Refused) -> Answer:
    """The answer to a request that can't be run as it was sent."""
    parts = _problem(why.message, why.code).parts()
    extra = {**why.headers, "cache-control": NEVER_KEPT}
    return Answer(why.status, JSON, parts, sum(map(len, parts)), extra)


def _other_method() -> Answer:
    message = "send the operation by POST, or a query by GET"
    parts = _problem(message, "BAD_USER_INPUT").parts()
    extra = {"allow": ", ".join(METHODS), "cache-control": NEVER_KEPT}
    return Answer(405, JSON, parts, sum(map(len, parts)), extra)


async def misdirected(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a browser's request for a host that is not the gateway's, as an ASGI application."""
    message = (
        "this gateway has no such host name. Its operator sets http.public_url to the address "
        "that people use, or names the host in http.allowed_hosts"
    )
    parts = _problem(message, "FORBIDDEN").parts()
    size, extra = sum(map(len, parts)), {"cache-control": NEVER_KEPT}
    await Answer(421, JSON, parts, size, extra)(scope, receive, send)


def _unread() -> Answer:
    """The answer in place of one for which there is no room."""
    message = (
        "too many bytes of answers wait to be read: read the earlier answers, then send the "
        "operation again. What a mutation wrote is written"
    )
    parts = _problem(message, "UNAVAILABLE").parts()
    extra = {"retry-after": "1", "cache-control": NEVER_KEPT}
    return Answer(503, JSON, parts, sum(map(len, parts)), extra)


def _problem(message: str, code: str) -> Result:
    return refused(GraphQLError(message, extensions={"code": code}))
