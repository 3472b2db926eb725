"""The ASGI application: where all parts are put together."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from gateway import console
from gateway.auth import Tokens
from gateway.cost.clients import Clients
from gateway.cost.rate import Rate
from gateway.demo.images import images_app
from gateway.execution import new_executor
from gateway.execution.executor import Executor
from gateway.health import readiness
from gateway.http import Answering, Front, GraphQLEndpoint
from gateway.metrics import (
    ExecutorCollector,
    FeedCollector,
    HttpCollector,
    RefusalCollector,
    exposition,
    new_registry,
)
from gateway.peers import Proxies
from gateway.requests import Headers
from gateway.runtime import Runtime
from gateway.served import Served
from gateway.settings import Settings
from resolvers.context import Context
from resolvers.cursors import Cursors
from resolvers.feed_tokens import FeedTokens


def create_app(settings: Settings, runtime: Runtime, executor: Executor | None = None) -> ASGIApp:
    """The application over open stores; another executor may take the place of the usual one."""
    tokens = Tokens(settings.secret, settings.token_hours)
    new_context = _contexts(settings, tokens, runtime)
    executor, served = executor or new_executor(settings), Served()
    endpoint = GraphQLEndpoint(
        executor,
        tokens,
        new_context,
        max_body_bytes=settings.max_body_bytes,
        served=served,
        clients=_clients(settings, runtime),
    )
    registry = new_registry(
        FeedCollector(runtime.races),
        ExecutorCollector(executor),
        HttpCollector(served),
        RefusalCollector(executor.refusals),
    )

    async def graphql(request: Request) -> ASGIApp:
        page = settings.graphiql and console.wants_page(request)
        return console.page() if page else endpoint

    routes: list[BaseRoute] = [
        Route("/graphql", graphql, methods=["GET", "POST"]),
        Route("/healthz", _alive),
        Route("/readyz", partial(_ready, runtime)),
        Route("/metrics", partial(_metrics, registry)),
        Mount("/images", images_app),
    ]
    if settings.graphiql:
        routes += [
            Route("/", _to_graphiql),
            Route("/graphiql/boot.json", console.Boot(settings, tokens, new_context).__call__),
            Mount("/graphiql", StaticFiles(directory=console.STATIC)),
        ]
    # The scheme that a proxy was asked with matters to redirects, not to operations.
    front: Any = ProxyHeadersMiddleware(
        cast(Any, Starlette(routes=routes)), list(settings.trusted_proxies)
    )
    app: ASGIApp = Front(endpoint, front)
    if settings.allowed_origins:
        app = Cors(
            app,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    return app


class Cors(CORSMiddleware):
    """Adds what a browser asks for to the responses to pages of other origins."""

    app: Front

    def answering(self, target: bytes, headers: Headers) -> Answering | None:
        """The function by which the application behind this one answers whole requests; None for a
        request with an origin, which needs the headers of CORS."""
        return None if b"origin" in headers else self.app.answering(target, headers)


def _clients(settings: Settings, runtime: Runtime) -> Clients:
    rate = None
    if settings.rate_cost:
        buckets = runtime.stores.lists
        rate = Rate(buckets, refill=settings.rate_cost, burst=settings.rate_burst)
    return Clients(Proxies(settings.trusted_proxies), rate, settings.max_running)


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


async def _alive(request: Request) -> Response:
    return JSONResponse({"status": "ok", "process": os.getpid()})


async def _ready(runtime: Runtime, request: Request) -> Response:
    faults = await readiness(runtime.stores)
    status = 200 if faults["required"] == {} else 503
    return JSONResponse({"status": "ok" if status == 200 else "unavailable", **faults}, status)


async def _metrics(registry: CollectorRegistry, request: Request) -> Response:
    return exposition(registry)


async def _to_graphiql(request: Request) -> Response:
    return RedirectResponse("/graphql")
