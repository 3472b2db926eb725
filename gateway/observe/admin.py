"""The operators' endpoints: metrics, readiness with the stores' faults, health, the page /statusz.

`/metrics`, `/statusz` and the details of `/readyz` and `/healthz` are on a separate listener
(`http.admin_port`). Without one, the public port answers them to clients on the same machine
(gateway/http/this_machine.py), but in production to nobody. All other clients get a status only
from `/readyz` and `/healthz`, as balancers and orchestrators need it.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from datasources.protocols import SearchStore, Stores
from gateway.http.files import Files, SentFromMemory
from gateway.http.not_found import missing
from gateway.http.this_machine import ThisMachine
from gateway.observe import statusz
from gateway.observe.exposition import of_workers, written
from gateway.observe.health import readiness
from gateway.observe.metrics import exposition
from gateway.observe.state import Watch
from gateway.server.siblings import Siblings

Answering = Callable[[Request], Awaitable[Response]]

KEPT_SECONDS = 1.0
"""Seconds for which other clients get the same status: otherwise each of their requests would call
every store."""


class Admin:
    """The routes, for operators (`app`) and on the public port (`public`)."""

    def __init__(
        self,
        stores: Stores,
        registry: CollectorRegistry,
        *,
        search: SearchStore | None = None,
        here: ThisMachine | None,
        siblings: Siblings | None = None,
    ) -> None:
        """`here` recognizes this machine's clients on the public port; None: nobody is an operator
        there. `siblings`: the other workers, whose metrics are included."""
        self._stores, self._registry, self._here = stores, registry, here
        self._siblings, self._watch = siblings, Watch(stores, search=search)
        self._search = search
        self._kept: tuple[float, bool] | None = None
        self._asking = asyncio.Lock()

    def app(self) -> ASGIApp:
        """All routes, for every client of the listener."""
        pages = Starlette(
            routes=[
                Route("/healthz", self._process),
                Route("/readyz", self._states),
                Route("/metrics", self._metrics),
                Route("/statusz", self._page),
                Route("/statusz.json", self._status),
                Mount("/statusz", Files(statusz.STATIC, statusz.HEADERS)),
            ],
            exception_handlers={404: missing},
        )
        pages.router.redirect_slashes = False  # it redirects to the Host that the client sent
        return pages

    def public(self) -> list[BaseRoute]:
        """The routes of the public port."""
        return [
            Route("/healthz", self._public_health),
            Route("/readyz", self._public_readiness),
            Route("/metrics", self._here_alone(self._metrics)),
            Route("/statusz", self._here_alone(self._page)),
            Route("/statusz.json", self._here_alone(self._status)),
            Mount("/statusz", Files(statusz.STATIC, statusz.HEADERS)),
        ]

    def _tells(self, request: Request) -> bool:
        return self._here is not None and self._here.sent(request)

    async def _public_health(self, request: Request) -> Response:
        told = self._tells(request)
        return await self._process(request) if told else _json({"status": "ok"})

    async def _public_readiness(self, request: Request) -> Response:
        if self._tells(request):
            return await self._states(request)
        async with self._asking:
            now = asyncio.get_running_loop().time()
            if self._kept is None or now - self._kept[0] > KEPT_SECONDS:
                self._kept = now, (await readiness(self._stores))["required"] == {}
        return _readiness(self._kept[1])

    def _here_alone(self, answer: Answering) -> Answering:
        """The route, limited to clients on this machine, or to nobody."""

        async def told(request: Request) -> Response:
            if self._tells(request):
                return await answer(request)
            return _json({"error": "this is told on http.admin_port, or to this machine"}, 404)

        return told

    async def _process(self, request: Request) -> Response:
        return _json({"status": "ok", "process": os.getpid()})

    async def _states(self, request: Request) -> Response:
        faults = await readiness(self._stores, search=self._search)
        return _readiness(faults["required"] == {}, faults)

    async def _metrics(self, request: Request) -> Response:
        text = await self._of_all()
        # All workers share the stores' state: one worker reports it, without a worker label.
        return exposition(text + await self._watch.metrics())

    async def _page(self, request: Request) -> Response:
        return SentFromMemory(statusz.STATIC / "index.html", headers=statusz.HEADERS)

    async def _status(self, request: Request) -> Response:
        content = statusz.content(await self._watch.state(), (await self._of_all()).decode())
        return _json(content)

    async def _of_all(self) -> bytes:
        """The metrics of all workers."""
        text = await self.metrics()
        if self._siblings is not None:
            text = await of_workers(await self._siblings.metrics(text))
        return text

    async def metrics(self) -> bytes:
        """This process's metrics, in Prometheus' text format."""
        return await written(self._registry.collect())


def _readiness(ready: bool, faults: Mapping[str, object] | None = None) -> Response:
    status = "ok" if ready else "unavailable"
    return _json({"status": status, **(faults or {})}, 200 if ready else 503)


def _json(content: Mapping[str, object], status: int = 200) -> Response:
    return JSONResponse(content, status, {"cache-control": "no-store"})
