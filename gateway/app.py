"""The ASGI application, which connects all parts."""

from collections.abc import Awaitable, Callable
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
from gateway.execution.executor import Executor
from gateway.http import console
from gateway.http.auth import Tokens
from gateway.http.endpoint import FAILED, Front, GraphQLEndpoint, misdirected
from gateway.http.not_found import missing
from gateway.http.peers import Proxies
from gateway.http.this_machine import OperatorsNames, ThisMachine
from gateway.http.web_client import WebClient
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
    CircuitCollector,
    JobCollector,
    PoolCollector,
    StoreCollector,
)
from gateway.server.fairness.clients import SIGN_UP, Clients
from gateway.server.fairness.pages import InTurn
from gateway.server.fairness.shares import Shares
from gateway.server.siblings import Siblings
from gateway.settings import Settings
from gateway.site.executors import new_executor
from gateway.site.runtime import Runtime
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
    *counting: Collector,
    siblings: Siblings | None = None,
    process: str = "",
    shares: Shares | None = None,
) -> Site:
    """The applications over open stores. `executor` replaces the standard executor. `counting` are
    collectors for the metrics of the surrounding server. `siblings` are the other workers of the
    same supervisor; `process` is this worker's name in the log. `shares` are the clients' shares of
    the event loop's time."""
    tokens = Tokens(settings.secret, settings.token_hours)
    new_context = _contexts(settings, tokens, runtime)
    executor, served = executor or new_executor(settings), Served()
    clients = _clients(settings, runtime, executor.refusals, shares)
    endpoint = GraphQLEndpoint(
        executor,
        tokens,
        new_context,
        max_body_bytes=settings.max_body_bytes,
        max_body_values=settings.max_body_values,
        served=served,
        clients=clients,
        allowed_origins=settings.allowed_origins,
        requests=Requests(
            lines=request_lines(settings, process) if settings.log_requests else None,
            slow_seconds=settings.slow_seconds,
            tracer=runtime.tracer,
            may_show=bool(settings.demo_viewer),
        ),
    )
    registry = new_registry(
        FeedCollector(runtime.races),
        FeedRowCollector(COUNTS, settings.shown_days),
        ExecutorCollector(executor),
        HttpCollector(served),
        RefusalCollector(executor.refusals),
        StoreCollector(runtime.calls),
        PoolCollector(runtime.stores),
        CircuitCollector(runtime.stores),
        JobCollector(runtime.jobs),
        *counting,
    )
    here = ThisMachine(settings)
    operators = None if settings.admin_port or settings.production else here
    admin = Admin(runtime.stores, registry, here=operators, siblings=siblings)
    cors = None
    if settings.allowed_origins:
        cors = CORSMiddleware(
            endpoint,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST"],
            allow_headers=settings.allowed_headers,
            expose_headers=("x-request-id", "traceresponse"),
            max_age=7200,
        )

    routes: list[BaseRoute] = [
        # a class, because Route gives a function's 405 an Allow of its own
        Route("/graphql", _GraphQL(cors or endpoint, has_page=settings.graphiql)),
        Route("/graphql/", _to_graphql, methods=["GET", "POST"]),
        *admin.public(),
        Mount("/images", images_app),
    ]
    if settings.web:
        routes += WebClient(settings, tokens, new_context, here).routes()
    if settings.graphiql:
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
    front: Any = ProxyHeadersMiddleware(cast(Any, pages), list(settings.trusted_proxies))
    public = Front(endpoint, InTurn(front, clients), cors, here)
    return Site(public, OperatorsNames(admin.app(), misdirected, settings), admin.metrics)


class _GraphQL:
    """`/graphql`: GraphiQL's page for a browser that opens the address, else the endpoint."""

    def __init__(self, endpoint: ASGIApp, *, has_page: bool) -> None:
        self._endpoint, self._has_page = endpoint, has_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self._has_page and console.wants_page(Request(scope))
        await (console.page() if page else self._endpoint)(scope, receive, send)


def _clients(
    settings: Settings, runtime: Runtime, refusals: Refusals, shares: Shares | None
) -> Clients:
    rate = None
    if settings.rate_cost:
        buckets = runtime.stores.mapping_cache
        rate = Rate(buckets, refill=settings.rate_cost, burst=settings.rate_burst)
    proxies, sign_ups = Proxies(settings.trusted_proxies), None
    if accounts := settings.sign_ups_per_hour:
        buckets = runtime.stores.mapping_cache
        sign_ups = Rate(buckets, refill=accounts, burst=accounts * SIGN_UP, kind="s")
    return Clients(
        *(proxies, rate, settings.max_running, settings.max_running_cost, sign_ups, refusals),
        shares=shares or Shares(settings.client_share),
        most_answers=settings.max_answers_bytes,
    )


def _contexts(
    settings: Settings, tokens: Tokens, runtime: Runtime
) -> Callable[[int | None], Context]:
    def issue(user_id: int) -> str | None:
        return tokens.issue(user_id) if settings.issue_tokens else None

    secret = settings.secret.encode()
    cursors, feed_tokens = Cursors(secret), FeedTokens(secret)

    def new_context(viewer_id: int | None) -> Context:
        return Context(
            *(runtime.stores, runtime.feeds, viewer_id, settings.url, issue),
            spacing=settings.spacing,
            cursors=cursors,
            feed_tokens=feed_tokens,
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
