"""One serving process: its stores, and the HTTP server over them."""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from gateway.app import create_site
from gateway.demo.archive import unpack_demo
from gateway.demo.fill import demo_is_loaded, fill_demo
from gateway.documents.trusted import TrustedDocuments
from gateway.execution.collector import short_passes
from gateway.http.auth import Tokens
from gateway.http.peers import Proxies
from gateway.http.persisted import advice, manifests
from gateway.http.this_machine import closed, public_address
from gateway.observe.metrics import ConnectionCollector
from gateway.observe.process import ProcessHealth
from gateway.operate import control
from gateway.operate.connections import warn_of_shortages
from gateway.operate.progress import Bars, reporting_waits
from gateway.operate.requests import perform
from gateway.server.bounds import Bounds, bounds_of
from gateway.server.connections import Connections
from gateway.server.descriptors import room_for
from gateway.server.fairness.arrivals import Accepting
from gateway.server.fairness.held_bytes import CLIENTS_SHARE
from gateway.server.fairness.reads import Reading
from gateway.server.fairness.shares import Shares
from gateway.server.protocol import Protocol
from gateway.server.refusals import Refusal, refusal
from gateway.server.reloading import reloading
from gateway.server.siblings import Siblings
from gateway.settings import EMBEDDED, Settings
from gateway.site.embedded_stores import is_all_embedded
from gateway.site.installation import install
from gateway.site.runtime import Runtime, running

log = logging.getLogger("pinway")

BODIES_BYTES = 64 * 1024**2
"""Bytes of requests' bodies that a process holds at a time. More, if a client's share of them is
less than the largest body."""


async def serve(
    settings: Settings,
    listener: socket.socket,
    *,
    operators: socket.socket | None = None,
    siblings: Siblings | None = None,
    name: str = "",
    demo: bool = False,
    greet: bool = True,
    on_ready: Callable[[], None] = lambda: None,
    on_phase: Callable[[str], None] = lambda name: None,
) -> None:
    """Answer the requests to the listener, and the operators' requests to their own listener, until
    stopped.

    `siblings` are the other workers of the same supervisor; `name` is this worker's name in the
    log. `demo` first fills empty stores, and `greet` tells a demo viewer which address to open.
    `on_ready` is called when requests are answered, and `on_phase` with the name of each phase of
    the start when that phase ends.
    """
    _ = settings.secret  # an invalid key is reported before any work
    trusted = TrustedDocuments(manifests(settings))
    if EMBEDDED in (
        settings.stores.topology,
        settings.stores.pools_primary,
        settings.stores.feeds_primary,
    ):
        with Bars() as bars:
            if demo and is_all_embedded(settings):
                await install(settings, bars, prepare=unpack_demo)
            else:
                await install(settings, bars)
        on_phase("making the stores")
    async with _opened(settings, log_waits=greet) as runtime:
        on_phase("opening the stores")
        if demo and not await demo_is_loaded(runtime.stores):
            with Bars() as bars:
                await fill_demo(runtime.stores, settings.data_dir, bars)
        if settings.auth.demo_viewer and greet:
            await _greet(settings, runtime)
        if greet and (line := closed(settings)):
            log.warning("%s", line)
        if greet and (line := advice(settings, trusted)):
            log.info("%s", line)
        with short_passes():
            ready = partial(_ready, listener, on_ready)
            connections = _connections(settings)
            health = ProcessHealth()
            shares = Shares(settings.limits.numbers.client_share)
            site = create_site(
                settings,
                runtime,
                counting=(ConnectionCollector(connections), health),
                siblings=siblings,
                process=name,
                shares=shares,
                trusted=trusted,
            )
            server = Server(site.public, settings, ready, connections=connections, shares=shares)
            beside = _OperatorsServer(site.admin) if operators is not None else None
            server.beside = beside  # both wait at the same time for their connections
            metrics = siblings.serving(site.metrics) if siblings else nullcontext()
            commands = _commands(settings, runtime)
            warning = (
                _beside(warn_of_shortages(settings, runtime.stores)) if greet else nullcontext()
            )
            hang_ups = reloading(trusted) if settings.http.trusted_documents else nullcontext()
            async with warning, _answering(operators, beside), metrics, commands, hang_ups:
                with health.watching():
                    await server.serve(sockets=[listener])


@asynccontextmanager
async def _opened(
    settings: Settings, *, jobs: bool | None = None, log_waits: bool = True
) -> AsyncIterator[Runtime]:
    """The open stores. If `log_waits`, log the stores that the start waits for, and the stores that
    do not answer."""
    async with AsyncExitStack() as opened:
        with reporting_waits("the stores", say=log.warning if log_waits else _silent) as waits:
            runtime = await opened.enter_async_context(running(settings, jobs=jobs))
        if log_waits and (failures := waits.failures()):
            log.warning("started without stores that do not answer: %s", failures)
        yield runtime


def _silent(line: str) -> None:
    """Say nothing: another worker says it."""


@asynccontextmanager
async def _answering(
    operators: socket.socket | None, server: "_OperatorsServer | None"
) -> AsyncIterator[None]:
    """Answer operators, if they have a listener and a server."""
    if operators is None or server is None:
        yield
        return
    task = asyncio.create_task(server.serve(sockets=[operators]))
    try:
        yield
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run some work while the context is open."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def work(settings: Settings, operators: socket.socket | None = None) -> None:
    """Run jobs, and answer operators only, until stopped."""
    async with _opened(settings, jobs=True) as runtime:
        health = ProcessHealth()
        site = create_site(settings, runtime, counting=(health,))
        async with _answering(operators, _OperatorsServer(site.admin)):
            log.info("working on the jobs of the queues %s", ", ".join(settings.jobs.queues))
            with health.watching():
                await asyncio.Event().wait()


def _commands(settings: Settings, runtime: Runtime) -> AbstractAsyncContextManager[None]:
    """Answer operators' commands on the embedded stores, which this process has open."""
    if settings.stores.topology != EMBEDDED:
        return nullcontext()
    return control.answering(
        settings.data_dir, lambda request, told: perform(settings, runtime, request, told)
    )


def _ready(listener: socket.socket, on_ready: Callable[[], None]) -> None:
    host, port = listener.getsockname()[:2]
    log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
    on_ready()


def _connections(settings: Settings) -> Connections:
    http = settings.http
    return Connections(
        http.max_connections,
        http.max_connections_per_client,
        Proxies(http.trusted_proxies).trusts,
        most_bytes=max(BODIES_BYTES, CLIENTS_SHARE * http.max_body_bytes),
    )


class Server(uvicorn.Server):
    """The HTTP server of one process. It tells when it has started."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings | None = None,
        on_ready: Callable[[], None] = lambda: None,
        *,
        connections: Connections | None = None,
        shares: Shares | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        settings, bounds = settings or Settings(), bounds or bounds_of(settings or Settings())
        self.connections = connections or _connections(settings)
        self.connections.most, backlog = room_for(self.connections.most)
        self._shares = shares or Shares(0)
        reading = Reading(self._shares, self.connections.client)
        protocol = partial(Protocol, bounds=bounds, connections=self.connections, reading=reading)
        config = uvicorn.Config(
            app,
            interface="asgi3",
            http=cast(Any, protocol),
            ws="none",  # connections become sockets by themselves (gateway/server/sockets.py)
            ws_max_size=settings.http.max_body_bytes,
            ws_ping_interval=settings.http.keep_alive,
            ws_ping_timeout=settings.http.keep_alive,
            ws_per_message_deflate=False,
            backlog=backlog,
            proxy_headers=False,  # the application handles these headers
            log_config=None,  # its lines use our handler
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        super().__init__(config)
        self._on_ready = on_ready
        self.servers = []
        self.beside: uvicorn.Server | None = None
        """A server that stops with this one."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until stopped or cancelled. uvicorn leaves its listeners open when it is cancelled,
        and the loop would then watch descriptors that others use later."""
        try:
            await super().serve(sockets)
        finally:
            for server in self.servers:
                server.close()
                await server.wait_closed()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections, in place of uvicorn's own servers
        (`gateway/server/fairness/arrivals.py`)."""
        config, state = self.config, self.server_state

        def protocol() -> Any:
            new: Any = config.http_protocol_class
            return new(config=config, server_state=state, app_state=self.lifespan.state)

        def refused(why: str) -> bytes:
            return refusal(Refusal(503, why), state.default_headers)

        for listener in sockets or ():
            arguments = (listener, config.backlog, protocol, self.connections, self._shares)
            self.servers.append(cast(Any, Accepting(*arguments, refused)))
        self.started = True
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop as uvicorn does, after the connections that were taken are served."""
        if self.beside is not None:
            self.beside.should_exit = True
        for server in self.servers:
            await cast(Accepting, server).drain()
        await super().shutdown(sockets)


class _OperatorsServer(Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the public server; this server ends with it."""
        yield


async def _greet(settings: Settings, runtime: Runtime) -> None:
    """Log the address to open, and the user who is signed in there."""
    found = await runtime.stores.shards.mod.find("username", [settings.auth.demo_viewer])
    tokens = Tokens(settings.secret, settings.auth.token_hours)  # an invalid key is reported first
    lines = ["", f"  Pinway     {settings.url}/", f"  GraphiQL   {settings.url}/graphql"]
    if viewer_id := found.get(settings.auth.demo_viewer):
        token = tokens.issue(viewer_id)
        lines += [f"  Signed in  {settings.auth.demo_viewer}", f"  Token      {token}"]
    if why := public_address(settings):
        lines.append(f"  Without demo sign-in, which is for this machine alone: {why}.")
    lines += ["  Stop with Ctrl-C.", ""]
    print(*lines, sep="\n", file=sys.stderr, flush=True)
