"""The ASGI application, which connects all parts."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from feed_engine.feeds.counts import COUNTS
from gateway.cost.rate import Rate
from gateway.cost.refusals import Refusals
from gateway.demo.images import images_app
from gateway.documents.trusted import TrustedDocuments
from gateway.execution.executor import Executor
from gateway.http import console
from gateway.http.auth import Tokens
from gateway.http.endpoint import FAILED, Front, GraphQLEndpoint, misdirected
from gateway.http.issuer import Issuer, new_issuer
from gateway.http.not_found import missing
from gateway.http.peers import Proxies
from gateway.http.persisted import persisted_documents
from gateway.http.subjects import Subjects
from gateway.http.this_machine import OperatorsNames, ThisMachine
from gateway.http.web_client import WebClient
from gateway.live.open_streams import OpenStreams
from gateway.live.server_sent import ServerSent
from gateway.live.sign_outs import SignOuts
from gateway.live.sockets import SocketLimits, Sockets
from gateway.observe.admin import Admin
from gateway.observe.answers import Served
from gateway.observe.logs import request_lines
from gateway.observe.metrics import (
    ExecutorCollector,
    FeedCollector,
    FeedRowCollector,
    HttpCollector,
    RefusalCollector,
    new_registry,
)
from gateway.observe.requests import Requests
from gateway.observe.stores import (
    CacheListCollector,
    CircuitCollector,
    GenerationCollector,
    JobCollector,
    PoolCollector,
    StoreCollector,
)
from gateway.observe.streams import StreamCollector
from gateway.server.fairness.clients import SIGN_UP, Clients
from gateway.server.fairness.pages import InTurn
from gateway.server.fairness.shares import Shares
from gateway.server.siblings import Siblings
from gateway.settings import Settings
from gateway.site.executors import new_executor
from gateway.site.runtime import Runtime
from gateway.uploads import routes as uploads
from gateway.uploads.addresses import Addresses
from resolvers.context import Context
from resolvers.cursors import Cursors
from resolvers.feed_tokens import FeedTokens


@dataclass(frozen=True, slots=True)
class Site:
    """The applications of one gateway: `public` for everybody, `admin` for operators (see
    gateway/observe/admin.py)."""

    public: ASGIApp
    admin: ASGIApp
    metrics: Callable[[], Awaitable[bytes]]
    """This process's metrics, in Prometheus' text format."""


def create_site(
    settings: Settings,
    runtime: Runtime,
    executor: Executor | None = None,
    *,
    counting: Sequence[Collector] = (),
    siblings: Siblings | None = None,
    process: str = "",
    shares: Shares | None = None,
    trusted: TrustedDocuments | None = None,
) -> Site:
    """The applications over open stores. `executor` replaces the standard executor. `counting` are
    collectors for the metrics of the surrounding server. `siblings` are the other workers of the
    same supervisor; `process` is this worker's name in the log. `shares` are the clients' shares of
    the event loop's time. `trusted` are the trusted documents, if they are read already."""
    tokens = Tokens(settings.secret, settings.auth.token_hours)
    addresses = Addresses(settings.secret)
    issuer = new_issuer(settings)
    new_context = _contexts(settings, tokens, runtime, addresses, issuer)
    executor, served = executor or new_executor(settings), Served()
    clients = _clients(settings, runtime, executor.refusals, shares)
    here = ThisMachine(settings)
    endpoint = GraphQLEndpoint(
        executor,
        tokens,
        new_context,
        max_body_bytes=settings.http.max_body_bytes,
        served=served,
        clients=clients,
        allowed_origins=settings.http.allowed_origins,
        requests=Requests(
            lines=request_lines(settings, process),
            slow_seconds=settings.telemetry.slow_seconds,
            tracer=runtime.tracer,
            may_show=here.sent_with if settings.auth.demo_viewer else None,
        ),
        persisted=persisted_documents(settings, trusted),
        public_max_age=settings.http.public_max_age,
        issuer=issuer,
        subjects=Subjects(runtime.stores) if issuer is not None and issuer.subjects else None,
    )
    registry = new_registry(
        FeedCollector(runtime.races),
        FeedRowCollector(COUNTS, runtime.feeds.settings.shown_days),
        ExecutorCollector(executor),
        HttpCollector(served),
        RefusalCollector(executor.refusals),
        StoreCollector(runtime.calls),
        PoolCollector(runtime.stores),
        CircuitCollector(runtime.stores),
        GenerationCollector(runtime.stores),
        CacheListCollector(runtime.stores),
        JobCollector(runtime.jobs),
        *counting,
    )
    operators = None if settings.http.admin_port or settings.production else here
    admin = Admin(
        runtime.stores, registry, search=runtime.search, here=operators, siblings=siblings
    )
    cors = _with_cors(endpoint, settings) if settings.http.allowed_origins else None
    routes: list[BaseRoute] = [
        # a class, because Route gives a function's 405 an Allow of its own
        Route("/graphql", _GraphQL(cors or endpoint, has_page=settings.http.graphiql)),
        Route("/graphql/", _to_graphql, methods=["GET", "POST"]),
        *admin.public(),
        *uploads.routes(runtime.stores, addresses, settings),
        Mount("/images", images_app),
    ]
    if settings.http.web:
        routes += WebClient(settings, tokens, new_context, here).routes()
    if settings.http.graphiql:
        routes += [
            Route("/", _to_graphql),  # if the web client does not answer it
            Route(
                "/graphiql/boot.json", console.Boot(settings, tokens, new_context, here).__call__
            ),
            Route("/graphiql", _to_graphql),
            Mount("/graphiql", console.files()),
        ]
    pages = Starlette(routes=routes, exception_handlers={404: missing, Exception: _failed})
    pages.router.redirect_slashes = False  # it redirects to the Host that the client sent
    front: Any = ProxyHeadersMiddleware(cast(Any, pages), list(settings.http.trusted_proxies))
    streams = OpenStreams(settings.http.max_streams_per_client)
    sign_outs = SignOuts(runtime.live, endpoint.ends_streams)
    sockets = Sockets(
        endpoint,
        streams,
        sign_outs=sign_outs,
        client=clients.name,
        limits=SocketLimits(
            settings.http.max_subscriptions_per_socket, settings.http.max_body_bytes
        ),
        allowed_origins=settings.http.allowed_origins,
        public_url=settings.url,
        refuses=here.refuses,
    )
    events: ASGIApp = ServerSent(
        endpoint,
        streams,
        sign_outs=sign_outs,
        client=clients.name,
        keep_alive=settings.http.keep_alive,
        max_body_bytes=settings.http.max_body_bytes,
        allowed_origins=settings.http.allowed_origins,
    )
    registry.register(StreamCollector(streams, runtime.live))
    public = Front(
        endpoint,
        InTurn(front, clients),
        cors,
        here,
        sockets=sockets,
        events=_with_cors(events, settings),
    )
    return Site(public, OperatorsNames(admin.app(), misdirected, settings), admin.metrics)


class _GraphQL:
    """`/graphql`: GraphiQL's page for a browser that opens the address, else the endpoint."""

    def __init__(self, endpoint: ASGIApp, *, has_page: bool) -> None:
        self._endpoint, self._has_page = endpoint, has_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self._has_page and console.wants_page(Request(scope))
        await (console.page() if page else self._endpoint)(scope, receive, send)


def _with_cors(app: ASGIApp, settings: Settings) -> ASGIApp:
    """The application for pages of the allowed origins, too."""
    if not settings.http.allowed_origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=settings.http.allowed_origins,
        allow_methods=["GET", "POST"],
        allow_headers=settings.http.allowed_headers,
        expose_headers=("x-request-id", "traceresponse"),
        max_age=7200,
    )


def _clients(
    settings: Settings, runtime: Runtime, refusals: Refusals, shares: Shares | None
) -> Clients:
    rate = None
    if settings.limits.rate_cost:
        buckets = runtime.stores.mapping_cache
        rate = Rate(buckets, refill=settings.limits.rate_cost, burst=settings.limits.rate_burst)
    proxies, sign_ups = Proxies(settings.http.trusted_proxies), None
    if accounts := settings.limits.sign_ups_per_hour:
        buckets = runtime.stores.mapping_cache
        sign_ups = Rate(buckets, refill=accounts, burst=accounts * SIGN_UP, kind="s")
    return Clients(
        proxies=proxies,
        rate=rate,
        most_running=settings.limits.max_running,
        most_running_cost=settings.limits.max_running_cost,
        sign_ups=sign_ups,
        refusals=refusals,
        shares=shares or Shares(settings.limits.numbers.client_share),
        most_answers=settings.http.max_answers_bytes,
    )


def _contexts(
    settings: Settings,
    tokens: Tokens,
    runtime: Runtime,
    addresses: Addresses,
    issuer: Issuer | None,
) -> Callable[[int | None], Context]:
    secret = settings.secret.encode()
    cursors, feed_tokens = Cursors(secret), FeedTokens(secret)

    def sign_upload(owner_id: int, id: int) -> tuple[str, int]:
        path, expires = addresses.upload(owner_id, id)
        return settings.url + path, expires

    def sign_export(owner_id: int, requested: int) -> str:
        return settings.url + addresses.export(owner_id, requested)[0]

    def new_context(viewer_id: int | None) -> Context:
        return Context(
            stores=runtime.stores,
            feeds=runtime.feeds,
            viewer_id=viewer_id,
            public_url=settings.url,
            issue_token=tokens.issue,
            sign_upload=sign_upload if runtime.stores.pictures else None,
            sign_export=sign_export if runtime.stores.pictures else None,
            subject_of=issuer.subject_of if issuer is not None and issuer.subjects else None,
            cursors=cursors,
            feed_tokens=feed_tokens,
            walks=runtime.walks,
            live=runtime.live,
            waiting=runtime.waiting,
            search=runtime.search,
        )

    return new_context


async def _failed(request: Request, error: Exception) -> Response:
    """Answer without details of the fault; the server logs it."""
    problem = {"message": FAILED, "extensions": {"code": "INTERNAL"}}
    return JSONResponse({"errors": [problem]}, 500)


async def _to_graphql(request: Request) -> Response:
    """To a path: the Host of a request is the client's text."""
    query = request.url.query
    return RedirectResponse(f"/graphql?{query}" if query else "/graphql")
